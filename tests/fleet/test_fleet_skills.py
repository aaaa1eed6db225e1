"""Skills from the file to the record of a run: the index, a body by its trigger, a body on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from agents.doubles import MemoryEngine
from fleet.worlds import Fleet, done, script, use, write

from aircoding.agents.loop import run_session
from aircoding.records.ids import SessionId
from aircoding.records.layers import Mode, Reason
from aircoding.records.manifest import AssembledContext

FILES = {
    ".claude/skills/cooking/SKILL.md": "---\nname: cooking\ndescription: Plan weeknight meals\n---\nPeel first.\n",
    ".air/shared/skills/release/SKILL.md": (
        "---\nname: release\ndescription: Release a version\ntriggers: [roll out, release]\n---\nTag it.\n"
    ),
}
TASK = {"id": "A", "title": "Roll out A", "write_area": ["A.txt"]}
TURNS = (use("skill_read", name="cooking"), use("skill_read", name="cooking"), write("A.txt", "A\n"), done())


def assembly(run: Fleet, session: str, turn: int) -> AssembledContext:
    found = run.store.assemblies.find(session, turn)
    assert found is not None
    return found


def given(run: Fleet, session: str) -> list[str]:
    """Return what the tool answered, call by call."""
    records = run.store.tools.records(SessionId(session))
    return [one.result.text for one in records if one.call.name == "skill_read" and one.result is not None]


def test_a_worker_of_a_run_has_the_triggered_body_and_reads_another(fleet: Callable[..., Fleet]) -> None:
    run = fleet([TASK], [script("executor", "A", *TURNS)], files=FILES)
    assert run.drive() == "done"

    first = assembly(run, "r1:A:1:executor:1", 1)
    assert "skill_read" in [tool["name"] for tool in first.tools]
    (body,) = [one for one in first.manifest.segments if one.kind.value == "skill"]
    assert (body.source.uri, body.selected_by) == ("project:.air/shared/skills/release/SKILL.md", "trigger `roll out`")
    left_out = {one.segment_id.split("@")[0]: one.reason for one in first.omissions if "skills/" in one.uri}
    assert left_out == {
        "L3:project:.claude/skills/cooking/SKILL.md#body": Reason.TRIGGER_NOT_MATCHED,
        "L3:project:.claude/skills/cooking/SKILL.md#index": Reason.MODE,
        "L3:project:.air/shared/skills/release/SKILL.md#index": Reason.MODE,
    }
    text, again = given(run, "r1:A:1:executor:1")
    assert text == ".claude/skills/cooking/SKILL.md:\n\nPeel first."
    assert again.startswith("You have the skill cooking already")


def test_a_session_in_full_has_the_index_in_the_prefix_of_the_run(fleet: Callable[..., Fleet]) -> None:
    run = fleet([TASK], [script("executor", "A", *TURNS)], files=FILES)
    assert run.drive() == "done"
    deps = run.deps().session
    session = SessionId("r1:A:2:executor:1")
    brief = run.store.sessions.brief(SessionId("r1:A:1:executor:1"))
    full = replace(brief, session_id=session, mode=Mode.FULL, worktree=str(run.root))

    ended = asyncio.run(run_session(replace(deps, engine=MemoryEngine()), full))

    assert ended.status == "done"
    last = assembly(run, session, 4)
    assert "## Skills:\n- cooking: Plan weeknight meals\n- release: Release a version\n" in last.system[-1]["text"]
    kinds = {(one.kind.value, one.scope.value) for one in last.manifest.segments if "skills/" in one.source.uri}
    assert kinds == {("skills_index", "run"), ("skill", "session")}
    assert str(last.messages).count("Peel first.") == 1
    assert run.store.assemblies.get(last.manifest_id) == last
