"""The gate: what is on record is not done again, and what was interrupted is told as it is."""

from dataclasses import replace
from typing import Any

import pytest
from agents.conftest import POLICY, Session
from agents.doubles import SESSION

from aircoding.agents.tools.runner import recorded_result
from aircoding.errors import FencedError, InternalError
from aircoding.permissions.engine import decide
from aircoding.records.calls import ToolCall
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.policy import ToolAct

EDITED = "def one():\n    return 10\n\n\ndef two():\n    return 2\n"


async def begin_edit(session: Session) -> ToolCall:
    """Leave an edit as a crash does: its intent on record, no result."""
    read = await session.use("fs_read", path="src/a.py")
    call = session.call("fs_edit", path="src/a.py", old_text="return 1", new_text="return 10")
    session.deps.tool_log.intend(
        call, decide(ToolAct(tool="fs_edit"), POLICY), read.read_digests, {"src/a.py": sha256_text(EDITED)}
    )
    return call


async def test_an_edit_that_had_not_happened_is_made(session: Session) -> None:
    call = await begin_edit(session)

    result = await session.run(call)

    assert result.text == "Edited src/a.py: line 2 is new."
    assert session.text("src/a.py") == EDITED


async def test_an_edit_that_had_happened_is_not_made_again(session: Session) -> None:
    call = await begin_edit(session)
    session.write("src/a.py", EDITED)
    before = (session.root / "src" / "a.py").stat().st_mtime_ns

    result = await session.run(call)

    assert result.text == "Done (found done after an interruption): src/a.py."
    assert result.written_digests == {"src/a.py": sha256_text(EDITED)}
    assert (session.root / "src" / "a.py").stat().st_mtime_ns == before
    follow_up = await session.use("fs_edit", path="src/a.py", old_text="return 10", new_text="return 11")
    assert not follow_up.is_error


async def test_a_file_that_is_neither_before_nor_after_is_left_alone(session: Session) -> None:
    call = await begin_edit(session)
    session.write("src/a.py", "someone else\n")

    result = await session.run(call)

    assert result.is_error
    assert result.interrupted
    assert result.text.startswith("interrupted, effects unknown: src/a.py is neither as it was")
    assert session.text("src/a.py") == "someone else\n"
    record = session.deps.tool_log.find(call.key)
    assert record is not None
    assert record.state == "unknown"


@pytest.mark.parametrize(("there", "text"), [(None, "Created"), ("new\n", "Done (found done")])
async def test_a_new_file_is_compared_with_no_file(session: Session, there: str | None, text: str) -> None:
    call = session.call("fs_write", path="src/new.py", content="new\n")
    session.deps.tool_log.intend(
        call, decide(ToolAct(tool="fs_write"), POLICY), {}, {"src/new.py": sha256_text("new\n")}
    )
    if there is not None:
        session.write("src/new.py", there)

    result = await session.run(call)

    assert result.text.startswith(text)
    assert session.text("src/new.py") == "new\n"


async def test_a_file_that_became_a_link_out_of_the_worktree_is_left_alone(session: Session) -> None:
    call = await begin_edit(session)
    (session.root / "src" / "a.py").unlink()
    (session.root / "src" / "a.py").symlink_to("/etc/hostname")

    result = await session.run(call)

    assert result.interrupted
    assert result.text.startswith("interrupted, effects unknown: ")


async def test_a_command_whose_result_is_missing_is_never_run_again(session: Session) -> None:
    call = session.call("shell", command="touch src/twice")
    session.deps.tool_log.intend(call, decide(ToolAct(tool="shell"), POLICY), {}, {})

    result = await session.run(call)

    assert result.text.startswith("interrupted, effects unknown: The command may have run in part or whole.")
    assert not (session.root / "src" / "twice").exists()


async def test_a_result_on_record_is_given_back_without_acting(session: Session) -> None:
    call = session.call("shell", command="sh -c 'echo x >> src/count'")
    first = await session.run(call)
    second = await session.run(call)

    assert first == second
    assert session.text("src/count") == "x\n"


async def test_a_mutating_call_leaves_its_intent_before_it_acts(session: Session) -> None:
    seen: list[Any] = []
    log = session.deps.tool_log
    worktree = session.deps.open_worktree(session.brief.worktree)

    class Watching:
        """Looks into the log at the moment of writing."""

        root = worktree.root

        def __getattr__(self, name: str) -> Any:
            return getattr(worktree, name)

        def write(self, path: str, data: bytes) -> Digest:
            seen.append(log.find(call.key))
            return worktree.write(path, data)

    session.deps = replace(session.deps, open_worktree=lambda _root: Watching())
    call = session.call("fs_write", path="src/new.py", content="new\n")
    await session.run(call)

    (intent,) = seen
    assert intent.state == "intended"
    assert intent.before_digests == {}
    assert intent.after_digests == {"src/new.py": sha256_text("new\n")}


async def test_a_denied_edit_leaves_no_intent_and_its_decision_names_both_acts(session: Session) -> None:
    session.write("src/generated/x.py", "x\n")
    await session.use("fs_read", path="src/generated/x.py")
    call = session.call("fs_edit", path="src/generated/x.py", old_text="x", new_text="y")
    await session.run(call)

    record = session.deps.tool_log.find(call.key)
    assert record is not None
    assert record.before_digests == {}
    assert record.decision is not None
    assert "write" in record.decision.act
    assert any(judgement.pattern == "src/generated/**" for judgement in record.decision.judgements)


async def test_losing_the_run_stops_the_tool_before_it_acts(session: Session) -> None:
    def fenced(*_arguments: object) -> None:
        raise FencedError("another process owns the run")

    session.deps.tool_log.intend = fenced  # type: ignore[method-assign]

    with pytest.raises(FencedError):
        await session.use("fs_write", path="src/new.py", content="new\n")
    assert not (session.root / "src" / "new.py").exists()


async def test_finish_is_checked_against_the_schema_of_the_role(session: Session) -> None:
    wrong = await session.use("finish", status="great", summary=3)
    right = await session.use("finish", status="done", summary="All good.")

    assert wrong.text == (
        "The result is not in order for the role executor:\n- status: 'great' is none of done, blocked, failed\n"
        "- summary: 3 is not of type string\nMend this and call finish again."
    )
    assert wrong.finished is None
    assert right.finished == {"status": "done", "summary": "All good."}


def test_a_result_that_was_never_recorded_is_a_fault_of_ours(session: Session) -> None:
    with pytest.raises(InternalError, match="not on record"):
        recorded_result(session.deps, session.call("fs_read", path="src/a.py"))
    assert session.deps.tool_log.records(SESSION) == ()
