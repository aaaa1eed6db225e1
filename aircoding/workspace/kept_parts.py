"""What a command must leave as it is although its sandbox cannot hold it: `.git` and `.air` of a worktree."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["KeptParts"]

_PARTS = (".git", ".air")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file with its bytes, a link with where it leads, or a folder with nothing; and its mode with its kind."""

    mode: int
    holds: bytes


@dataclass(frozen=True, slots=True)
class KeptParts:
    """Those parts that a worktree had before a command, by path, each folder before what lies in it."""

    root: Path
    before: Mapping[str, _Entry]

    @classmethod
    def of(cls, root: str) -> KeptParts:
        """Take them down. They are small: a line in `.git`, rules and plans in `.air`.

        Raises:
            OSError: one of them cannot be read.
        """
        there = [part for part in _PARTS if os.path.lexists(os.path.join(root, part))]
        return cls(Path(root), dict(entry for part in there for entry in _entries(Path(root), part, None)))

    def put_back(self) -> tuple[str, ...]:
        """Undo what was changed and return it, sorted. Nothing of the command may run any more.

        Raises:
            OSError: it cannot be undone.
        """
        parts = sorted({path.partition("/")[0] for path in self.before})
        after = dict(entry for part in parts for entry in _entries(self.root, part, self.before))
        changed = sorted(path for path in {*self.before, *after} if self.before.get(path) != after.get(path))
        for path in changed:
            if path in after and (path not in self.before or _kind(after[path]) != _kind(self.before[path])):
                _remove(self.root / path)
        for path in changed:
            if path in self.before:
                _restore(self.root / path, self.before[path])
        return tuple(changed)


def _kind(entry: _Entry) -> int:
    return stat.S_IFMT(entry.mode)


def _entries(root: Path, path: str, known: Mapping[str, _Entry] | None) -> Iterator[tuple[str, _Entry]]:
    """Walk what is there. Of files only so much is read as tells them from those that are known, where some are."""
    place = root / path
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        yield path, _Entry(mode, b"")
        for name in sorted(os.listdir(place)):
            yield from _entries(root, f"{path}/{name}", known)
    elif stat.S_ISLNK(mode):
        yield path, _Entry(mode, os.fsencode(os.readlink(place)))
    else:
        yield path, _Entry(mode, _bytes(place, path, known) if stat.S_ISREG(mode) else b"")


def _bytes(place: Path, path: str, known: Mapping[str, _Entry] | None) -> bytes:
    if known is None:
        return place.read_bytes()
    with place.open("rb") as file:
        return file.read(len(known[path].holds) + 1) if path in known else b""


def _remove(place: Path) -> None:
    with contextlib.suppress(FileNotFoundError):  # it went with its folder
        if stat.S_ISDIR(place.lstat().st_mode):
            shutil.rmtree(place)
        else:
            place.unlink()


def _restore(place: Path, entry: _Entry) -> None:
    if stat.S_ISLNK(entry.mode):
        place.unlink(missing_ok=True)
        place.symlink_to(os.fsdecode(entry.holds))
        return
    if stat.S_ISDIR(entry.mode):
        place.mkdir(exist_ok=True)
    elif stat.S_ISREG(entry.mode):
        place.unlink(missing_ok=True)  # it may have another name by now: nothing is written through it
        place.write_bytes(entry.holds)
    place.chmod(stat.S_IMODE(entry.mode))
