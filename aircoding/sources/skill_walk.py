"""Which `SKILL.md` files lie below a folder: bounded in depth and number, and the same in any order of a listing."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

from aircoding.records.diagnostics import Diagnostic
from aircoding.sources.files import list_folder, printable, read_text_file

__all__ = ["LINK_AS_TEXT", "MAX_DEPTH", "MAX_FOLDERS", "SkillWalk", "link_as_text", "skill_file_in"]

MAX_DEPTH = 6
MAX_FOLDERS = 2_000
"""How deep and how wide is looked (the client guide of the specification: 4 to 6 levels, at most 2,000 folders)."""

LINK_AS_TEXT = "skill.link_as_text"
"""The remark on a file that should be a link to a folder."""
_FILE_NAMES = ("SKILL.md", "skill.md")
_NOT_LOOKED_INTO = frozenset({".git", "node_modules"})
_FORBIDDEN = (".git", ".air/local")
_MAX_LINK_BYTES = 4_096
"""A longer text is no path (`PATH_MAX` of Linux)."""


def skill_file_in(names: list[str]) -> str | None:
    """Return which of a folder's names is that of a skill file."""
    return next((name for name in _FILE_NAMES if name in names), None)


def link_as_text(root: Path, path: str, *, inside: bool = True) -> str | None:
    """Return the folder that a regular file names by its whole text: what a checkout without links makes of one (E20).

    Args:
        root: what `path` is relative to.
        path: of the file.
        inside: whether a link that leaves `root` is refused.
    """
    read = read_text_file(root, path, inside=inside, max_bytes=_MAX_LINK_BYTES)
    named = read.text.strip()
    if read.problem is not None or read.linked or not named or "\n" in named or "\0" in named or named[0] in "/~":
        return None
    return named if os.path.isdir(os.path.normpath(root / os.path.dirname(path) / named)) else None


class SkillWalk:
    """Looks through folders; the limits hold for all of one walk together, and what they cut off is remarked."""

    def __init__(self) -> None:
        self._folders = 0
        self.diagnostics: list[Diagnostic] = []

    def files(self, root: Path, folder: str, scheme: str, *, inside: bool) -> list[str]:
        """Return the paths, relative to `root`, of the skill files below `folder`, the shallow ones first.

        A folder that holds a skill is not looked into: what lies below is the skill's own.

        Args:
            root: the project root, or the user's `~/.air`.
            folder: relative to it; its own files are no skills.
            scheme: of the uris in remarks (`project`, `user`).
            inside: whether links that leave `root` are refused.
        """
        base = os.path.realpath(root)
        seen: dict[str, str] = {}
        found: list[str] = []
        waiting = deque([(folder, 0)])
        while waiting:
            current, depth = waiting.popleft()
            uri = f"{scheme}:{printable(current)}"
            real = os.path.realpath(root / current)
            if inside and _leaves(real, base):
                self._remark("outside", "it is a link that leaves the project; it was not followed", uri)
                continue
            names, problem = list_folder(Path(real))
            if problem is not None:
                self._remark("unreadable", f"the skills in this folder were not read: {problem}", uri)
                continue
            own = skill_file_in(names)
            if real in seen and (own is None or depth == 0):
                self._remark("linked", f"it is the same folder as {seen[real]}, and is looked into once", uri)
                continue
            seen.setdefault(real, uri)
            if self._folders >= MAX_FOLDERS:
                self._remark("too_many", f"{MAX_FOLDERS} folders were looked into; this one and others were not", uri)
                break
            self._folders += 1
            if own is not None and depth > 0:
                found.append(f"{current}/{own}")
                continue
            if own is not None:
                self._remark("misplaced", f"{own} lies among the skills; it belongs in a folder of its own", uri)
            below = [f"{current}/{name}" for name in names if name not in _NOT_LOOKED_INTO]
            folders = [path for path in below if os.path.isdir(root / path)]
            if depth == 0:
                self._links_as_text(root, [path for path in (current, *below) if path not in folders], scheme, inside)
            if folders and depth == MAX_DEPTH:
                self._remark("too_deep", f"folders more than {MAX_DEPTH} levels deep were not looked into", uri)
                continue
            waiting.extend((path, depth + 1) for path in folders)
        return found

    def _links_as_text(self, root: Path, paths: list[str], scheme: str, inside: bool) -> None:
        for path in paths:
            named = link_as_text(root, path, inside=inside) if os.path.isfile(root / path) else None
            if named is not None:
                said = (
                    f"it is a file that holds only the name of the folder {printable(named)}, so no skill is read here"
                )
                self._remark("link_as_text", said, f"{scheme}:{printable(path)}")

    def _remark(self, code: str, message: str, uri: str) -> None:
        self.diagnostics.append(
            Diagnostic(severity="warning", code=f"skill.{code}", message=message, uri=uri, hint=_HINTS[code])
        )


_HINTS = {
    "outside": "copy the folder into the project, or put it into ~/.air/skills",
    "unreadable": "check its rights",
    "linked": "remove the link if it is not meant",
    "link_as_text": "make it a link (`git config core.symlinks true`, then check it out anew), or copy the folder",
    "too_many": "move what is no skill elsewhere",
    "misplaced": "move it to skills/NAME/SKILL.md",
    "too_deep": "move the skills up",
}


def _leaves(real: str, base: str) -> bool:
    """Whether a real path lies outside the project, or in a part of it that no link may lead into."""
    if real != base and not real.startswith(base.rstrip("/") + "/"):
        return True
    inner = os.path.relpath(real, base)
    return any(inner == part or inner.startswith(f"{part}/") for part in _FORBIDDEN)
