"""What this installation keeps in `~/.air`: the key of its secret ids, and what a person approved.

Approved are commands that a plan or set-up needs, by their fingerprints, and a project's hooks, by the digest of all
their files.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from aircoding.errors import WorkspaceError
from aircoding.records.ids import Digest
from aircoding.sources.project_choices import ProjectChoices

__all__ = ["approve", "approved", "installation_key", "present_key"]

_KEY_FILE = "installation.key"
_KEY_BYTES = 32
_APPROVALS = ProjectChoices(file_name="approvals.json", without="commands and hooks then have to be approved again")


def installation_key(home: Path) -> bytes:
    """Return the key under which ids of secrets are made; the first call makes it, readable by the user only.

    Raises:
        WorkspaceError: it cannot be made or read.
    """
    path = home / _KEY_FILE
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            key = path.read_bytes()
            if len(key) == _KEY_BYTES:
                return key
            raise WorkspaceError(f"{path}: is damaged", hint="delete it; ids of secrets then change") from None
        key = secrets.token_bytes(_KEY_BYTES)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
    except OSError as error:
        raise WorkspaceError(
            f"{path}: {error.strerror}", hint="check rights and free space, or set AIR_HOME to a folder of yours"
        ) from error
    return key


def present_key(home: Path) -> bytes:
    """Return the key for what only looks: where there is none, none is made, and ids then fit to no others."""
    try:
        return (home / _KEY_FILE).read_bytes()
    except OSError:
        return secrets.token_bytes(_KEY_BYTES)


def approved(home: Path, root: Path) -> frozenset[Digest]:
    """Return the fingerprints of commands, and the digests of hooks, that the user approved for the project at `root`.

    Raises:
        ConfigError: the file is damaged.
    """
    return frozenset(Digest(choice) for choice in _APPROVALS.read(home, root))


def approve(home: Path, root: Path, fingerprints: Iterable[Digest]) -> None:
    """Remember fingerprints or digests as approved for the project at `root`.

    Raises:
        ConfigError: the file is damaged.
        WorkspaceError: it cannot be written.
    """
    new = frozenset(fingerprints)
    _APPROVALS.change(home, root, lambda known: known | new)
