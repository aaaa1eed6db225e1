"""What the user said of single things of a project: a set of choices for each project, in one file of `~/.air`.

No repository can write there; a project is known by its real path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from aircoding.errors import ConfigError, WorkspaceError
from aircoding.sources.atomic_files import alone_in, replace_text
from aircoding.sources.json_files import read_json_file

__all__ = ["ProjectChoices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectChoices:
    """One such file. `without` says what follows when it is deleted."""

    file_name: str
    without: str

    def read(self, home: Path, root: Path) -> frozenset[str]:
        """Return the choices for the project at `root`.

        Raises:
            ConfigError: the file is damaged.
        """
        return frozenset(self._all(home).get(os.path.realpath(root), ()))

    def change(self, home: Path, root: Path, edit: Callable[[frozenset[str]], Iterable[str]]) -> None:
        """Put other choices in the place of those for the project at `root`; writers wait for each other.

        Raises:
            ConfigError: the file is damaged.
            WorkspaceError: it cannot be written.
        """
        path, real = home / self.file_name, os.path.realpath(root)
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            with alone_in(home):
                known = self._all(home)
                known[real] = sorted(set(edit(frozenset(known.get(real, ())))))
                replace_text(path, json.dumps(known, indent=1, sort_keys=True))
        except OSError as error:
            raise WorkspaceError(
                f"{path}: cannot be written: {error.strerror}", hint="check rights and free space"
            ) from error

    def _all(self, home: Path) -> dict[str, list[str]]:
        path = home / self.file_name
        read = read_json_file(home, self.file_name, inside=False)
        if read.absent:
            return {}
        if read.problem is not None:
            hint = f"correct or delete it; {self.without}"
            raise ConfigError(f"{path}: cannot be read: {read.problem}", hint=hint)
        data = read.value
        good = isinstance(data, dict) and all(
            isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
            for choices in data.values()
        )
        if not good:
            raise ConfigError(f"{path}: is no list of choices by project", hint=f"delete it; {self.without}")
        return dict(data)
