"""Commands, large output and artifacts through the gate."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from agents.conftest import Session
from agents.doubles import MARKED_SECRET, SECRET

from aircoding.agents.tools.artifacts import shorten
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.sessions import Evidence


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, at most ten seconds."""
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")


async def test_a_command_gives_its_output_and_exit_code(session: Session) -> None:
    good = await session.use("shell", command="echo worker $AIR_WORKER_INDEX")
    silent = await session.use("shell", command="touch src/made.txt")
    bad = await session.use("shell", command="cat src/none.txt")

    assert good.text == "worker 7\n[exit code 0]"
    assert silent.text == "(no output)\n[exit code 0]"
    assert bad.text.endswith("[exit code 1]")
    assert [result.is_error for result in (good, silent, bad)] == [False, False, True]


async def test_a_denied_command_does_not_run(session: Session) -> None:
    result = await session.use("shell", command="curl http://127.0.0.1/ -o src/x")

    assert result.text.startswith("Denied: ")
    assert "(`curl *`, .air/shared/permissions.yaml:9)" in result.text
    assert [kind for kind, _ in session.events] == ["permission.denied"]
    record = session.deps.tool_log.records(session.brief.session_id)[0]
    assert record.decision is not None
    assert not record.decision.permits


async def test_a_command_that_no_rule_knows_is_not_run_with_nobody_to_ask(session: Session) -> None:
    result = await session.use("shell", command="frobnicate src/a.py")

    assert result.is_error
    assert result.text.startswith("Denied: ")


async def test_an_announced_command_is_an_event_and_runs(session: Session) -> None:
    result = await session.use("shell", command="seq 3")

    assert result.text == "1\n2\n3\n[exit code 0]"
    ((kind, payload),) = session.events
    assert (kind, payload["tool"], payload["rule"], payload["line"]) == ("permission.announced", "shell", "seq *", 8)


async def test_changes_outside_the_write_area_are_reported_until_they_are_gone(session: Session) -> None:
    inside = await session.use("shell", command="touch src/b.py")
    program = "open('README.md','a').write('x'); open('stray.txt','w').close(); open('x.log','w').close()"
    outside = await session.use("shell", command=f'python3 -c "{program}"')
    (session.root / "stray.txt").unlink()
    session.write("README.md", "Two numbers.\n")
    mended = await session.use("shell", command="echo")

    assert "outside your write area" not in inside.text
    assert "[outside your write area and changed: README.md, stray.txt. Put these back" in outside.text
    assert "outside your write area" not in mended.text


async def test_what_a_command_left_has_a_digest_that_changes_with_the_files_and_with_nothing_else(
    session: Session,
) -> None:
    commands = ("true", "true", "echo a >> src/log.txt; false", "echo a >> src/log.txt; false", "touch src/log.txt")
    digests = [(await session.use("shell", command=command)).tree_digest for command in commands]
    clean, still, one, two, touched = digests

    assert None not in digests
    assert clean == still
    assert len({clean, one, two}) == 3
    assert touched == two
    await asyncio.to_thread(Path(session.brief.worktree, "src/log.txt").unlink)
    again = (await session.use("shell", command="true")).tree_digest
    assert again == clean
    recorded = [each.result for each in session.deps.tool_log.records(session.brief.session_id)]
    assert [each.tree_digest for each in recorded if each is not None] == [*digests, again]


async def test_secrets_in_output_are_masked_before_they_are_kept(session: Session) -> None:
    session.write("src/conf.txt", (SECRET + "\n") * 2_000)

    result = await session.use("shell", command="cat src/conf.txt")

    assert MARKED_SECRET in result.text
    assert result.artifact is not None
    kept = session.deps.blobs.get(result.artifact)
    assert kept is not None
    assert SECRET not in result.text + kept


async def test_large_output_is_kept_whole_and_read_on_by_range(session: Session) -> None:
    result = await session.use("shell", command="seq 20000")

    assert result.artifact is not None
    assert len(result.text) < 17_000
    assert result.text.startswith("1\n2\n")
    assert result.text.endswith("20000\n[exit code 0]")
    assert f"The whole output has 20000 lines: air:artifact/{result.artifact}" in result.text
    read = await session.use("artifact_read", artifact=result.artifact[:12], start_line=9_998, end_line=9_999)
    assert read.text == "  9998\t9998\n  9999\t9999\n[lines 9998 to 9999 of 20000]"
    beyond = await session.use("artifact_read", artifact=result.artifact, start_line=20_001)
    assert "It has 20000 lines" in beyond.text


async def test_only_artifacts_of_the_session_can_be_read(session: Session) -> None:
    foreign = session.deps.blobs.put("another session's output")
    told = session.deps.blobs.put("the failing test run")

    refused = await session.use("artifact_read", artifact=foreign)
    evidence = Evidence(
        uri="air:run/r1", layer=Layer.L8, kind=SegmentKind.FAILURE, title="", text=f"See air:artifact/{told}."
    )
    session.brief = replace(session.brief, evidence=(evidence,))
    allowed = await session.use("artifact_read", artifact=told)

    assert refused.is_error
    assert "Artifacts that you can read: none." in refused.text
    assert allowed.text == "     1\tthe failing test run"


async def test_an_artifact_that_is_no_longer_kept_says_so(session: Session) -> None:
    digest = "ab" * 32
    evidence = Evidence(
        uri="air:run/r1", layer=Layer.L8, kind=SegmentKind.FAILURE, title="", text=f"air:artifact/{digest}"
    )
    session.brief = replace(session.brief, evidence=(evidence,))

    assert "no longer kept" in (await session.use("artifact_read", artifact=digest)).text


@pytest.mark.parametrize("text", ["x" * 40_000, "line\n" * 9_000, "a\n" + "b" * 30_000 + "\nc\n"])
def test_a_shortened_text_has_the_head_and_the_tail_of_the_whole(session: Session, text: str) -> None:
    shown, digest = shorten(text, session.deps.blobs)
    head, rest = shown.split("\n[", 1)
    note, tail = rest.split(".]\n", 1)

    assert digest is not None
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(shown) < 17_000
    assert note.startswith(f"{len(text) - len(head) - len(tail)} characters left out")


async def test_output_that_is_not_utf_8_is_shown_with_replacements(session: Session) -> None:
    session.write("src/latin.txt", b"\xe9t\xe9 caf\xe9")

    assert "caf\ufffd" in (await session.use("shell", command="cat src/latin.txt")).text


async def test_a_command_that_takes_too_long_is_stopped_and_says_so(session: Session) -> None:
    result = await session.use("shell", command="sleep 60", timeout_seconds=0.3)

    assert result.is_error
    assert "[stopped after 0.3 seconds" in result.text


async def test_a_cancelled_command_leaves_nothing_behind_and_is_not_run_again(session: Session) -> None:
    alive = session.root / "src" / "alive"
    session.write(
        "src/live.py", "import time\nwhile True:\n    open('src/alive', 'a').write('x')\n    time.sleep(0.01)\n"
    )
    call = session.call("shell", command="python3 src/live.py")
    running = asyncio.create_task(session.run(call))
    await until(alive.exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    alive.unlink()
    await asyncio.sleep(0.3)
    assert not alive.exists()
    again = await session.run(call)
    assert again.text.startswith("interrupted, effects unknown")
    assert not alive.exists()
