"""Which files of a repository the words of a hook's command name, as far as words can tell, and their digests."""

from __future__ import annotations

import glob
import itertools
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.sources.files import TextRead, read_text_file

__all__ = ["MOST_COVERED_BYTES", "MOST_COVERED_FILES", "CoveredFiles", "named_paths"]

MOST_COVERED_FILES = 1_000
MOST_COVERED_BYTES = 16_000_000
_MOST_GLOB_HITS = 2 * MOST_COVERED_FILES
_LEFT_OUT = (".git", ".air/local")
"""Parts of a named folder that are nobody's program: git's own, and the record of this machine."""
_HERE = re.compile(r"\$(?:PWD\b|\{PWD\})")
_BETWEEN = re.compile(r"[\s;&|()<>\"'`=,{}:@$]+")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(slots=True)
class CoveredFiles:
    """Takes in files and whole folders below a root, each once, within the limits.

    `digests` are by the name under which a file is reached, `faults` say by the name what cannot be covered.
    """

    root: Path
    digests: dict[str, Digest] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _bytes: int = 0

    def take(self, name: str) -> tuple[str, ...]:
        """Take in what `name` is now and return the files that this covers; a folder counts with all that is in it."""
        if not (self.root / name).is_dir():
            return self._file(name)
        inside = tuple(itertools.islice(self._below(name), MOST_COVERED_FILES + 1))
        return tuple(covered for one in inside for covered in self._file(one) if not self._is_full())

    def _below(self, name: str) -> Iterator[str]:
        """Yield the files of a folder, and of folders to which links in it lead."""
        waiting, seen = [name], set[str]()
        while waiting:
            folder = waiting.pop(0)
            real = _inside(self.root, os.path.realpath(self.root / folder))
            if real is None:
                self.faults.append(f"{folder} is a link that leaves the project")
                continue
            if real in seen:
                continue
            seen.add(real)
            try:
                entries = sorted(os.scandir(self.root / folder), key=lambda one: one.name)
            except OSError as error:
                self.faults.append(f"{folder} cannot be read: {error.strerror}")
                continue
            for entry in entries:
                below = entry.name if folder == "." else f"{folder}/{entry.name}"
                if below in _LEFT_OUT:
                    continue
                if entry.is_dir():
                    if entry.is_symlink():
                        self.digests[f"{below}/"] = sha256_text(os.readlink(entry.path))
                    waiting.append(below)
                else:
                    yield below

    def _file(self, name: str) -> tuple[str, ...]:
        if name in self.digests:
            return (name,)
        if self._is_full():
            return ()
        found = read_text_file(self.root, name, max_bytes=MOST_COVERED_BYTES)
        if not _was_read(found):
            self.faults.append(f"{name} cannot be read: {found.problem}")
        self.digests[name], self._bytes = found.digest, self._bytes + found.size_bytes
        if found.problem is None:
            self.texts[name] = found.text
        if self._is_full():
            self.faults.append(
                f"the files that it names are more than {MOST_COVERED_FILES}, or than {MOST_COVERED_BYTES} bytes: "
                "name single files"
            )
        return (name,)

    def _is_full(self) -> bool:
        return len(self.digests) > MOST_COVERED_FILES or self._bytes > MOST_COVERED_BYTES


def named_paths(root: Path, command: Iterable[str]) -> tuple[str, ...]:
    """Return the files and folders below `root` that words of a command name, as paths from the root, sorted.

    A word counts as a whole and in its parts, as a shell and as other programs part a text; a name that leads through
    links is taken as it is written and where it leads. For Python its modules count too.
    """
    words = tuple(command)
    modules = "python" in os.path.basename(words[0])
    found: set[str] = set()
    for word in words:
        for part in {word, *_parts(word)}:
            if modules and part != word and not part.strip("*?./"):
                continue  # a sign of the language, not every file
            found.update(_places(root, part))
            if modules and _MODULE.fullmatch(part):
                top = part.split(".")[0]
                found.update((*_places(root, top), *_places(root, f"{top}.py")))
    return tuple(sorted(found))


def _parts(word: str) -> set[str]:
    """Return what may be a path in a word: its shell words, what separators part, the value glued to an option."""
    text = _HERE.sub(".", word)
    try:
        shell = shlex.split(text, comments=False)
    except ValueError:
        shell = []
    pieces = {piece for one in (text, *shell) for piece in _BETWEEN.split(one)}
    glued = {piece[2:] for piece in pieces if piece.startswith("-")}
    return {piece for piece in (*shell, *pieces, *glued) if piece.strip("./")}


def _places(root: Path, part: str) -> Iterator[str]:
    if not part or "\0" in part:
        return
    if any(char in part for char in "*?["):
        hits = glob.iglob(part, root_dir=root, include_hidden=True)
        names = [part, *itertools.islice(hits, _MOST_GLOB_HITS)]
    else:
        names = [part]
    for name in names:
        whole = os.path.join(root, name)
        if not os.path.exists(whole):
            continue
        for place in {os.path.normpath(whole), os.path.realpath(whole)}:
            inside = _inside(root, place)
            if inside is not None and os.path.exists(place):
                yield inside


def _inside(root: Path, path: str) -> str | None:
    for base in (Path(os.path.normpath(root)), Path(os.path.realpath(root))):
        if Path(path).is_relative_to(base):
            return Path(path).relative_to(base).as_posix()
    return None


def _was_read(found: TextRead) -> bool:
    """Whether the digest is of a file's bytes; a program may be a binary file."""
    return found.problem is None or bool(found.raw)
