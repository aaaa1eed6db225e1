"""What `aircoding profile` does: list the user's profiles, show one, make one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aircoding.app.project import find_root
from aircoding.app.screener import user_screener
from aircoding.homes import air_home
from aircoding.records.layers import Trust
from aircoding.records.printable import shown_path
from aircoding.rules.identity import MAX_IDENTITY_CHARS, cut_identity, identity_line
from aircoding.rules.memory_entries import MemoryKind, read_entries, used_chars
from aircoding.settings import load_settings
from aircoding.sources.files import TextRead
from aircoding.sources.installation import installation_key
from aircoding.sources.profile_files import (
    SOUL,
    create_profile,
    profile_names,
    read_profile,
    read_soul,
    require_profile,
)

__all__ = ["ProfileFile", "ProfileHead", "ProfileMade", "ProfileView", "list_profiles", "make_profile", "show_profile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileHead:
    """A line of the list of profiles. `is_set` says that it is the one that the settings name here."""

    name: str
    path: str
    is_set: bool
    identity: str | None
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFile:
    """A file of a profile: where it is, how long it is, and what is wrong with it."""

    path: str
    size_bytes: int
    used_chars: int
    limit_chars: int | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileView:
    """A profile: its files, its identity as agents get it, and the one line that those in mode minimal get.

    `blocked` says why the identity would not reach a prompt.
    """

    name: str
    is_set: bool
    files: tuple[ProfileFile, ...]
    identity: str
    line: str | None
    blocked: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileMade:
    """What `create` did; `made` is False where the profile had its `SOUL.md` already."""

    name: str
    path: str
    made: bool


def list_profiles(start: Path) -> tuple[ProfileHead, ...]:
    """Return the profiles that are there.

    Raises:
        ConfigError: the folder, or a settings file, cannot be read.
    """
    home, chosen = air_home(), load_settings(find_root(start)).identity.profile
    return tuple(_head(home, name, is_set=name == chosen) for name in profile_names(home))


def show_profile(start: Path, name: str | None) -> ProfileView:
    """Return a profile; none named: the one that the settings name.

    Raises:
        NotFoundError: there is no such profile.
        ConfigError: it is no name of a profile.
    """
    home, chosen = air_home(), load_settings(find_root(start)).identity.profile
    shown = name or chosen
    require_profile(home, shown)
    text, _ = cut_identity(read_soul(home, shown).text)
    screener = user_screener(installation_key(home))
    masked = screener.mask(text)
    uri = f"user:profiles/{shown}/{SOUL}"
    hits = [found for found in screener.findings(masked, uri=uri, trust=Trust.USER) if found.blocks]
    return ProfileView(
        name=shown,
        is_set=shown == chosen,
        files=tuple(_file(path, read) for path, read in read_profile(home, shown)),
        identity=masked,
        line=identity_line(masked),
        blocked=f"line {hits[0].start_line}: {hits[0].detail or hits[0].code}" if hits else None,
    )


def make_profile(name: str) -> ProfileMade:
    """Make a profile with the default identity; one that is there keeps its own.

    Raises:
        ConfigError: it is no name of a profile.
        WorkspaceError: it cannot be written.
    """
    made = create_profile(air_home(), name)
    return ProfileMade(name=name, path=shown_path(f"user:profiles/{name}/{SOUL}"), made=made)


def _head(home: Path, name: str, *, is_set: bool) -> ProfileHead:
    return ProfileHead(
        name=name,
        path=shown_path(f"user:profiles/{name}"),
        is_set=is_set,
        identity=identity_line(cut_identity(read_soul(home, name).text)[0]),
        size_bytes=sum(read.size_bytes for _, read in read_profile(home, name)),
    )


def _file(path: str, read: TextRead) -> ProfileFile:
    name = path.rsplit("/", 1)[-1]
    used, limit = len(read.text.strip()), MAX_IDENTITY_CHARS if name == SOUL else None
    for kind in (MemoryKind.NOTES, MemoryKind.USER):
        if name == kind.file_name and path.count("/") == 2:
            used, limit = used_chars([entry.text for entry in read_entries(read.text)]), kind.limit_chars
    return ProfileFile(
        path=shown_path(f"user:{path}"),
        size_bytes=read.size_bytes,
        used_chars=used,
        limit_chars=limit,
        problem=read.problem,
    )
