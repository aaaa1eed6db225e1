"""Where a rule file stands, and the label that its text has in a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.records.layers import Scope, Trust
from aircoding.records.printable import printable, shown_path

__all__ = ["RuleOrigin"]

_SHOWN = 3
"""Most names of one kind in a label; a file can be imported by hundreds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOrigin:
    """Where a rule file stands. `folders` are what it speaks for (none: everything), `paths` the globs of that.

    `also` are the uris of its other names, `importers` those of the files that take it in.
    """

    uri: str
    trust: Trust
    level: int
    native: bool = True
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    importers: tuple[str, ...] = ()
    sequence: int = 0

    @property
    def scope(self) -> Scope:
        """What holds everywhere is shared by all workers of a run."""
        return Scope.SESSION if self.paths else Scope.RUN

    @property
    def title(self) -> str:
        """The label above the text; made of paths alone, since words of the file are screened with its text."""
        remarks = [f"also {_listed(shown_path(uri) for uri in self.also)}"] if self.also else []
        remarks += [f"imported by {_listed(shown_path(uri) for uri in self.importers)}"] if self.importers else []
        remarks += [f"for {_listed(f'{printable(folder)}/' for folder in self.folders)}"] if self.folders else []
        return shown_path(self.uri) + (f" ({'; '.join(remarks)})" if remarks else "")


def _listed(names: Iterable[str]) -> str:
    first = list(names)
    more = len(first) - _SHOWN
    return ", ".join(first[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
