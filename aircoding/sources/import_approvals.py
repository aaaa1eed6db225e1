"""Files outside a project that its rule files may import because the user said so (E28).

What is kept is the path, for one project: the file belongs to the user, so its later contents are the user's words,
while a repository can neither change it nor name another one under the same approval.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from aircoding.errors import ConfigError
from aircoding.sources.project_choices import ProjectChoices

__all__ = ["approve_import", "approved_imports", "withdraw_import"]

_IMPORTS = ProjectChoices(file_name="imports.json", without="files outside the projects are then not imported")


def approved_imports(home: Path, root: Path) -> frozenset[str]:
    """Return the names (`~/…` or `/…`) of files outside that the project at `root` may import.

    Args:
        home: the user's `~/.air`.
        root: the project root.

    Raises:
        ConfigError: the file is damaged.
    """
    return _IMPORTS.read(home, root)


def approve_import(home: Path, root: Path, path: str) -> None:
    """Let the rule files of the project at `root` import a file outside.

    Raises:
        ConfigError: the path is no whole path, or the file with the approvals is damaged.
        WorkspaceError: it cannot be written.
    """
    name = _name(path)
    _IMPORTS.change(home, root, lambda known: known | {name})


def withdraw_import(home: Path, root: Path, path: str) -> bool:
    """Take an approval back; return whether there was one.

    Raises:
        ConfigError: the path is no whole path, or the file with the approvals is damaged.
        WorkspaceError: it cannot be written.
    """
    name = _name(path)
    if name not in approved_imports(home, root):
        return False
    _IMPORTS.change(home, root, lambda known: known - {name})
    return True


def _name(path: str) -> str:
    if not path.startswith(("~/", "/")):
        raise ConfigError(f"`{path}` is no whole path", hint="name the file as the rule file does: ~/… or /…")
    base, rest = ("~/", path[2:]) if path.startswith("~/") else ("/", path)
    normal = posixpath.normpath(rest.lstrip("/"))
    if normal.split("/")[0] in ("", ".", ".."):
        raise ConfigError(f"`{path}` names no file", hint="name one file, ~/… or /…")
    return base + normal
