"""Which projects may instruct agents: `~/.air/trust.json`, written only by the user's own command.

A project is known by its real path. With it the text of its policy is kept as it was trusted: what that file allows
counts only while the file is that text, and what changed since can be shown. Which of a plan's commands are approved is
kept elsewhere; keys of the file that are not ours stay as they are.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from aircoding.errors import ConfigError, WorkspaceError
from aircoding.sources.atomic_files import alone_in, replace_text
from aircoding.sources.files import read_text_file
from aircoding.sources.json_files import read_json_file

__all__ = ["PROJECT_POLICY", "is_trusted", "trust_project", "trusted_policy"]

PROJECT_POLICY = ".air/shared/permissions.yaml"
"""Where a project's policy lies in it."""

_FILE = "trust.json"
_KEY = "projects"
_POLICY = "policy"


def is_trusted(home: Path, root: Path) -> bool:
    """Whether the user trusts the files of the project at `root` to instruct.

    Args:
        home: the user's `~/.air`.
        root: the project root; links in it are resolved.

    Raises:
        ConfigError: `trust.json` cannot be read.
    """
    return os.path.realpath(root) in _projects(_read(home / _FILE), home)


def trusted_policy(home: Path, root: Path) -> str | None:
    """Return the text of the project's policy as it was when the user trusted the project; None if there was none.

    Raises:
        ConfigError: `trust.json` cannot be read.
    """
    entry = _projects(_read(home / _FILE), home).get(os.path.realpath(root))
    text = entry.get(_POLICY) if isinstance(entry, dict) else None
    return text if isinstance(text, str) else None


def trust_project(home: Path, root: Path) -> None:
    """Remember that the project at `root` is trusted, and its policy as it is now; the same again changes nothing.

    Raises:
        ConfigError: `trust.json` cannot be read.
        WorkspaceError: it cannot be written.
    """
    policy = read_text_file(root, PROJECT_POLICY)
    entry = {} if policy.problem is not None or policy.lossy else {_POLICY: policy.text}
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone_in(home):
            data = _read(home / _FILE)
            projects = _projects(data, home)
            real = os.path.realpath(root)
            if projects.get(real) != entry:
                trusted = {"version": 1, **data, _KEY: {**projects, real: entry}}
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
