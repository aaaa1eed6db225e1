"""What one command would use, gathered before any of it is judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from aircoding.permissions.shell_parse import Assigned
from aircoding.permissions.shell_words import Word

__all__ = ["Script", "Uses"]


@dataclass(frozen=True, slots=True)
class Script:
    """A text that a shell runs; `apart` in a shell of its own, so that its `cd` stays there.

    A `possible` script is one that a program may run which is not known: only what must be refused in it counts.
    """

    text: str
    apart: bool = True
    possible: bool = False


@dataclass(slots=True)
class Uses:
    """Paths with their access (read, write, or tree: with all below), URLs, commands, scripts, and why to ask."""

    paths: list[tuple[Word, str]] = field(default_factory=list)
    urls: list[Word] = field(default_factory=list)
    commands: list[tuple[Word, ...]] = field(default_factory=list)
    scripts: list[Script] = field(default_factory=list)
    assigned: list[Assigned] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    denials: list[str] = field(default_factory=list)
    placeholder: str = ""
    """The text in the words of `commands` that is replaced by what only a run tells."""
    folder: Word | None = None
    """The folder that relative paths are taken from, where the command changes it for itself."""

    def read(self, word: Word) -> None:
        """Note a path that is read."""
        self.paths.append((word, "read"))

    def write(self, word: Word) -> None:
        """Note a path that is written."""
        self.paths.append((word, "write"))
