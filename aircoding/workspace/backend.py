"""What every back end of the sandbox answers: how a program is started so that it is confined, and what is not held."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from aircoding.records.work import CommandRequest

__all__ = ["INPUT_FILE", "Backend", "Place", "Prepared"]

INPUT_FILE = "air-input"
"""In the scratch folder: what a command reads, when it is given something."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs: `root`, the worktree, and `workdir` in it, both real paths; PATH; a folder for its time."""

    root: str
    workdir: str
    path: str
    scratch: Path


@dataclass(frozen=True, slots=True)
class Prepared:
    """The command line that confines a program, its home, and variables that it needs here."""

    arguments: list[str]
    home: str
    env: tuple[tuple[str, str], ...] = ()


class Backend(Protocol):
    """One way to confine. `holds_parts`: `.git` and `.air` of a worktree cannot be changed, not even for a while."""

    @property
    def name(self) -> str:
        """The name in settings and reports."""
        ...

    @property
    def holds_parts(self) -> bool:
        """Whether a writable worktree keeps those parts by itself."""
        ...

    def gaps(self) -> tuple[str, ...]:
        """Return what it does not hold, a phrase each."""
        ...

    def prepare(self, request: CommandRequest, program: list[str], place: Place) -> Prepared:
        """Return how a program is started. Files that it needs for that go to the place's scratch folder."""
        ...
