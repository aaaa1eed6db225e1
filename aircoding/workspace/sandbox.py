"""Choose once what confines commands on this machine, by trying it, and say what holds."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from aircoding.errors import ConfigError
from aircoding.records.work import CommandOutcome, CommandRequest, SandboxReport
from aircoding.workspace.bubblewrap import bubblewrap_arguments
from aircoding.workspace.process import command_environment, run_process

__all__ = ["BubblewrapSandbox", "PlainSandbox", "choose_sandbox", "shell_path"]

_CANARY_SECONDS = 20.0


def shell_path() -> str:
    """Return the PATH of commands: the present one's folders that are absolute and exist, standard ones last."""
    own = [part for part in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(part) and os.path.isdir(part)]
    standard = ["/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys([*own, *standard]))


class PlainSandbox:
    """No confinement of ours: commands run with this user's rights (`external` and `none`)."""

    def __init__(self, report: SandboxReport) -> None:
        self.report = report

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree."""
        with tempfile.TemporaryDirectory(prefix="air-home-", ignore_cleanup_errors=True) as home:
            return await run_process(
                ["/bin/sh", "-c", request.command],
                cwd=f"{root}/{request.cwd}",
                env=command_environment(shell_path(), home, request.env),
                timeout_seconds=request.timeout_seconds,
                max_output_bytes=request.max_output_bytes,
            )


class BubblewrapSandbox:
    """Commands see the system read-only, the worktree writable, a home and /tmp of their own, and no network."""

    def __init__(self, program: str, report: SandboxReport) -> None:
        self._program = program
        self.report = report

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree; when it ends or is cancelled, its whole process tree ends."""
        path = shell_path()
        arguments = bubblewrap_arguments(self._program, request, root=root, path=path)
        return await run_process(
            arguments,
            cwd=root,
            env=command_environment(path, "/tmp/air-home", request.env),  # noqa: S108 - inside the sandbox's own tmpfs
            timeout_seconds=request.timeout_seconds,
            max_output_bytes=request.max_output_bytes,
        )


def choose_sandbox(backend: str) -> BubblewrapSandbox | PlainSandbox:
    """Return what confines commands. `auto` takes bubblewrap where a canary shows that it holds, else nothing.

    Raises:
        ConfigError: bubblewrap was asked for by name and does not hold here.
    """
    if backend == "external":
        return PlainSandbox(_unconfined("external", "the user vouches for a container or virtual machine"))
    if backend == "none":
        return PlainSandbox(_unconfined("none", "switched off"))
    program = shutil.which("bwrap")
    reason = "bubblewrap is not installed" if program is None else asyncio.run(_canary(program))
    if program is not None and not reason:
        report = SandboxReport(backend="bubblewrap", filesystem=True, network=True, processes=True)
        return BubblewrapSandbox(program, report)
    if backend == "bubblewrap":
        raise ConfigError(f"the sandbox cannot be used: {reason}", hint='install bubblewrap, or set backend = "auto"')
    return PlainSandbox(_unconfined("none", reason))


def _unconfined(backend: str, reason: str) -> SandboxReport:
    return SandboxReport(backend=backend, filesystem=False, network=False, processes=False, reasons=(reason,))


async def _canary(program: str) -> str:
    """Try to do what must not be possible; return what is wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="air-canary-") as scratch:
        inside, secret, outside = (Path(scratch) / name for name in ("inside", "secret", "outside"))
        inside.mkdir()
        secret.write_text("canary")
        sandbox = BubblewrapSandbox(program, _unconfined("bubblewrap", "being tried"))
        command = (
            f"echo ok > written; cat '{secret}' 2>/dev/null && echo LEAK; echo x > '{outside}' 2>/dev/null;"
            " ls /sys/class/net 2>/dev/null | grep -v '^lo$' && echo NETWORK; true"
        )
        request = CommandRequest(command=command, timeout_seconds=_CANARY_SECONDS)
        outcome = await sandbox.run(request, root=str(inside))
        if outcome.exit_code != 0:
            return f"bubblewrap does not start here: {outcome.output.strip()[:200]}"
        if not (inside / "written").exists():
            return "a command cannot write in its worktree"
        if "LEAK" in outcome.output:
            return "a command can read what it must not see"
        if outside.exists():
            return "a command can write outside its worktree"
        return "a command has a network" if "NETWORK" in outcome.output else ""
