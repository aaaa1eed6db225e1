"""What happens in a worktree: commands, changes, commits."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.records.ids import Digest

__all__ = ["Change", "CommandOutcome", "CommandRequest", "FileText", "MergeOutcome", "SandboxReport"]


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
class SandboxReport:
    """What confines commands: `backend` is bubblewrap, external, or none; `reasons` say why."""

    backend: str
    filesystem: bool
    network: bool
    processes: bool
    reasons: tuple[str, ...] = ()


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
