"""What a command in bubblewrap can see, change and reach. Each escape is tried for real."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workspace.conftest import plain_git, sleepers, until

from aircoding.errors import ConfigError
from aircoding.records.work import CommandOutcome, CommandRequest
from aircoding.workspace.repository import GitRepository
from aircoding.workspace.sandbox import ConfinedSandbox, choose_sandbox
from aircoding.workspace.toolchains import toolchain_paths

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def sandbox() -> ConfinedSandbox:
    try:
        chosen = choose_sandbox("bubblewrap")
    except ConfigError as error:
        pytest.skip(error.message)
    assert isinstance(chosen, ConfinedSandbox)
    assert chosen.report.filesystem
    assert chosen.report.network
    assert chosen.report.processes
    return chosen


@pytest.fixture
def worktree(make_worktree: Callable[..., Path]) -> Path:
    return make_worktree()


async def run(sandbox: ConfinedSandbox, root: Path, command: str, **more: object) -> CommandOutcome:
    return await sandbox.run(CommandRequest(command=command, **more), root=str(root))  # type: ignore[arg-type]


def there(path: Path | str) -> bool:
    return os.path.lexists(path)


async def test_work_in_the_worktree_works(sandbox: ConfinedSandbox, worktree: Path) -> None:
    command = "mkdir -p src/new && echo hi > src/new/f && cp README.md /tmp/x && touch ~/y && cat src/new/f && pwd"
    outcome = await run(sandbox, worktree, command)
    assert (outcome.exit_code, outcome.output) == (0, f"hi\n{worktree}\n")
    assert (worktree / "src/new/f").read_text() == "hi\n"
    assert (await run(sandbox, worktree, "pwd", cwd="src")).output == f"{worktree}/src\n"
    assert "3" in (await run(sandbox, worktree, f"{sys.executable} -c 'import unittest; print(1 + 2)'")).output


async def test_a_session_that_may_not_write_cannot(sandbox: ConfinedSandbox, worktree: Path) -> None:
    outcome = await run(
        sandbox, worktree, "cat README.md; echo x > src/a.py; rm README.md; touch /tmp/ok && echo ok", writable=False
    )
    assert outcome.output.startswith("Words.\n")
    assert outcome.output.endswith("ok\n")
    assert plain_git(worktree, "status", "--porcelain") == ""


async def test_nothing_outside_is_written_or_read(
    sandbox: ConfinedSandbox, worktree: Path, project: Path, own_git_home: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("planted")
    (own_git_home / ".ssh").mkdir()
    (own_git_home / ".ssh" / "id").write_text("planted")
    (project / ".env").write_text("planted")
    (project / ".air/local/air.db").write_text("planted")
    os.symlink(tmp_path / "secret.txt", worktree / "link")
    places = [tmp_path / "secret.txt", own_git_home / ".ssh/id", project / ".env", project / ".air/local/air.db"]
    reads = " ".join(f"'{place}'" for place in [*places, "link", "/etc/shadow", f"/proc/{os.getpid()}/environ"])
    assert "planted" not in (await run(sandbox, worktree, f"cat {reads}; cat /proc/1/root{tmp_path}/secret.txt")).output
    targets = [
        tmp_path / "new",
        project / "new",
        project / ".env",
        "/etc/new",
        "/usr/new",
        "/new",
        f"{own_git_home}/.bashrc",
    ]
    await run(sandbox, worktree, "; ".join(f"echo x >> '{target}'" for target in [*targets, "link"]))
    assert (tmp_path / "secret.txt").read_text() == "planted"
    assert (project / ".env").read_text() == "planted"
    assert [str(target) for target in targets if there(target)] == [str(project / ".env")]


async def test_there_is_no_network_unless_it_is_asked_for(
    sandbox: ConfinedSandbox, worktree: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "sock"))
        local.listen()
        port = listening.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3); print('in')"
        local_connect = f"import socket; socket.socket(socket.AF_UNIX).connect('{tmp_path}/sock'); print('in')"
        tcp, unix = (f'{sys.executable} -c "{code}"' for code in (connect, local_connect))
        assert "in\n" not in (await run(sandbox, worktree, f"{tcp}; {unix}")).output
        assert (await run(sandbox, worktree, tcp, network=True)).output == "in\n"


async def test_processes_outside_are_neither_seen_nor_killed(sandbox: ConfinedSandbox, worktree: Path) -> None:
    sleeper = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        outcome = await run(sandbox, worktree, f"kill -9 {sleeper.pid}; ls /proc | grep -c '^[0-9]'")
        assert int(outcome.output.split()[-1]) < 10
        assert sleeper.returncode is None
    finally:
        sleeper.kill()
        await sleeper.wait()


async def test_no_user_namespace_can_be_made_inside(sandbox: ConfinedSandbox, worktree: Path) -> None:
    if any("namespaces" in gap for gap in sandbox.report.gaps):
        pytest.skip("this bubblewrap is too old for it")
    assert (await run(sandbox, worktree, "unshare -U true")).exit_code != 0


async def test_git_can_be_asked_and_not_changed(sandbox: ConfinedSandbox, worktree: Path, project: Path) -> None:
    plain_git(project, "remote", "add", "origin", "https://user:planted@example.invalid/x")
    plain_git(project, "config", "http.extraHeader", "Authorization: planted")
    plain_git(project, "config", "core.fsmonitor", "planted")
    (project / ".git/hooks/pre-commit").write_text("planted")
    (worktree / "README.md").write_text("Other.\n")
    before = plain_git(project, "for-each-ref"), (project / ".git/config").read_bytes()
    asked = await run(
        sandbox, worktree, "git status --short && git diff --stat && git log --format=%s && git branch --show-current"
    )
    assert asked.exit_code == 0, asked.output
    assert asked.output.startswith(" M README.md\n")
    assert asked.output.endswith("First\nair/r1/t-1\n")
    shown = await run(sandbox, worktree, f"git config --list; cat {project}/.git/config {project}/.git/hooks/*")
    assert "planted" not in shown.output
    for command in (
        "git add -A",
        "git commit -qam x",
        "git update-ref refs/heads/main HEAD~0 && git branch -f main HEAD && git branch evil",
        "git config core.fsmonitor evil",
        f"echo evil >> {project}/.git/config",
        f"echo evil > {project}/.git/hooks/pre-commit",
        "rm -f .git",
        "mv .git moved",
        "echo 'gitdir: /etc' > .git",
    ):
        assert (await run(sandbox, worktree, command)).exit_code != 0, command
    assert (plain_git(project, "for-each-ref"), (project / ".git/config").read_bytes()) == before


async def test_a_forged_link_to_git_shows_nothing(sandbox: ConfinedSandbox, worktree: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "objects").mkdir(parents=True)
    (vault / "objects" / "secret").write_text("planted")
    (worktree / ".git").write_text(f"gitdir: {vault}\n")
    outcome = await run(sandbox, worktree, f"cat {vault}/objects/secret; ls {vault}; git status")
    assert "planted" not in outcome.output
    assert outcome.exit_code != 0


async def test_in_the_project_itself_our_own_state_is_hidden(
    sandbox: ConfinedSandbox, repository: GitRepository, project: Path, worktree: Path
) -> None:
    (project / ".air/local/air.db").write_text("planted")
    outcome = await run(
        sandbox, project, "ls -A .air/local; git status --short; echo evil > .git/HEAD; rm -rf .git/refs"
    )
    assert "air.db" not in outcome.output
    assert outcome.exit_code != 0
    assert repository.head_branch() == "main"


async def test_a_borrowed_object_folder_is_shown(sandbox: ConfinedSandbox, project: Path, tmp_path: Path) -> None:
    plain_git(tmp_path, "clone", "-q", "--shared", str(project), "borrower")
    assert (await run(sandbox, tmp_path / "borrower", "git log --format=%s")).output == "First\n"


async def test_cancelling_leaves_no_process(sandbox: ConfinedSandbox, worktree: Path) -> None:
    command = "setsid sleep 302.5 & sleep 302.5"
    running = asyncio.create_task(run(sandbox, worktree, command))
    assert await until(lambda: len(sleepers("302.5")) >= 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not sleepers("302.5")


async def test_time_out_and_limits_hold_inside_too(sandbox: ConfinedSandbox, worktree: Path) -> None:
    outcome = await run(sandbox, worktree, "echo start; sleep 300", timeout_seconds=2)
    assert (outcome.timed_out, outcome.output) == (True, "start\n")
    assert (await run(sandbox, worktree, "ulimit -d")).output == f"{8 * 1024**2}\n"


def test_of_a_home_only_tools_are_shown(own_git_home: Path) -> None:
    for name in (
        ".cargo/bin",
        ".cargo/lib",
        ".local/bin",
        ".local/share/keyrings",
        ".nvm/versions/node/v20/bin",
        "bin",
    ):
        (own_git_home / name).mkdir(parents=True)
    (own_git_home / ".cargo/credentials.toml").write_text("planted")
    names = (".cargo/bin", ".local/bin", ".nvm/versions/node/v20/bin", "bin")
    shown = toolchain_paths(os.pathsep.join(f"{own_git_home}/{name}" for name in names))
    inside = {path.removeprefix(f"{own_git_home}/") for path in shown if path.startswith(str(own_git_home))}
    assert inside == {".cargo/bin", ".cargo/lib", ".local/bin", ".nvm", "bin"}


def test_of_a_project_on_path_only_programs_are_shown(project: Path, tmp_path: Path) -> None:
    for place in (project, tmp_path / "tools", tmp_path / "venv"):
        (place / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    shown = toolchain_paths(f"{project}/bin:{tmp_path}/tools/bin:{tmp_path}/venv/bin:{project}/src")
    assert {path for path in shown if path.startswith(str(tmp_path))} == {
        f"{project}/bin",
        f"{project}/src",
        f"{tmp_path}/tools",
        f"{tmp_path}/venv",
    }
