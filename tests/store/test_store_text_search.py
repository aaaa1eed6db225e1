"""A text is found wherever it stood, as a substring, with the index of words and without it."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from store.test_store_upgrade import DUMP
from support.contexts import segment, snapshot
from support.said import HEARD, RULE, SAID
from support.stores import empty_store

from aircoding.context.assembler import assemble
from aircoding.records.ids import SegmentId
from aircoding.records.layers import SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.store import Store, open_store
from aircoding.store.database import connect_database
from aircoding.store.text_index import has_index, index_rows


def _named(made: Segment) -> Segment:
    """Give a segment the id that its source would give it."""
    return replace(made, segment_id=SegmentId(f"{made.layer}:{made.source.uri}@{made.source.text_digest[:8]}"))


def _record(store: Store, task: str, *segments: Segment, touched: bool = False, says: bool = False) -> AssembledContext:
    given_ = snapshot(
        *map(_named, segments), messages=(SAID, HEARD) if says else (), touched_paths=("docs/a.md",) if touched else ()
    )
    asked = replace(given_.request, session_id=f"r1:{task}:1:executor:1", task_id=task)
    given_ = replace(given_, request=asked)
    context = assemble(given_)
    assert isinstance(context, AssembledContext)
    store.assemblies.record(context, snapshot=given_)
    return context


@pytest.mark.parametrize(
    ("needle", "kinds"),
    [
        ("push to main", {SegmentKind.RULE}),
        ("ush to mai", {SegmentKind.RULE}),
        ("ver", {SegmentKind.RULE}),
        ("I ask first", {SegmentKind.MESSAGE}),
        ('echo "two\nlines"', {SegmentKind.TOOL_CALL}),
        ("two\nlines", {SegmentKind.TOOL_CALL, SegmentKind.TOOL_RESULT}),
        ("PUSH TO MAIN", set()),
        ("nowhere", set()),
        ("", set()),
    ],
)
def test_texts_are_searched_as_they_stood(store: Store, needle: str, kinds: set[SegmentKind]) -> None:
    _record(store, "T1", RULE, touched=True, says=True)
    hits = store.search.find(needle)
    seen, _, _ = store.sightings.places(hits.segments)

    ours = {one.record.kind for one in seen if not one.record.source.uri.startswith("resource:")}
    assert ours == kinds
    assert hits.unchecked == 0


def test_the_text_of_a_candidate_that_was_left_out_is_found(store: Store) -> None:
    _record(store, "T1", RULE)
    hits = store.search.find("Never push")

    assert hits.segments == frozenset()
    assert hits.segment_ids == {_named(RULE).segment_id}
    assert store.sightings.outcomes_of(hits.segment_ids)


_texts = st.text(alphabet='ab_ é.\n"\\漢', min_size=1, max_size=12)


@contextmanager
def _store_with(texts: list[str]) -> Iterator[Store]:
    with empty_store() as store:
        for number, text in enumerate(texts):
            _record(store, f"T{number}", segment(f"{text}z", uri=f"project:src/{number}.py"))
        yield store


@given(st.lists(_texts, min_size=1, max_size=3), _texts)
@settings(deadline=None, max_examples=20)
def test_the_index_finds_what_a_scan_finds(texts: list[str], needle: str) -> None:
    with _store_with(texts) as store:
        hits = store.search.find(needle)
        seen, _, _ = store.sightings.places(hits.segments)
    escaped = json.dumps(needle, ensure_ascii=False)[1:-1]
    holding = {number for number, text in enumerate(texts) if needle in f"{text}z" or escaped in f"{text}z"}

    found = {one.record.source.uri for one in seen}
    assert {uri for uri in found if uri.startswith("project:src/")} == {f"project:src/{n}.py" for n in holding}


def test_an_old_record_is_indexed_by_the_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "air.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(gzip.decompress(DUMP.read_bytes()).decode("utf-8"))
    with open_store(path, migrate="upgrade") as store:
        indexed = [store.search.find(needle) for needle in ("Use tabs, ever", "y = 2")]
        monkeypatch.setattr("aircoding.store.text_search.is_whole", lambda _: False)
        read = [store.search.find(needle) for needle in ("Use tabs, ever", "y = 2")]
    database = connect_database(path)
    with database.read() as connection:
        assert has_index(connection)
    database.close()
    assert indexed == read
    assert all(hits.segments or hits.segment_ids for hits in indexed)


def test_without_the_index_the_texts_themselves_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "air.db") as store:
        _record(store, "T1", RULE)
        _record(store, "T2", RULE, touched=True)
        indexed = store.search.find("push to main")
        assert store.search.is_indexed()
        monkeypatch.setattr("aircoding.store.text_search.has_index", lambda _: False)
        assert not store.search.is_indexed()
        monkeypatch.setattr("aircoding.store.text_search.is_whole", lambda _: False)
        assert store.search.find("push to main") == indexed
        monkeypatch.setattr("aircoding.store.text_search.MOST_TEXTS", 1)
        segments = store.describe().rows["segments"]
        assert store.search.find("push to main", candidates=False).unchecked == segments - 1
        assert store.search.find("push to main").unchecked == segments - 1, "one candidate was left out, and was read"


def test_a_search_for_segments_alone_counts_no_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aircoding.store.text_search.MOST_TEXTS", 3)
    with open_store(tmp_path / "air.db") as store:
        for number in range(4):
            rule = segment(f"Say hello to number {number}.", uri="project:rules.md", paths=("docs/**",))
            _record(store, f"T{number}", rule)
        left_out, shown = store.search.find("hello to"), store.search.find("hello to", candidates=False)
    assert (len(left_out.segment_ids), left_out.unchecked) == (3, 1)
    assert shown.unchecked == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40), max_size=4))
def test_the_words_that_are_kept_are_those_of_the_index(texts: list[str]) -> None:
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        options = "body, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_'\""
        connection.execute(sa.text(f"CREATE VIRTUAL TABLE text_index USING fts5({options})"))
        connection.execute(sa.text("CREATE VIRTUAL TABLE terms USING fts5vocab(text_index, row)"))
        connection.execute(sa.text("CREATE TABLE text_words (word TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID"))
        index_rows(connection, enumerate(texts, 1))
        of_index = set(connection.execute(sa.text("SELECT term FROM terms")).scalars())
        kept = set(connection.execute(sa.text("SELECT word FROM text_words")).scalars())
    engine.dispose()
    assert kept == of_index
