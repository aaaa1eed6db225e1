"""What a reference stands for: any candidate of an assembly by each of its names, and every reference it was given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.contexts import message, segment, snapshot
from support.projects import Desk, make_project

from aircoding.audit.references import artifacts_named, referents
from aircoding.context.assembler import assemble
from aircoding.records.ids import TaskId
from aircoding.records.layers import Layer, OutcomeKind, Reason
from aircoding.records.manifest import AssembledContext
from aircoding.records.tasks import TaskSpec

DIGEST = "ab" * 32


def test_each_name_of_a_text_gives_it(tmp_path: Path) -> None:
    rules = "# Rules\n\nKeep it small.\n\n## Tests\n\nRun them.\n"
    code = "".join(f"value_{number} = {number}\n" for number in range(3_000))
    desk = Desk(root=make_project(tmp_path / "p", {"AGENTS.md": rules, "src/a.py": code}), home=tmp_path / "home")
    task = TaskSpec(id=TaskId("T1"), title="t", write_area=("src/**",), reads=("src/a.py:1-2000",))
    frame = desk.snapshot(desk.brief(task=task))
    frame = replace(frame, limits=replace(frame.limits, window_tokens=26_000))
    context = assemble(frame)
    assert isinstance(context, AssembledContext)
    whole = "\n".join(code.split("\n")[:2_000])
    part = next(one for one in frame.segments if one.source.uri == "project:src/a.py")

    names = [
        part.segment_id,
        part.segment_id[:12],
        "src/a.py:1-2000",
        "project:src/a.py",
        "src/a.py",
        "a.py",
        part.source.digest[:8],
        part.source.text_digest,
    ]
    for name in names:
        assert [one.text for one in referents(frame, name)] == [whole], name
    assert [one.text for one in referents(frame, "AGENTS.md#tests")] == ["## Tests\n\nRun them."]
    assert [one.start_line for one in referents(frame, "AGENTS.md")] == [1, 5]
    assert referents(frame, "nothing.py") == referents(frame, "") == referents(frame, "b.py") == ()

    cut = [note for note in context.omissions if note.reason is Reason.BUDGET]
    assert any(note.uri == "project:src/a.py" and note.outcome is not OutcomeKind.INCLUDED for note in cut)
    for ref in context.refs:
        assert referents(frame, ref.uri)
        assert referents(frame, ref.digest)
    for note in context.manifest.outcomes:
        assert referents(frame, note.segment_id, context), note.segment_id
    assert "left out for space" in (referents(frame, "air:assembly/omissions", context)[0].text or "")
    assert '"name": "fs_read"' in (referents(frame, "resource:tools/fs_read.yaml", context)[0].text or "")


def test_a_message_and_its_blocks_have_their_uris() -> None:
    said = message(
        0,
        "assistant",
        {"type": "text", "text": "One."},
        {"type": "tool_use", "id": "t", "name": "fs_read", "input": {"path": "a"}},
    )
    frame = snapshot(messages=(said,), turn=2)

    assert [one.text for one in referents(frame, f"{said.uri}/block/0")] == ["One."]
    assert [one.uri for one in referents(frame, said.uri)] == [f"{said.uri}/block/0", f"{said.uri}/block/1"]


def test_large_outputs_are_found_by_the_start_of_their_digest() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": f"air:artifact/{DIGEST}"}],
    }
    told = segment(f"See air:artifact/{'cd' * 32}.", layer=Layer.L8)
    frame = snapshot(told, messages=(message(0, "user", result),), turn=2)

    assert artifacts_named(frame, "abab") == (DIGEST,)
    assert len(artifacts_named(frame, "")) == 2
    assert artifacts_named(frame, "ffff") == ()
