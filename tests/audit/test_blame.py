"""Whose each line of a prompt is: equal to the spans for any prompt, and the line of the source where one is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.contexts import message, segment, snapshot
from support.projects import Desk, make_project, write_tree
from support.spans import texts

from aircoding.audit.blame import BlameLine, Owner, blame, version_of
from aircoding.audit.source_lines import source_lines
from aircoding.audit.texts import block_pointers, node_text, segment_texts
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.ids import SegmentId, TaskId
from aircoding.records.layers import Form, Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, SegmentRecord
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import TaskSpec
from aircoding.sources.excerpts import shorten

PIECES = st.lists(st.sampled_from(["a", "é", "\n", "\n\n", "日本\n", " ", "\r", "\u2028", "\t", "word "]), max_size=12)
TEXTS = PIECES.map("".join)
PLACES = st.sampled_from(
    [
        (Layer.L3, Scope.RUN, SegmentKind.RULE),
        (Layer.L3, Scope.SESSION, SegmentKind.RULE),
        (Layer.L4, Scope.RUN, SegmentKind.PLAN),
        (Layer.L6, Scope.SESSION, SegmentKind.FILE),
    ]
)


@st.composite
def segments(draw: st.DrawFn) -> list[Segment]:
    made = []
    for number in range(draw(st.integers(0, 6))):
        layer, scope, kind = draw(PLACES)
        trust = draw(st.sampled_from([Trust.PROJECT, Trust.EXTERNAL]))
        text = draw(TEXTS)
        made.append(segment(text, layer=layer, scope=scope, kind=kind, trust=trust, uri=f"project:f{number}"))
    return made


BLOCKS = st.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    TEXTS.map(lambda text: {"type": "tool_use", "id": "t", "name": "fs_read", "input": {"path": text}}),
)
RESULTS = st.one_of(
    st.lists(TEXTS, max_size=3).map(
        lambda parts: {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [{"type": "text", "text": part} for part in parts],
        }
    ),
    TEXTS.map(lambda text: {"type": "tool_result", "tool_use_id": "t", "content": text}),
)


def _assemble(frame: Snapshot) -> AssembledContext:
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    return context


@st.composite
def prompts(draw: st.DrawFn) -> AssembledContext:
    """A first turn, and often a second one with recorded messages."""
    own = draw(segments())
    first = _assemble(snapshot(*own))
    if draw(st.booleans()):
        return first
    recorded = (message(0, "assistant", draw(BLOCKS), draw(BLOCKS)), message(1, "user", draw(RESULTS)))
    return _assemble(snapshot(*own, turn=2, messages=recorded, frozen=frozen_from(first)))


def _owner_by_spans(context: AssembledContext, block: str, at: int) -> SegmentRecord | None:
    """The slow way: look at every span."""
    for record in context.manifest.segments:
        for span in record.spans:
            if span.block == block and span.start is not None and span.start <= at < (span.end or 0):
                return record
    return None


@given(prompts())
@settings(deadline=None, max_examples=40)
def test_blame_of_any_prompt_equals_the_spans_byte_for_byte(context: AssembledContext) -> None:
    lines = blame(context)

    whole: dict[str, str] = {}
    for line in lines:
        whole[line.block] = whole.get(line.block, "") + line.text
        at = line.start
        for owner in line.owners:
            assert owner.start == at < owner.end
            at = owner.end
        assert at == line.end
        assert line.end - line.start == len(line.text.encode("utf-8"))
        assert "\n" not in line.text[:-1]
    spoken = dict(texts(context.request))
    assert {block: text for block, text in whole.items() if block in spoken} == {b: t for b, t in spoken.items() if t}
    for line in lines:
        if line.block in spoken:
            for owner in line.owners:
                for at in range(owner.start, owner.end):
                    assert owner.segment is _owner_by_spans(context, line.block, at)


@given(prompts())
@settings(deadline=None, max_examples=15)
def test_a_whole_node_belongs_to_one_segment_with_all_its_lines(context: AssembledContext) -> None:
    lines = blame(context)

    nodes = {span.block: record for record in context.manifest.segments for span in record.spans if span.start is None}
    spoken = {pointer for pointer, _ in texts(context.request)}
    for pointer, record in nodes.items():
        own = [line for line in lines if line.block == pointer]
        if not own:
            assert any(text.startswith(pointer + "/") for text in spoken), "only a result of texts has no JSON"
        assert all([owner.segment for owner in line.owners] == [record] for line in own)
    for number, tool in enumerate(context.tools):
        assert "".join(line.text for line in lines if line.block == f"/tools/{number}") == node_text(tool)


@given(prompts())
@settings(deadline=None, max_examples=15)
def test_blocks_asked_one_by_one_are_the_whole_answer(context: AssembledContext) -> None:
    parts: list[BlameLine] = []
    for pointer in block_pointers(context):
        parts.extend(blame(context, block=pointer))

    assert tuple(parts) == blame(context)
    assert blame(context, block="/nothing") == ()


@given(prompts())
@settings(deadline=None, max_examples=15)
def test_the_text_of_a_segment_is_what_stands_in_its_spans(context: AssembledContext) -> None:
    found = segment_texts(context)

    by_segment: dict[str, str] = {}
    for line in blame(context):
        data = line.text.encode("utf-8")
        for owner in line.owners:
            if owner.segment is not None:
                part = data[owner.start - line.start : owner.end - line.start].decode("utf-8")
                name = owner.segment.segment_id
                by_segment[name] = by_segment.get(name, "") + part
    assert {name: text for name, text in found.items() if text} == by_segment


LINES = st.lists(
    st.sampled_from(
        [
            "# Title\n",
            "## Rules\n",
            "## Other\n",
            "Keep it small.\n",
            "\n",
            "   \n",
            "<!-- hidden -->\n",
            "<!-- begins\nand ends -->\n",
            "shown <!-- within --> too\n",
            "```\n## no heading\n```\n",
            "export API_KEY=sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9\n",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3\n-----END RSA PRIVATE KEY-----\n",
            "日本 é \x0c form feed \u2028 separator\n",
            "long " * 200 + "\n",
            "x = 1\r\n",
        ]
    ),
    min_size=1,
    max_size=14,
).map("".join)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    root = tmp_path_factory.mktemp("blame")
    return Desk(root=make_project(root / "project", {"a.txt": "x"}), home=root / "home", window_tokens=60_000)


def _numbered(lines: tuple[BlameLine, ...]) -> Iterator[tuple[Owner, SegmentRecord, str]]:
    for line in lines:
        data = line.text.encode("utf-8")
        for owner in line.owners:
            if owner.segment is not None and owner.source_line is not None:
                yield owner, owner.segment, data[owner.start - line.start : owner.end - line.start].decode("utf-8")


@given(files=st.tuples(LINES, LINES, LINES, LINES), repeat=st.sampled_from([1, 1, 8]))
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_line_that_is_given_is_that_line_of_the_file(
    desk: Desk, files: tuple[str, str, str, str], repeat: int
) -> None:
    names = ("AGENTS.md", ".air/shared/rules/own.md", "src/read.py", ".air/MEMORY.md")
    held = dict(zip(names, files, strict=True))
    held["src/read.py"] *= repeat
    write_tree(desk.root, held)
    task = TaskSpec(id=TaskId("T1"), title="t", write_area=("src/**",), reads=("src/read.py",))

    lines = blame(_assemble(desk.snapshot(desk.brief(task=task))))

    for owner, record, part in _numbered(lines):
        uri = record.source.uri
        if uri.startswith("project:"):
            written = (desk.root / uri.removeprefix("project:")).read_bytes().decode("utf-8")
            real = written.split("\n")[(owner.source_line or 0) - 1]
            shown, cut, _ = part.rstrip("\r\n").partition("[REDACTED:")
            assert shown in real or "<!--" in real
            assert cut or shown.strip() or not real.strip() or record.form is not Form.WHOLE


def test_whole_files_excerpts_and_rules_have_their_lines(tmp_path: Path) -> None:
    code = "".join(f"value_{number} = {number}\n" for number in range(1, 1_201))
    rules = "# Rules\n\nKeep it small.\n\n## Tests\n\nRun them.\n"
    files = {"AGENTS.md": rules, "src/a.py": code, "src/b.py": "one\ntwo\nthree\nfour\n"}
    desk = Desk(root=make_project(tmp_path / "p", files), home=tmp_path / "home")
    task = TaskSpec(id=TaskId("T1"), title="t", write_area=("src/**",), reads=("src/a.py", "src/b.py:2-3"))
    frame = desk.snapshot(desk.brief(task=task))
    small = replace(frame, limits=replace(frame.limits, window_tokens=26_000))

    for context in (_assemble(frame), _assemble(small)):
        found: dict[str, dict[int, str]] = {}
        for owner, record, part in _numbered(blame(context)):
            found.setdefault(record.source.uri, {})[owner.source_line or 0] = part.rstrip("\n")
        assert found["project:src/b.py"] == {2: "two", 3: "three"}
        assert found["project:AGENTS.md"][5] == "## Tests"
        assert all(text == f"value_{line} = {line}" for line, text in found["project:src/a.py"].items())
        shown = next(one for one in context.manifest.segments if one.source.uri == "project:src/a.py")
        assert {1, 1_200} <= set(found["project:src/a.py"])
        assert (len(found["project:src/a.py"]) == 1_200) is (shown.form is Form.WHOLE)
    assert shown.form is Form.EXCERPT


@given(st.lists(st.sampled_from(["a\n", "é" * 900 + "\n", "b" * 4_000, "b" * 3_000 + "\n", "\n"]), max_size=12))
@settings(deadline=None)
def test_an_excerpt_is_numbered_as_it_says_itself(parts: list[str]) -> None:
    text = "".join(parts).rstrip("\n")
    short = shorten(text, 11)
    if short is None:
        return
    lines = text.split("\n")
    whole = segment(text)
    source = replace(whole.source, start_line=11, end_line=10 + len(lines))
    record = _record(replace(whole, source=source), Form.EXCERPT)

    numbers = source_lines(record, short.encode("utf-8"))

    shown = short.removesuffix("\n").split("\n")
    assert len(numbers) == len(shown)
    assert [place for place, number in enumerate(numbers) if number is None] == [
        place for place, line in enumerate(shown) if line.startswith("[… ")
    ]
    assert all(line in lines[number - 11] for line, number in zip(shown, numbers, strict=True) if number is not None)


def _record(one: Segment, form: Form = Form.WHOLE, **more: Any) -> SegmentRecord:
    record = SegmentRecord(
        segment_id=one.segment_id,
        layer=one.layer,
        scope=one.scope,
        trust=one.trust,
        kind=one.kind,
        source=one.source,
        rule_id=None,
        required=False,
        form=form,
        tokens=1,
        spans=(),
        selected_by="profile",
    )
    return replace(record, **more)


def test_no_line_is_given_where_none_is_certain() -> None:
    three = replace(segment("a\nb\nc"), segment_id=SegmentId("L6:project:a.py@1"))
    record = _record(three)

    assert list(source_lines(record, b"a\nb\nc")) == [1, 2, 3]
    assert source_lines(record, b"a\nb") == (), "a line was taken out"
    assert source_lines(record, b"a\nb\nd") == (), "it is another text"
    assert source_lines(replace(record, form=Form.REFERENCE), b"a\nb\nc") == ()
    assert source_lines(replace(record, kind=SegmentKind.SKILLS_INDEX), b"a\nb\nc") == ()
    assert source_lines(replace(record, form=Form.EXCERPT), b"a\nb\nc") == (), "it does not say what is missing"
    forged = b"a\n[\xe2\x80\xa6 lines 2-7 left out, 5 of 9 bytes \xe2\x80\xa6]\nc"
    assert source_lines(replace(record, form=Form.EXCERPT), forged) == (), "the lines do not come to the source's"


def test_a_version_is_the_revision_where_one_is_known() -> None:
    plain = _record(segment("a"))
    known = replace(plain, source=replace(plain.source, revision="0123456789abcdef"))

    assert version_of(plain) == plain.source.digest[:8]
    assert version_of(known) == "01234567"
