"""In which folder each command of a line runs: `cd` moves the rest of its shell, if it works."""

from __future__ import annotations

from dataclasses import dataclass, field

from aircoding.permissions.shell_parse import Joint

__all__ = ["Folders"]

_MOST = 8
"""Folders that a command may be in before they count as unknown; two come of each `cd` that may fail."""

_Set = frozenset[str] | None


def _union(left: _Set, right: _Set) -> _Set:
    if left is None or right is None or len(left | right) > _MOST:
        return None
    return left | right


_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Shell:
    """One shell's folders: if the commands so far worked, if the last failed, and where `||` skipped to."""

    here: _Set
    failed: _Set = field(default=_NONE)
    skipped: _Set = field(default=_NONE)


class Folders:
    """The folders that the next command may run in; None when they are not known before it runs."""

    def __init__(self, here: _Set) -> None:
        self._shells = [_Shell(here)]

    @property
    def here(self) -> _Set:
        """Where the next command runs."""
        return self._shells[-1].here

    def enter(self) -> None:
        """Begin a shell of its own."""
        self._shells.append(_Shell(self.here))

    def leave(self) -> None:
        """End it; what it changed is forgotten."""
        if len(self._shells) > 1:
            self._shells.pop()

    def ran(self) -> None:
        """A command ran, and may have failed."""
        shell = self._shells[-1]
        shell.failed = _union(shell.failed, shell.here)

    def moved(self, to: _Set) -> None:
        """A `cd` ran: it worked, or the folder is as before."""
        shell = self._shells[-1]
        shell.failed = _union(shell.failed, shell.here)
        shell.here = to

    def join(self, joint: Joint) -> None:
        """The next command hangs on those before."""
        shell = self._shells[-1]
        if joint is Joint.OR:
            shell.skipped = _union(shell.skipped, shell.here)
            shell.here, shell.failed = (shell.failed or shell.here if shell.failed is not None else None), _NONE
        elif joint is Joint.ANY:
            shell.here = _union(_union(shell.here, shell.failed), shell.skipped)
            shell.failed = shell.skipped = _NONE
