"""What happens in a worktree: commands, changes, commits."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.records.ids import Digest

__all__ = [
    "Change",
    "CommandLimits",
    "CommandOutcome",
    "CommandRequest",
    "FileText",
    "MergeOutcome",
    "SandboxReport",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A command to run in a worktree. `cwd` is relative to it; limits are per command.

    `writable_paths` are folders outside the worktree that it may write (package caches; `~` is the user's home).
    `input_text` is what it reads; with one, its stderr is kept apart (`CommandOutcome.errors`). None: it reads nothing.
    """

    command: str
    cwd: str = "."
    timeout_seconds: float = 600.0
    network: bool = False
    env: tuple[tuple[str, str], ...] = ()
    max_output_bytes: int = 4_000_000
    writable: bool = True
    writable_paths: tuple[str, ...] = ()
    input_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """How a command ended. `output` is stdout and stderr in the order in which they came.

    Of a command that was given an input, `output` is its stdout and `errors` its stderr.
    """

    exit_code: int | None
    output: str
    duration_seconds: float
    timed_out: bool = False
    truncated: bool = False
    errors: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits:
    """What a command may use beside its wall time (`CommandRequest.timeout_seconds`).

    `memory_bytes` is writable memory and `file_bytes` the size of a file, each for one process; `cpu_seconds` is for
    one process (0: its wall time on every core); `processes` counts processes and threads of one command together.
    """

    memory_bytes: int = 8 * 1024**3
    file_bytes: int = 4 * 1024**3
    cpu_seconds: int = 0
    processes: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxReport:
    """What confines commands: `backend` is bubblewrap, landlock, seatbelt, external, or none.

    `filesystem`: nothing outside is written or read but the system's own files. `network`: none unless asked for.
    `processes`: those outside are neither signalled nor traced. `reasons` say why this back end and no better one;
    `gaps` say what it does not hold, by its design or on this machine.
    """

    backend: str
    filesystem: bool
    network: bool
    processes: bool
    reasons: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A text file as read: the digest is of its raw bytes."""

    path: str
    text: str
    digest: Digest
    size_bytes: int
    lossy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path that differs from a commit; `status` is added, modified, deleted, or untracked."""

    path: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOutcome:
    """What a merge gave: the commit when clean, else the conflicting paths (left in the tree)."""

    commit: str | None
    conflicts: tuple[str, ...] = ()
