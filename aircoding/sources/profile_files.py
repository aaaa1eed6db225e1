"""A profile on disk: its folder in `~/.air/profiles`, and its `SOUL.md` as the identity in L1 (DESIGN section 10)."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace
from pathlib import Path

from aircoding.errors import ConfigError, NotFoundError, WorkspaceError
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.segments import Barred, Segment
from aircoding.rules.identity import MAX_IDENTITY_CHARS, cut_identity, identity_line
from aircoding.sources.atomic_files import replace_text
from aircoding.sources.files import TextRead, list_folder, read_text_file
from aircoding.sources.resources import read_resource
from aircoding.sources.segments import Intake, barred

__all__ = ["DEFAULT_PROFILE", "SOUL", "checked_profile", "create_profile", "identity_segments", "profile_names"]
__all__ += ["read_profile", "read_soul", "require_profile"]

DEFAULT_PROFILE = "default"
SOUL = "SOUL.md"
_PROFILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FOLDER = "profiles"
_TITLE = "Who you are"


def checked_profile(name: str) -> str:
    """Return a profile's name as it was given.

    Raises:
        ConfigError: it is no name of a profile.
    """
    if _PROFILE_NAME.fullmatch(name) is None:
        raise ConfigError(
            f"`{name}` is no name of a profile",
            hint="use letters, digits, `-` and `_`, at most 64",
            code="profile.name",
        )
    return name


def profile_names(home: Path) -> tuple[str, ...]:
    """Return the profiles that are there, by name.

    Raises:
        ConfigError: the folder cannot be read.
    """
    names, problem = list_folder(home / _FOLDER)
    if problem is not None:
        raise ConfigError(f"{home / _FOLDER}: cannot be read: {problem}", hint="check the rights of the folder")
    return tuple(name for name in names if _PROFILE_NAME.fullmatch(name) and _is_folder(home / _FOLDER / name))


def require_profile(home: Path, name: str) -> None:
    """Refuse a profile that was never made; `default` need not be there.

    Raises:
        ConfigError: it is no name of a profile.
        NotFoundError: there is no such profile.
    """
    if checked_profile(name) != DEFAULT_PROFILE and not _is_folder(home / _FOLDER / name):
        raise NotFoundError(
            f"there is no profile `{name}`",
            hint=f"make it with `aircoding profile create {name}`; `aircoding profile list` shows those that are there",
            code="profile.unknown",
        )


def create_profile(home: Path, name: str) -> bool:
    """Make a profile with the packaged `SOUL.md`, for its owner alone; False when it has one already.

    Raises:
        ConfigError: it is no name of a profile.
        WorkspaceError: it cannot be written.
    """
    path = home / _FOLDER / checked_profile(name) / SOUL
    try:
        for folder in (home, home / _FOLDER, path.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        if os.path.lexists(path):
            return False
        replace_text(path, read_resource("init/soul.md"))
    except OSError as error:
        raise WorkspaceError(
            f"{path}: cannot be written: {error.strerror}", hint="check rights and free space"
        ) from error
    return True


def read_soul(home: Path, name: str) -> TextRead:
    """Read a profile's `SOUL.md`. Never raises: what cannot be read says so."""
    return read_text_file(home, f"{_FOLDER}/{name}/{SOUL}", inside=False)


def read_profile(home: Path, name: str) -> tuple[tuple[str, TextRead], ...]:
    """Read the files of a profile that are there: identity, stores of memory, topic files, by their path in `home`."""
    folder = f"{_FOLDER}/{name}"
    topics, _ = list_folder(home / folder / "memory")
    names = (SOUL, "MEMORY.md", "USER.md", *(f"memory/{topic}" for topic in topics if topic.endswith(".md")))
    reads = ((f"{folder}/{name}", read_text_file(home, f"{folder}/{name}", inside=False)) for name in names)
    return tuple((path, read) for path, read in reads if not read.absent)


def identity_segments(home: Path, name: str, *, intake: Intake) -> tuple[Segment, ...]:
    """Return the identity of a profile: the text and what is left out of it; nothing where there is no `SOUL.md`.

    Raises:
        ConfigError: it is no name of a profile.
    """
    uri = f"user:{_FOLDER}/{checked_profile(name)}/{SOUL}"
    read = read_soul(home, name)
    if read.absent and not (home / _FOLDER / name / SOUL).is_symlink():
        return ()
    text, left_out_chars = cut_identity(read.text)

    def candidate(text: str, fragment: str = "") -> Segment:
        return intake.segment(
            text,
            layer=Layer.L1,
            scope=Scope.FLEET,
            kind=SegmentKind.IDENTITY,
            trust=Trust.USER,
            uri=uri,
            digest=read.digest,
            title=_TITLE,
            fragment=fragment,
            shortened=False,
        )

    if read.problem is not None:
        return (_out(candidate(""), Reason.UNREADABLE, f"{uri}: {read.problem}"),)
    if not text:
        return (_out(candidate(""), Reason.INVALID, f"{uri} holds no text"),)
    whole = candidate(text)
    segments = (replace(whole, excerpt=identity_line(whole.text)),)
    if not left_out_chars:
        return segments
    detail = f"{left_out_chars} characters lie beyond the {MAX_IDENTITY_CHARS} that are taken of {uri}"
    return (*segments, _out(candidate("", "rest"), Reason.BUDGET, detail))


def _out(segment: Segment, reason: Reason, detail: str) -> Segment:
    return barred(segment, Barred(outcome=OutcomeKind.OMITTED, reason=reason, detail=detail))


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return False
