"""Assemblies come back byte for byte, from the store alone, and a turn stores only what it adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from support.contexts import LIMITS, message, segment, snapshot
from support.records import SESSION

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.errors import NotFoundError, StoreError
from aircoding.records.digests import canonical_json, sha256_bytes, sha256_text
from aircoding.records.ids import ManifestId
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Layer, Reason, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.snapshot import Message, Snapshot
from aircoding.store import Store
from aircoding.store.database import connect_database
from aircoding.store.deltas import KEYFRAME_TURNS

RULE = segment(
    "Use tabs, ever and äver.\n", layer=Layer.L3, kind=SegmentKind.RULE, uri="project:docs.md", paths=("docs/**",)
)
FILE = segment("x = 'é'\ny = 2\n", excerpt="x = 'é'\n", reference="src/a.py (2 lines)")


def assembled(given: Snapshot) -> AssembledContext:
    context = assemble(given)
    assert isinstance(context, AssembledContext)
    return context


def conversation(turns: int) -> tuple[Message, ...]:
    """The messages before turn `turns + 1`."""
    messages: list[Message] = []
    for number in range(turns):
        use = {"type": "tool_use", "id": f"t{number}", "name": "fs_read", "input": {"path": f"f{number}"}}
        text = {"type": "text", "text": f"content {number} é"}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": [text]}
        messages.append(message(2 * number, "assistant", {"type": "text", "text": f"I read {number}."}, use))
        messages.append(message(2 * number + 1, "user", result))
    return tuple(messages)


def session(turns: int) -> list[tuple[AssembledContext, Snapshot]]:
    """Assemble a session of one epoch; a rule comes in with its second turn."""
    made: list[tuple[AssembledContext, Snapshot]] = []
    for turn in range(1, turns + 1):
        given = snapshot(
            RULE,
            FILE,
            turn=turn,
            messages=conversation(turn - 1),
            frozen=frozen_from(made[-1][0]) if made else None,
            touched_paths=("docs/a.md",) if turn > 1 else (),
        )
        made.append((assembled(given), given))
    return made


def assert_same(found: AssembledContext | None, context: AssembledContext) -> None:
    assert found is not None
    assert canonical_json(found.request) == canonical_json(context.request)
    assert sha256_bytes(canonical_json(found.request)) == context.digest
    assert jsonable(found) == jsonable(context)
    assert canonical_json(jsonable(found.manifest)) == canonical_json(jsonable(context.manifest))


def test_every_turn_comes_back_byte_for_byte(store: Store, opener: Callable[[], Store]) -> None:
    made = session(4)
    for context, given in made:
        store.assemblies.record(context, snapshot=given)
    other = opener()
    for context, _ in made:
        assert_same(other.assemblies.find(SESSION, context.manifest.turn), context)
        assert_same(other.assemblies.get(context.manifest_id), context)
    assert other.assemblies.find(SESSION, 9) is None
    with pytest.raises(NotFoundError, match="no assembly m-none"):
        other.assemblies.get(ManifestId("m-none"))


def test_the_snapshot_comes_back_with_what_was_left_out(store: Store) -> None:
    (first, given), (second, later) = session(2)
    store.assemblies.record(first, snapshot=given)
    store.assemblies.record(second, snapshot=later)
    assert RULE.text not in canonical_json(first.request).decode()
    assert [note.reason for note in first.omissions if note.uri == "project:docs.md"] == [Reason.PATH_NOT_MATCHED]
    found = store.assemblies.snapshot(first.manifest_id)
    assert found == given
    assert RULE in found.segments
    back = store.assemblies.snapshot(second.manifest_id)
    assert jsonable(back) == jsonable(later)
    assert assembled(back).digest == second.digest, "a stored snapshot assembles to the same bytes"
    with pytest.raises(NotFoundError):
        store.assemblies.snapshot(ManifestId("m-none"))


def test_a_turn_stores_only_what_it_adds(store: Store, database_url: str) -> None:
    made = session(5)
    for context, given in made:
        store.assemblies.record(context, snapshot=given)
    database = connect_database(database_url)
    with database.read() as connection:
        heads = connection.execute(
            sa.text("SELECT turn, nodes_since, segments_since FROM assemblies ORDER BY turn")
        ).all()
        uses = dict(
            connection.execute(
                sa.text(
                    "SELECT a.turn, count(*) FROM segment_uses u JOIN assemblies a ON a.assembly = u.assembly"
                    " GROUP BY a.turn"
                )
            ).all()
        )
    database.close()
    assert [tuple(head) for head in heads] == [(turn, 1, 1) for turn in range(1, 6)]
    whole = {context.manifest.turn: len(context.manifest.segments) for context, _ in made}
    assert uses[1] == whole[1]
    assert {turn: uses[turn] for turn in (2, 3, 4, 5)} == {turn: whole[turn] - whole[turn - 1] for turn in (2, 3, 4, 5)}


def test_workers_share_their_segments_and_texts(store: Store, database_url: str) -> None:
    for number in range(1, 4):
        given = snapshot(RULE, FILE)
        given = replace(given, request=replace(given.request, session_id=f"r1:T{number}:1:executor:1"))
        store.assemblies.record(assembled(given), snapshot=given)
        rows = store.index.row_counts()
        if number == 1:
            first = rows
    assert rows["segment_uses"] == 3 * first["segment_uses"]
    assert (rows["segments"], rows["outcomes"]) == (first["segments"], first["outcomes"])
    # Of a further worker only the index of its snapshot is new; its assembly has the same nodes.
    assert rows["texts"] - first["texts"] == 2


def test_a_new_epoch_is_stored_whole(store: Store) -> None:
    (first, given), _ = session(2)
    store.assemblies.record(first, snapshot=given)
    moved = snapshot(FILE, turn=2, messages=conversation(1))
    moved = replace(moved, request=replace(moved.request, epoch=2))
    second = assembled(moved)
    store.assemblies.record(second, snapshot=moved)
    assert_same(store.assemblies.find(SESSION, 2), second)
    assert_same(store.assemblies.find(SESSION, 1), first)


@pytest.mark.moves_cache_prefix("the store must keep such a turn whole")
def test_a_turn_that_does_not_extend_the_one_before_is_stored_whole(store: Store) -> None:
    (first, given), _ = session(2)
    store.assemblies.record(first, snapshot=given)
    other = snapshot(segment("z = 3"), turn=2, messages=conversation(1))
    second = assembled(other)
    store.assemblies.record(second, snapshot=other)
    assert_same(store.assemblies.find(SESSION, 2), second)


def test_a_long_session_is_stored_whole_again_from_time_to_time(store: Store, database_url: str) -> None:
    given = snapshot(FILE)
    context = assembled(given)
    for turn in range(1, KEYFRAME_TURNS + 3):
        manifest = replace(context.manifest, turn=turn, manifest_id=ManifestId(f"m-{turn}"))
        store.assemblies.record(replace(context, manifest=manifest, manifest_id=manifest.manifest_id), snapshot=given)
    database = connect_database(database_url)
    with database.read() as connection:
        since = connection.execute(sa.text("SELECT DISTINCT nodes_since FROM assemblies ORDER BY 1")).scalars().all()
    database.close()
    assert since == [1, KEYFRAME_TURNS + 1]
    found = store.assemblies.find(SESSION, KEYFRAME_TURNS + 2)
    assert found is not None
    assert found.manifest.segments == context.manifest.segments


def test_the_same_turn_again_changes_nothing_and_an_earlier_one_is_refused(store: Store) -> None:
    made = session(3)
    store.assemblies.record(made[0][0], snapshot=made[0][1])
    store.assemblies.record(made[2][0], snapshot=made[2][1])
    before = store.index.row_counts()
    store.assemblies.record(made[0][0], snapshot=made[0][1])
    store.assemblies.record(made[2][0], snapshot=made[2][1])
    assert store.index.row_counts() == before
    with pytest.raises(StoreError, match="comes after a later turn") as caught:
        store.assemblies.record(made[1][0], snapshot=made[1][1])
    assert caught.value.code == "store.order"
    assert store.index.row_counts() == before


def test_a_changed_byte_is_noticed(store: Store, database_url: str) -> None:
    context, given = session(1)[0]
    store.assemblies.record(context, snapshot=given)
    database = connect_database(database_url)
    change = "UPDATE texts SET body = :body, codec = 0 WHERE digest = :digest"
    database.write(
        lambda connection: connection.execute(
            sa.text(change), {"body": b"x = 'e'\n", "digest": bytes.fromhex(sha256_text(FILE.text))}
        )
    )
    database.close()
    with pytest.raises(StoreError, match="does not give the recorded digest") as caught:
        store.assemblies.get(context.manifest_id)
    assert caught.value.code == "store.damaged"


def test_a_text_that_is_no_longer_kept_is_said_so(store: Store, database_url: str) -> None:
    context, given = session(1)[0]
    store.assemblies.record(context, snapshot=given)
    database = connect_database(database_url)
    change = "UPDATE texts SET body = NULL WHERE digest = :digest"
    database.write(
        lambda connection: connection.execute(sa.text(change), {"digest": bytes.fromhex(sha256_text(FILE.text))})
    )
    database.close()
    with pytest.raises(NotFoundError, match="1 of its texts are not kept") as caught:
        store.assemblies.get(context.manifest_id)
    assert caught.value.code == "not_found.text"
    assert store.texts.get(sha256_text(FILE.text)) is None
    store.texts.put(FILE.text)
    assert_same(store.assemblies.get(context.manifest_id), context)


def test_the_views_show_what_the_manifest_says(store: Store, database_url: str) -> None:
    made = session(3)
    for context, given in made:
        store.assemblies.record(context, snapshot=given)
    database = connect_database(database_url)
    with database.read() as connection:
        for context, _ in made:
            who = {"manifest": context.manifest_id}
            listed = connection.execute(
                sa.text(
                    "SELECT segment_id FROM v_segments WHERE manifest_id = :manifest ORDER BY added_turn, position"
                ),
                who,
            )
            assert listed.scalars().all() == [record.segment_id for record in context.manifest.segments]
            omitted = connection.execute(
                sa.text("SELECT segment_id, outcome, reason FROM v_omissions WHERE manifest_id = :manifest"), who
            )
            expected = {(note.segment_id, note.outcome, note.reason) for note in context.omissions}
            assert {tuple(each) for each in omitted} == expected
    database.close()


def test_a_small_window_keeps_excerpts_and_their_references(store: Store) -> None:
    big = segment("line of code\n" * 4000, excerpt="line of code\n", reference="big.py", uri="project:big.py")
    given = snapshot(FILE, big, limits=replace(LIMITS, window_tokens=16_000))
    context = assembled(given)
    store.assemblies.record(context, snapshot=given)
    assert "project:big.py" in [note.uri for note in context.omissions]
    assert_same(store.assemblies.get(context.manifest_id), context)
    assert store.texts.get(sha256_text(big.text)) == big.text, "the whole text is kept for what-if replays"
