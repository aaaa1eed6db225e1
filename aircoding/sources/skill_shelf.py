"""Skills as a tool reads them: by name, and never a file that lies outside of the skill's own folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from aircoding.errors import PathRefusedError, WorkspaceError
from aircoding.records.skills import SkillText
from aircoding.rules.skill_file import Skill
from aircoding.sources.files import list_folder, printable, read_text_file
from aircoding.sources.skill_files import FoundSkill, SkillSet

__all__ = ["FileShelf"]

MAX_FILE_BYTES = 1_000_000
MAX_LISTED_FILES = 100
"""How many of its own files a skill names with its body."""
_MOST_PARTS = 2


class FileShelf:
    """The skills that can be read on demand; implements `ports.SkillShelf`. They are read anew for each instance."""

    def __init__(self, read: Callable[[], SkillSet]) -> None:
        self._skills: dict[str, tuple[FoundSkill, Skill]] = {pair[0].name: pair for pair in read().on_demand}

    def names(self) -> tuple[str, ...]:
        """Return the names of all skills that can be read, sorted."""
        return tuple(sorted(self._skills))

    def resolve(self, name: str, path: str) -> str | None:
        """Return the path of a skill's file (``: its `SKILL.md`) as the policy judges it; None: it lies in no file.

        It is relative to the project root, links resolved. The user's own skills are judged as `.air/skills/...`: that
        nothing else below `~/.air` is read is settled here, and denies by name (`*.pem`) hold for them too.

        Raises:
            PathRefusedError: the path leads out of the skill's folder, or too deep.
        """
        found, _ = self._skills[name]
        if found.root is None:
            if path:
                raise PathRefusedError(f"the skill {name} has no files", hint="read it without a path")
            return None
        folder = _folder(found)
        real = os.path.realpath(folder / _checked(path)) if path else os.path.realpath(found.root / found.path)
        if path and not _is_below(real, os.path.realpath(folder)):
            raise PathRefusedError(f"{printable(path)} leads out of the skill's folder", hint=_OWN_FILES)
        if found.is_project:
            return printable(os.path.relpath(real, os.path.realpath(found.root)))
        inner = os.path.relpath(real, os.path.realpath(folder)) if path else PurePosixPath(found.path).name
        return printable(f".air/{PurePosixPath(found.path).parent}/{inner}")

    def read(self, name: str, path: str) -> SkillText:
        """Return the body of a skill, or with `path` one of its own files.

        Raises:
            PathRefusedError: the path leads out of the skill's folder, or too deep.
            WorkspaceError: there is no such file, or it is no text.
        """
        found, skill = self._skills[name]
        if not path:
            return SkillText(
                uri=found.uri,
                trust=found.trust,
                text=skill.body,
                digest=found.digest,
                start_line=skill.body_start_line,
                files=_files(found),
            )
        self.resolve(name, path)
        read = read_text_file(_folder(found).resolve(), _checked(path), max_bytes=MAX_FILE_BYTES)
        if read.problem is not None:
            listed = ", ".join(_files(found)) or "none"
            raise WorkspaceError(f"{printable(path)}: {read.problem}", hint=f"the files of the skill {name}: {listed}")
        uri = f"{found.uri.rsplit('/', 1)[0]}/{printable(_checked(path))}"
        return SkillText(uri=uri, trust=found.trust, text=read.text, digest=read.digest)


_OWN_FILES = "name a file in the skill's folder, or in a folder right below it"


def _folder(found: FoundSkill) -> Path:
    assert found.root is not None  # noqa: S101 - the caller looked
    return (found.root / found.path).parent


def _checked(path: str) -> str:
    """Return a path of one file, at most one folder deep."""
    parts = PurePosixPath(path).parts
    if (
        not _is_name(path)
        or "\0" in path
        or path.startswith("/")
        or ".." in parts
        or not 1 <= len(parts) <= _MOST_PARTS
    ):
        raise PathRefusedError(f"{printable(path)} is no path of a skill's own file", hint=_OWN_FILES)
    return "/".join(parts)


def _is_name(path: str) -> bool:
    """Whether a file can be called so: a lone half of a character is no name, bytes that are no UTF-8 are."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _is_below(real: str, folder: str) -> bool:
    return real.startswith(folder.rstrip("/") + "/")


def _files(found: FoundSkill) -> tuple[str, ...]:
    """Return the skill's other files, in its folder and those right below it."""
    if found.root is None:
        return ()
    folder = _folder(found)
    names, _ = list_folder(folder)
    listed: list[str] = []
    for name in names:
        if not (folder / name).is_dir():
            listed.append(name)
        elif name != ".git":
            below, _ = list_folder(folder / name)
            listed += [f"{name}/{inner}" for inner in below if (folder / name / inner).is_file()]
    own = PurePosixPath(found.path).name
    return tuple(printable(one) for one in listed if one != own)[:MAX_LISTED_FILES]
