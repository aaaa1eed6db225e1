"""What the user allowed although the screener found it: `~/.air/screening.json`, by path, digest and rule.

Only the user's own command writes there, so no repository can allow itself anything; a changed file has to be looked
at anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from aircoding.errors import ConfigError, WorkspaceError
from aircoding.records.ids import Digest
from aircoding.screening.allowances import Allowance
from aircoding.sources.atomic_files import alone_in, replace_text
from aircoding.sources.json_files import read_json_file

__all__ = ["allowances_for", "allowed_in", "change_allowances"]

_FILE = "screening.json"
_FIELDS = ("path", "sha256", "rule")
Entry = tuple[str, str, str]
"""The real path of a file, the digest of its bytes, the code of a rule."""


def allowed_in(home: Path) -> frozenset[Entry]:
    """Return every entry.

    Raises:
        ConfigError: `screening.json` is damaged.
    """
    path = home / _FILE
    read = read_json_file(home, _FILE, inside=False)
    if read.absent:
        return frozenset()
    hint = "correct or delete it; what you allowed is then blocked again"
    if read.problem is not None:
        raise ConfigError(f"{path}: cannot be read: {read.problem}", hint=hint)
    entries = read.value.get("allowed") if isinstance(read.value, dict) else None
    if not isinstance(entries, list) or not all(_is_entry(one) for one in entries):
        raise ConfigError(f"{path}: is no list of entries with {', '.join(_FIELDS)}", hint=hint)
    return frozenset((one["path"], one["sha256"], one["rule"]) for one in entries)


def change_allowances(home: Path, edit: Callable[[frozenset[Entry]], Iterable[Entry]]) -> None:
    """Put other entries in the place of those that are there; writers wait for each other.

    Raises:
        ConfigError: `screening.json` is damaged.
        WorkspaceError: it cannot be written.
    """
    path = home / _FILE
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone_in(home):
            entries = [dict(zip(_FIELDS, one, strict=True)) for one in sorted(set(edit(allowed_in(home))))]
            replace_text(path, json.dumps({"version": 1, "allowed": entries}, indent=1) + "\n")
    except OSError as error:
        raise WorkspaceError(
            f"{path}: cannot be written: {error.strerror}", hint="check rights and free space"
        ) from error


def allowances_for(home: Path, root: Path, user_home: Path) -> frozenset[Allowance]:
    """Return what is allowed, under every name that a source of the project at `root` may have.

    Args:
        home: the user's `~/.air`, whose files are named `user:…`.
        root: the project root, whose files are named `project:…`.
        user_home: whose files are named `~/…`; all others have their whole path as their name.

    Raises:
        ConfigError: `screening.json` is damaged.
    """
    bases = ((root, "project:"), (home, "user:"), (user_home, "~/"), (Path("/"), "/"))
    found = set()
    for path, digest, rule in allowed_in(home):
        for base, scheme in bases:
            real = os.path.realpath(base)
            if Path(path).is_relative_to(real):
                inner = Path(path).relative_to(real).as_posix()
                found.add(Allowance(f"{scheme}{inner}", Digest(digest), rule))
    return frozenset(found)


def _is_entry(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(name), str) for name in _FIELDS)
