"""Choose once what confines commands on this machine, by trying it, and say what holds."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from aircoding.errors import ConfigError, PathRefusedError, WorkspaceError
from aircoding.records.work import CommandLimits, CommandOutcome, CommandRequest, SandboxReport
from aircoding.workspace.backend import INPUT_FILE, Backend, Place
from aircoding.workspace.bubblewrap import Bubblewrap
from aircoding.workspace.canary import canary
from aircoding.workspace.keeper import process_group
from aircoding.workspace.kept_parts import KeptParts
from aircoding.workspace.landlock import SCOPE_ABI, Landlock, landlock_abi, landlock_fault
from aircoding.workspace.process import command_environment, run_process, shell_path
from aircoding.workspace.seatbelt import UNTRIED, Seatbelt

__all__ = ["ConfinedSandbox", "PlainSandbox", "choose_sandbox"]

_NAMES = ("auto", "bubblewrap", "landlock", "seatbelt", "external", "none")
_SHELL = "/bin/sh"


class PlainSandbox:
    """No confinement of ours: commands run with this user's rights (`external` and `none`)."""

    def __init__(self, report: SandboxReport, limits: CommandLimits | None = None) -> None:
        self.report = report
        self._limits = limits

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree; its home is a folder of its own that goes when it ends."""
        with tempfile.TemporaryDirectory(prefix="air-home-", ignore_cleanup_errors=True) as home:
            return await run_process(
                [_SHELL, "-c", request.command],
                cwd=_workdir(root, request.cwd),
                env=command_environment(shell_path(), home, request.env),
                timeout_seconds=request.timeout_seconds,
                max_output_bytes=request.max_output_bytes,
                input_file=_input_file(request, home),
                limits=self._limits,
            )


class ConfinedSandbox:
    """Commands see the system read-only, the worktree writable, a home of their own, and no network."""

    def __init__(self, backend: Backend, report: SandboxReport, limits: CommandLimits | None = None) -> None:
        self.report = report
        self._backend, self._limits = backend, limits

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree; when it ends or is cancelled, its whole process tree ends."""
        with tempfile.TemporaryDirectory(prefix="air-view-", ignore_cleanup_errors=True) as scratch:
            place = Place(_workdir(root, "."), _workdir(root, request.cwd), shell_path(), Path(scratch))
            input_file = _input_file(request, scratch)
            prepared = self._backend.prepare(request, [_SHELL, "-c", request.command], place)
            kept = None if self._backend.holds_parts or not request.writable else _kept(place.root)
            changed: tuple[str, ...] = ()
            try:
                outcome = await run_process(
                    prepared.arguments,
                    cwd=place.workdir,
                    env=command_environment(place.path, prepared.home, (*prepared.env, *request.env)),
                    timeout_seconds=request.timeout_seconds,
                    max_output_bytes=request.max_output_bytes,
                    input_file=input_file,
                    limits=self._limits,
                )
            finally:
                if kept is not None:
                    changed = _put_back(kept)
        if not changed:
            return outcome
        note = f"[put back, since no command may change it: {', '.join(changed[:5])}]\n"
        return replace(outcome, output=f"{outcome.output}{note}")


def choose_sandbox(backend: str, limits: CommandLimits | None = None) -> ConfinedSandbox | PlainSandbox:
    """Return what confines commands.

    `auto` takes bubblewrap where a canary shows that it holds, else Landlock where that does, else nothing. Seatbelt is
    taken only by name.

    Raises:
        ConfigError: a back end was asked for by name and does not hold here, or the name is unknown.
    """
    if backend == "external":
        reason = "the user vouches for a container or virtual machine"
        return PlainSandbox(_unconfined("external", (reason,)), limits)
    if backend == "none":
        return PlainSandbox(_unconfined("none", ("switched off",)), limits)
    if backend not in _NAMES:
        raise ConfigError(f"no sandbox is called {backend!r}", hint=", ".join(_NAMES))
    reasons: list[str] = []
    for name in ("bubblewrap", "landlock") if backend == "auto" else (backend,):
        found = _backend(name)
        if isinstance(found, str):
            reasons.append(found)
            continue
        fault = canary(found, signals_held=_holds_signals(found))
        if fault:
            reasons.append(fault)
            continue
        gaps = (*found.gaps(), *_process_gap())
        report = SandboxReport(
            backend=found.name,
            filesystem=True,
            network=True,
            processes=_holds_signals(found),
            reasons=tuple(reasons),
            gaps=gaps,
        )
        return ConfinedSandbox(found, report, limits)
    if backend != "auto":
        raise ConfigError(f"the sandbox cannot be used: {reasons[0]}", hint='put it right, or set backend = "auto"')
    if sys.platform == "darwin":
        reasons = [UNTRIED]
    return PlainSandbox(_unconfined("none", tuple(reasons)), limits)


def _backend(name: str) -> Backend | str:
    """Return a back end to try, or why there is none of this name here."""
    if name == "bubblewrap":
        program = shutil.which("bwrap")
        return Bubblewrap.at(program) if program is not None else "bubblewrap is not installed"
    if name == "landlock":
        return landlock_fault() or Landlock(landlock_abi())
    program = shutil.which("sandbox-exec")
    return Seatbelt(program) if program is not None else f"there is no sandbox-exec here ({UNTRIED})"


def _holds_signals(backend: Backend) -> bool:
    return not isinstance(backend, Landlock) or backend.abi >= SCOPE_ABI


def _process_gap() -> tuple[str, ...]:
    """Say where the number of processes has no limit."""
    if not sys.platform.startswith("linux") or os.getuid() != 0:
        return ()
    group = process_group(1)
    if group is None:
        return ("the number of processes is not limited: root is exempt from it, and no control group can be made",)
    os.rmdir(group)
    return ()


def _unconfined(backend: str, reasons: tuple[str, ...]) -> SandboxReport:
    return SandboxReport(
        backend=backend, filesystem=False, network=False, processes=False, reasons=reasons, gaps=_process_gap()
    )


def _kept(root: str) -> KeptParts:
    try:
        return KeptParts.of(root)
    except OSError as error:
        raise WorkspaceError(f"{error.filename} cannot be read: {error.strerror}") from error


def _put_back(kept: KeptParts) -> tuple[str, ...]:
    try:
        return kept.put_back()
    except OSError as error:
        raise WorkspaceError(
            f"a command changed {error.filename}, and it cannot be put back: {error.strerror}",
            hint="remove that worktree",
        ) from error


def _input_file(request: CommandRequest, folder: str) -> str | None:
    """Write what a command reads into a folder that is gone when it has ended, and return the file."""
    if request.input_text is None:
        return None
    path = Path(folder, INPUT_FILE)
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
