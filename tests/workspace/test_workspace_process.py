"""Commands without a sandbox of ours: output, limits, time, and nothing that outlives them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from workspace.conftest import sleepers, until

from aircoding.errors import ConfigError, PathRefusedError, WorkspaceError
from aircoding.records.work import CommandOutcome, CommandRequest
from aircoding.workspace import process
from aircoding.workspace.sandbox import PlainSandbox, choose_sandbox

CONFINING = ("bubblewrap", "landlock")

DAEMON = (
    "setsid sh -c 'echo $$ >> pids; exec sleep 300' & sleep 300 & echo $! >> pids;"
    " until [ $(wc -l < pids) = 2 ]; do sleep 0.02; done"
)
"""Leaves two processes: one in the command's own session, one that left it."""


@pytest.fixture
def sandbox() -> PlainSandbox:
    chosen = choose_sandbox("none")
    assert isinstance(chosen, PlainSandbox)
    return chosen


async def run(sandbox: PlainSandbox, root: Path, command: str, **more: object) -> CommandOutcome:
    return await sandbox.run(CommandRequest(command=command, **more), root=str(root))  # type: ignore[arg-type]


def pids(root: Path) -> list[int]:
    return [int(line) for line in (root / "pids").read_text().split()]


def there(path: str) -> bool:
    return os.path.lexists(path)


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_both_streams_come_in_order_with_the_exit_code(sandbox: PlainSandbox, tmp_path: Path) -> None:
    outcome = await run(sandbox, tmp_path, "echo one; echo two >&2; echo three; cat; exit 7")
    assert (outcome.output, outcome.exit_code, outcome.timed_out, outcome.truncated) == (
        "one\ntwo\nthree\n",
        7,
        False,
        False,
    )
    killed = await run(sandbox, tmp_path, "kill -SEGV $$")
    assert killed.exit_code == 128 + signal.SIGSEGV
    assert (await run(sandbox, tmp_path, "no-such-program")).exit_code == 127


async def test_long_output_keeps_head_and_tail(sandbox: PlainSandbox, tmp_path: Path) -> None:
    outcome = await run(sandbox, tmp_path, "seq 1 200000", max_output_bytes=100)
    assert outcome.truncated
    assert outcome.output.startswith("1\n2\n3\n")
    assert outcome.output.endswith("199999\n200000\n")
    assert "[... 1288797 bytes left out ...]" in outcome.output, "the words that were cut in two go, too"
    short = await run(sandbox, tmp_path, "printf 'x\\0\\377y'")
    assert short.output == "x\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}y"


async def test_no_half_of_a_word_is_left_where_a_long_output_is_cut(sandbox: PlainSandbox, tmp_path: Path) -> None:
    words = "printf '%s ' first; head -c 300 /dev/zero | tr '\\0' s; printf ' %s\\n' last"
    outcome = await run(sandbox, tmp_path, words, max_output_bytes=100)
    assert outcome.output == "first \n[... 300 bytes left out ...]\n last\n"


async def test_the_environment_is_scrubbed(
    sandbox: PlainSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_TOKEN", "BASH_ENV", "LD_PRELOAD", "PYTHONPATH", "GIT_DIR", "LESSOPEN"):
        monkeypatch.setenv(name, "leak")
    monkeypatch.setenv("PATH", f".:relative/bin:{os.environ['PATH']}")
    outcome = await run(sandbox, tmp_path, "env; echo home: $(ls -A ~ | wc -l)", env=(("AIR_WORKER_INDEX", "3"),))
    lines = outcome.output.splitlines()
    assert "leak" not in outcome.output
    assert "AIR_WORKER_INDEX=3" in lines
    assert "TERM=dumb" in lines
    assert "home: 0" in lines
    path = next(line for line in lines if line.startswith("PATH="))
    assert all(os.path.isabs(entry) for entry in path.removeprefix("PATH=").split(":"))
    home = next(line for line in lines if line.startswith("HOME=")).removeprefix("HOME=")
    assert not there(home)


async def test_a_command_starts_inside_the_worktree_only(sandbox: PlainSandbox, tmp_path: Path) -> None:
    (tmp_path / "work" / "deep").mkdir(parents=True)
    (tmp_path / "work" / "away").symlink_to(tmp_path)
    outcome = await run(sandbox, tmp_path / "work", "pwd", cwd="deep")
    assert outcome.output == f"{tmp_path}/work/deep\n"
    for folder in ("..", "away", "/"):
        with pytest.raises(PathRefusedError):
            await run(sandbox, tmp_path / "work", "pwd", cwd=folder)
    with pytest.raises(WorkspaceError, match="no folder gone"):
        await run(sandbox, tmp_path / "work", "pwd", cwd="gone")


async def test_limits_hold(sandbox: PlainSandbox, tmp_path: Path) -> None:
    outcome = await run(sandbox, tmp_path, "ulimit -d; ulimit -f; ulimit -c", timeout_seconds=10)
    assert outcome.output.split() == [str(8 * 1024**2), str(4 * 1024**3 // 512), "0"]
    code = "x = bytearray(9 * 1024**3)"
    assert "MemoryError" in (await run(sandbox, tmp_path, f"{sys.executable} -c '{code}'")).output


async def test_what_a_command_leaves_running_ends_with_it(sandbox: PlainSandbox, tmp_path: Path) -> None:
    outcome = await run(sandbox, tmp_path, f"{DAEMON}; echo done")
    assert (outcome.output, outcome.exit_code) == ("done\n", 0)
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


async def test_a_command_that_takes_too_long_is_ended_with_all_of_it(sandbox: PlainSandbox, tmp_path: Path) -> None:
    outcome = await run(
        sandbox, tmp_path, f"trap '' TERM INT; echo start; {DAEMON}; wait; sleep 300", timeout_seconds=3
    )
    assert (outcome.exit_code, outcome.timed_out, outcome.output) == (None, True, "start\n")
    assert len(pids(tmp_path)) == 2
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


async def test_a_command_that_is_cancelled_leaves_nothing(sandbox: PlainSandbox, tmp_path: Path) -> None:
    running = asyncio.create_task(run(sandbox, tmp_path, f"{DAEMON}; touch ready; wait"))
    assert await until((tmp_path / "ready").exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


async def test_a_command_that_stops_its_keeper_is_ended_all_the_same(
    sandbox: PlainSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0.5)
    outcome = await run(sandbox, tmp_path, f"{DAEMON}; kill -STOP $PPID; wait", timeout_seconds=2)
    assert outcome.timed_out
    assert [pid for pid in pids(tmp_path) if alive(pid)] == []


async def test_a_program_that_is_missing_is_said(tmp_path: Path) -> None:
    outcome = await process.run_process(
        ["no-such-program"], cwd=str(tmp_path), env={"PATH": "/bin"}, timeout_seconds=10, max_output_bytes=1000
    )
    assert (outcome.exit_code, outcome.output) == (127, "no-such-program: No such file or directory\n")
    with pytest.raises(WorkspaceError, match="could not be started"):
        await process.run_process(["true"], cwd=f"{tmp_path}/gone", env={}, timeout_seconds=1, max_output_bytes=1)


@pytest.mark.parametrize("backend", ["none", *(pytest.param(name, marks=pytest.mark.sandbox) for name in CONFINING)])
async def test_when_we_are_killed_the_command_ends_too(tmp_path: Path, backend: str) -> None:
    try:
        choose_sandbox(backend)
    except ConfigError as error:
        pytest.skip(error.message)
    code = (
        "import asyncio, sys\n"
        "from aircoding.records.work import CommandRequest\n"
        "from aircoding.workspace.sandbox import choose_sandbox\n"
        "request = CommandRequest(command='setsid sleep 301.25 & sleep 301.25')\n"
        "asyncio.run(choose_sandbox(sys.argv[1]).run(request, root=sys.argv[2]))\n"
    )
    ours = await asyncio.create_subprocess_exec(sys.executable, "-c", code, backend, str(tmp_path))
    try:
        assert await until(lambda: len(sleepers("301.25")) >= 2)
    finally:
        ours.kill()
        await ours.wait()
    assert await until(lambda: not sleepers("301.25"))


async def test_many_commands_at_once(sandbox: PlainSandbox, tmp_path: Path) -> None:
    outcomes = await asyncio.gather(*(run(sandbox, tmp_path, f"echo {number}") for number in range(8)))
    assert [outcome.output for outcome in outcomes] == [f"{number}\n" for number in range(8)]


def test_an_unknown_sandbox_is_named() -> None:
    with pytest.raises(ConfigError, match="firejail"):
        choose_sandbox("firejail")
    assert choose_sandbox("external").report.backend == "external"
    assert choose_sandbox("none").report.reasons == ("switched off",)


def test_without_bubblewrap_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    report = choose_sandbox("auto").report
    assert report.backend in {"landlock", "none"}
    assert report.reasons[0] == "bubblewrap is not installed"
    assert report.filesystem == (report.backend == "landlock")
    with pytest.raises(ConfigError, match="not installed"):
        choose_sandbox("bubblewrap")


def test_with_neither_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("aircoding.workspace.landlock.landlock_abi", lambda: 2)
    report = choose_sandbox("auto").report
    assert (report.backend, report.filesystem, report.network, report.processes) == ("none", False, False, False)
    assert report.reasons == (
        "bubblewrap is not installed",
        "the kernel's Landlock is version 2, and 3 is needed (Linux 6.2)",
    )
    with pytest.raises(ConfigError, match="version 2"):
        choose_sandbox("landlock")


def test_seatbelt_is_refused_unless_it_is_there_and_named() -> None:
    with pytest.raises(ConfigError, match="not tried on macOS"):
        choose_sandbox("seatbelt")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 1", "does not start"),
        (
            'while [ "$1" != -I ]; do last=$1; shift; done; cd "${0%/*}"; exec "$last" "$@"',
            "cannot write in its worktree",
        ),
        ('while [ "$1" != --chdir ]; do shift; done; cd "$2"; shift 3; exec "$@"', "can write outside"),
    ],
)
def test_a_bubblewrap_that_does_not_hold_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    report = choose_sandbox("auto").report
    assert report.backend != "bubblewrap"
    assert reason in report.reasons[0]
