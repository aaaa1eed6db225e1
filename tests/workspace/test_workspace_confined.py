"""What holds in every back end alike: work goes on, limits bind, nothing outlives a command, git's own parts stay."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workspace.conftest import plain_git, sleepers, until

from aircoding.errors import ConfigError
from aircoding.records.work import CommandLimits, CommandOutcome, CommandRequest
from aircoding.workspace.sandbox import ConfinedSandbox, PlainSandbox, choose_sandbox

pytestmark = pytest.mark.sandbox

LIMITS = CommandLimits(memory_bytes=512 * 1024**2, file_bytes=4 * 1024**2, cpu_seconds=2, processes=40)
HARD_TO_KILL = """
import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(one, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "303.75"])
"""
FORKS = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
except OSError:
    pass
print("made", made)
"""


@pytest.fixture(params=["bubblewrap", "landlock"])
def sandbox(request: pytest.FixtureRequest) -> ConfinedSandbox | PlainSandbox:
    try:
        return choose_sandbox(request.param, LIMITS)
    except ConfigError as error:
        pytest.skip(error.message)


async def run(sandbox: ConfinedSandbox | PlainSandbox, root: Path, command: str, **more: object) -> CommandOutcome:
    return await sandbox.run(CommandRequest(command=command, **more), root=str(root))  # type: ignore[arg-type]


def python(code: str) -> str:
    return f"{sys.executable} -c '{code}'"


async def test_work_in_the_worktree_works(sandbox: ConfinedSandbox, make_worktree: Callable[..., Path]) -> None:
    root = make_worktree()
    command = (
        "mkdir -p src/new && echo hi > src/new/f && mv src/new/f src/g && ln src/g h && chmod +x h && cp -p h i &&"
        " touch ~/x $(mktemp) && cat src/g && echo out > /dev/null && git status --short && git log --format=%s"
    )
    outcome = await run(sandbox, root, command)
    assert (outcome.exit_code, outcome.output) == (0, "hi\n?? h\n?? i\n?? src/g\nFirst\n")
    pairs = "import asyncio, subprocess, socket; socket.socketpair(); asyncio.run(asyncio.sleep(0)); print(1)"
    assert (await run(sandbox, root, f'{sys.executable} -c "{pairs}"')).output == "1\n"
    given = await run(sandbox, root, "cat; echo apart >&2", input_text="words")
    assert (given.output, given.errors) == ("words", "apart\n")


async def test_what_may_only_be_read_is_not_written(sandbox: ConfinedSandbox, project: Path) -> None:
    (project / ".air/local").mkdir(parents=True, exist_ok=True)
    (project / ".air/local/air.db").write_text("planted")
    outcome = await run(
        sandbox,
        project,
        "cat README.md; echo x > README.md; echo x > new; rm src/a.py; cat .air/local/air.db; touch ~/ok && echo ok",
        writable=False,
    )
    assert outcome.output.startswith("Words.\n")
    assert outcome.output.endswith("ok\n")
    assert "planted" not in outcome.output
    assert plain_git(project, "status", "--porcelain", "--", "src", "README.md", "new") == ""


async def test_git_and_our_own_folder_are_as_before(
    sandbox: ConfinedSandbox, make_worktree: Callable[..., Path]
) -> None:
    root = make_worktree()
    (root / ".air/shared/rules").mkdir(parents=True)
    (root / ".air/shared/rules/a.md").write_text("rule")
    link = (root / ".git").read_bytes()
    outcome = await run(
        sandbox,
        root,
        "rm -rf .git; mkdir .git; echo evil > .air/shared/rules/a.md; echo evil > .air/shared/permissions.yaml;"
        " rm -rf .air/shared/rules; ln -s / .air/shared/rules; true",
    )
    assert (root / ".git").read_bytes() == link
    assert (root / ".air/shared/rules/a.md").read_text() == "rule"
    assert not (root / ".air/shared/permissions.yaml").exists()
    assert ("[put back" in outcome.output) == (sandbox.report.backend == "landlock")


async def test_a_secret_of_the_repository_is_not_shown(
    sandbox: ConfinedSandbox, make_worktree: Callable[..., Path], project: Path
) -> None:
    root = make_worktree()
    plain_git(project, "remote", "add", "origin", "https://user:planted@example.invalid/x")
    assert "planted" not in (await run(sandbox, root, f"git config --list; cat {project}/.git/config")).output


async def test_limits_bind(sandbox: ConfinedSandbox, tmp_path: Path) -> None:
    assert "MemoryError" in (await run(sandbox, tmp_path, python("x = bytearray(700 * 1024**2)"))).output
    await run(sandbox, tmp_path, "head -c 9000000 /dev/zero > big")
    assert (tmp_path / "big").stat().st_size == LIMITS.file_bytes
    spun = await run(sandbox, tmp_path, python("while True: pass"), timeout_seconds=100)
    assert (spun.timed_out, spun.exit_code != 0) == (False, True)


async def test_processes_are_limited_or_the_report_says_so(sandbox: ConfinedSandbox, tmp_path: Path) -> None:
    made = int((await run(sandbox, tmp_path, f"{sys.executable} -c '{FORKS}'")).output.split()[-1])
    unlimited = any("number of processes" in gap for gap in sandbox.report.gaps)
    assert made == 500 if unlimited else made < LIMITS.processes


@pytest.mark.parametrize("ending", ["its end", "time-out", "cancelling"])
async def test_no_process_outlives_a_command(sandbox: ConfinedSandbox, tmp_path: Path, ending: str) -> None:
    code = f"{sys.executable} -c '{HARD_TO_KILL}'; trap \"\" TERM INT HUP; touch ready"
    if ending == "its end":
        await run(sandbox, tmp_path, f"{code}; sleep 0.3")
    elif ending == "time-out":
        outcome = await run(sandbox, tmp_path, f"{code}; sleep 303.75", timeout_seconds=3)
        assert outcome.timed_out
    else:
        running = asyncio.create_task(run(sandbox, tmp_path, f"{code}; sleep 303.75"))
        assert await until(lambda: len(sleepers("303.75")) == 4, 60)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert (tmp_path / "ready").exists() or ending == "time-out"
    assert sleepers("303.75") == []


def test_the_report_says_what_landlock_does_not_hold() -> None:
    try:
        report = choose_sandbox("landlock").report
    except ConfigError as error:
        pytest.skip(error.message)
    assert (report.filesystem, report.network) == (True, True)
    said = " ".join(report.gaps)
    assert all(word in said for word in ("modes and times", "command lines", "`.git` and `.air`", "Unix socket"))


async def test_a_command_that_cannot_be_confined_is_not_run(tmp_path: Path) -> None:
    from aircoding.workspace import confine, process

    (tmp_path / "order").write_text('{"files": 0, "network": 0, "scoped": 0, "size": 3, "paths": [], "filter": ""}')
    outcome = await process.run_process(
        [sys.executable, "-I", "-S", str(confine.__file__), str(tmp_path / "order"), "touch", "made"],
        cwd=str(tmp_path),
        env={"PATH": os.defpath},
        timeout_seconds=60,
        max_output_bytes=1000,
    )
    assert outcome.exit_code == confine.FAILED
    assert "was not run" in outcome.output
    assert not (tmp_path / "made").exists()
