"""Which projects may instruct agents: `~/.air/trust.json`, written only by the user's own command.

A project is known by its real path. Whether a version of its policy or its plan's commands is approved is a matter
of digests and kept elsewhere; keys of the file that are not ours stay as they are.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from aircoding.errors import ConfigError, WorkspaceError
from aircoding.sources.atomic_files import alone_in, replace_text
from aircoding.sources.json_files import read_json_file

__all__ = ["is_trusted", "trust_project"]

_FILE = "trust.json"
_KEY = "projects"


def is_trusted(home: Path, root: Path) -> bool:
    """Whether the user trusts the files of the project at `root` to instruct.

    Args:
        home: the user's `~/.air`.
        root: the project root; links in it are resolved.

    Raises:
        ConfigError: `trust.json` cannot be read.
    """
    return os.path.realpath(root) in _projects(_read(home / _FILE), home)


def trust_project(home: Path, root: Path) -> None:
    """Remember that the project at `root` is trusted; the same project again changes nothing.

    Raises:
        ConfigError: `trust.json` cannot be read.
        WorkspaceError: it cannot be written.
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone_in(home):
            data = _read(home / _FILE)
            projects = _projects(data, home)
            real = os.path.realpath(root)
            if real not in projects:
                trusted = {"version": 1, **data, _KEY: {**projects, real: {}}}
                replace_text(home / _FILE, json.dumps(trusted, indent=2, sort_keys=True) + "\n")
    except OSError as error:
        raise WorkspaceError(
            f"{home / _FILE}: cannot be written: {error.strerror}", hint="check rights and free space"
        ) from error


def _read(path: Path) -> dict[str, Any]:
    read = read_json_file(path.parent, path.name, inside=False)
    if read.absent:
        return {}
    if read.problem is not None:
        raise ConfigError(
            f"{path}: cannot be read: {read.problem}", hint="correct the file, or delete it to trust anew"
        )
    if not isinstance(read.value, dict):
        raise ConfigError(f"{path}: is no JSON object", hint="delete it to trust anew")
    return read.value


def _projects(data: dict[str, Any], home: Path) -> dict[str, Any]:
    projects = data.get(_KEY, {})
    if not isinstance(projects, dict):
        raise ConfigError(f"{home / _FILE}: `{_KEY}` must be an object", hint="delete the file to trust anew")
    return projects
