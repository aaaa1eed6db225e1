"""Choose once what confines commands on this machine, by trying it, and say what holds."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from aircoding.errors import ConfigError, PathRefusedError, WorkspaceError
from aircoding.records.work import CommandOutcome, CommandRequest, SandboxReport
from aircoding.workspace.bubblewrap import INNER_HOME, bubblewrap_arguments
from aircoding.workspace.process import command_environment, run_process, shell_path

__all__ = ["BubblewrapSandbox", "PlainSandbox", "choose_sandbox"]

_CANARY_SECONDS = 20.0
_CANARY = """
import json, os, socket, sys
secret, outside, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
def works(act):
    try:
        act()
    except OSError:
        return False
    return True
works(lambda: open("written", "w").close())
works(lambda: open(outside, "w").close())
print(json.dumps({
    "read": works(lambda: open(secret).close()),
    "network": works(lambda: socket.create_connection(("127.0.0.1", port), 2).close()),
    "processes": os.readlink("/proc/self/ns/pid"),
}))
"""
"""What a confined command tries: what it must be able to do, then what it must not."""


class PlainSandbox:
    """No confinement of ours: commands run with this user's rights (`external` and `none`)."""

    def __init__(self, report: SandboxReport) -> None:
        self.report = report

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree; its home is a folder of its own that goes when it ends."""
        with tempfile.TemporaryDirectory(prefix="air-home-", ignore_cleanup_errors=True) as home:
            return await run_process(
                ["/bin/sh", "-c", request.command],
                cwd=_workdir(root, request.cwd),
                env=command_environment(shell_path(), home, request.env),
                timeout_seconds=request.timeout_seconds,
                max_output_bytes=request.max_output_bytes,
                input_file=_input_file(request, home),
            )


class BubblewrapSandbox:
    """Commands see the system read-only, the worktree writable, a home and /tmp of their own, and no network."""

    def __init__(self, program: str, report: SandboxReport, *, no_nested_users: bool) -> None:
        self._program, self._no_nested_users = program, no_nested_users
        self.report = report

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree; when it ends or is cancelled, its whole process tree ends."""
        path = shell_path()
        with tempfile.TemporaryDirectory(prefix="air-view-", ignore_cleanup_errors=True) as scratch:
            arguments = bubblewrap_arguments(
                self._program,
                request,
                root=_workdir(root, "."),
                workdir=_workdir(root, request.cwd),
                path=path,
                scratch=Path(scratch),
                no_nested_users=self._no_nested_users,
            )
            return await run_process(
                arguments,
                cwd=root,
                env=command_environment(path, INNER_HOME, request.env),
                timeout_seconds=request.timeout_seconds,
                max_output_bytes=request.max_output_bytes,
                input_file=_input_file(request, scratch),
            )


def choose_sandbox(backend: str) -> BubblewrapSandbox | PlainSandbox:
    """Return what confines commands. `auto` takes bubblewrap where a canary shows that it holds, else nothing.

    Raises:
        ConfigError: bubblewrap was asked for by name and does not hold here, or the name is unknown.
    """
    if backend == "external":
        return PlainSandbox(_unconfined("external", "the user vouches for a container or virtual machine"))
    if backend == "none":
        return PlainSandbox(_unconfined("none", "switched off"))
    if backend not in {"auto", "bubblewrap"}:
        raise ConfigError(f"no sandbox is called {backend!r}", hint="auto, bubblewrap, external, or none")
    program = shutil.which("bwrap")
    if program is None:
        reason = "bubblewrap is not installed"
    else:
        no_nested_users = "--disable-userns" in _help(program)
        reason = _canary(program, no_nested_users=no_nested_users)
        if not reason:
            weak = () if no_nested_users else ("bubblewrap before 0.8: user namespaces can be made inside",)
            report = SandboxReport(backend="bubblewrap", filesystem=True, network=True, processes=True, reasons=weak)
            return BubblewrapSandbox(program, report, no_nested_users=no_nested_users)
    if backend == "bubblewrap":
        raise ConfigError(f"the sandbox cannot be used: {reason}", hint='install bubblewrap, or set backend = "auto"')
    return PlainSandbox(_unconfined("none", reason))


def _unconfined(backend: str, reason: str) -> SandboxReport:
    return SandboxReport(backend=backend, filesystem=False, network=False, processes=False, reasons=(reason,))


def _input_file(request: CommandRequest, folder: str) -> str | None:
    """Write what a command reads into a folder that is gone when it has ended, and return the file."""
    if request.input_text is None:
        return None
    path = Path(folder, "air-input")
    path.write_bytes(request.input_text.encode("utf-8", "replace"))
    return str(path)


def _workdir(root: str, folder: str) -> str:
    """Return where a command starts.

    Raises:
        PathRefusedError: it is not inside the worktree.
        WorkspaceError: there is no such folder.
    """
    base = os.path.realpath(root)
    real = os.path.realpath(os.path.join(base, folder))
    if real != base and not real.startswith(base + os.sep):
        raise PathRefusedError(f"{folder} leads out of the worktree", hint="start commands inside it")
    if not os.path.isdir(real):
        raise WorkspaceError(f"there is no folder {folder} in the worktree", code="workspace.missing")
    return real


def _help(program: str) -> str:
    done = subprocess.run([program, "--help"], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout + done.stderr


def _canary(program: str, *, no_nested_users: bool) -> str:
    """Try to do what must not be possible; return what is wrong, or nothing."""
    with (
        tempfile.TemporaryDirectory(prefix="air-canary-") as scratch,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        inside, secret, outside, view = (Path(scratch, name) for name in ("inside", "secret", "outside", "view"))
        inside.mkdir()
        view.mkdir()
        secret.write_text("canary", encoding="ascii")
        path = shell_path()
        *confined, _shell, _c, _command = bubblewrap_arguments(
            program,
            CommandRequest(command=""),
            root=os.path.realpath(inside),
            workdir=os.path.realpath(inside),
            path=path,
            scratch=view,
            no_nested_users=no_nested_users,
        )
        port = str(listening.getsockname()[1])
        try:
            done = subprocess.run(
                [*confined, sys.executable, "-I", "-S", "-c", _CANARY, str(secret), str(outside), port],
                env=command_environment(path, INNER_HOME),
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=_CANARY_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not start here: {error}"
        if done.returncode != 0:
            return f"bubblewrap does not start here: {done.stderr.strip()[:300]}"
        faults = (
            (not (inside / "written").exists(), "a command cannot write in its worktree"),
            (outside.exists(), "a command can write outside its worktree"),
            *_told(json.loads(done.stdout)),
        )
        return next((fault for holds, fault in faults if holds), "")


def _told(found: dict[str, object]) -> tuple[tuple[bool, str], ...]:
    """Judge what the canary says of itself; what it wrote is seen from outside."""
    return (
        (found["read"] is True, "a command can read what it must not see"),
        (found["network"] is True, "a command has a network"),
        (found["processes"] == os.readlink("/proc/self/ns/pid"), "a command sees the processes of this machine"),
    )
