"""The folders of a project that hold rule files: looked through whatever git says of them, linked folders included."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.rule_names import NATIVE_FOLDER
from aircoding.sources.files import list_folder, printable

__all__ = ["files_of_rule_folders"]

_FOLDERS = (NATIVE_FOLDER, ".claude/rules", ".cursor/rules", ".windsurf/rules", ".github/instructions")


def files_of_rule_folders(root: Path, known: Collection[str]) -> tuple[frozenset[str], tuple[Diagnostic, ...]]:
    """Return the files of the project's rule folders, and what could not be looked through.

    A folder is read once, whatever links lead to it, and never out of the project (E18, E19). git lists a link to a
    folder as one path: such links are followed where they lie in a rule folder.

    Args:
        root: the project root.
        known: the project's paths.
    """
    linked = (path for path in known if any(f"{part}/" in path for part in _FOLDERS) and _is_linked(root, path))
    waiting = [*_FOLDERS, *sorted(linked)]
    base, found, seen = os.path.realpath(root), set[str](), set[str]()
    problems: list[Diagnostic] = []
    while waiting:
        current = waiting.pop(0)
        real = os.path.realpath(root / current)
        if not (real + "/").startswith(base + "/"):
            problems.append(_remark("unreadable", "warning", current, "it is a link that leaves the project"))
            continue
        if real in seen:
            if current not in known:
                problems.append(_remark("folder_again", "info", current, "another name of a folder that was read"))
            continue
        seen.add(real)
        names, problem = list_folder(root / current)
        if problem is not None:
            said = f"the rules in this folder were not read: {problem}"
            problems.append(_remark("unreadable", "warning", current, said))
        for name in names:
            path = f"{current}/{name}"
            if (root / path).is_dir():
                waiting.append(path)
            else:
                found.add(path)
    return frozenset(found), tuple(problems)


def _is_linked(root: Path, path: str) -> bool:
    return (root / path).is_symlink() and (root / path).is_dir()


def _remark(code: str, severity: Literal["warning", "info"], folder: str, message: str) -> Diagnostic:
    hint = "copy the rules, or check the rights of the folder" if severity == "warning" else ""
    uri = f"project:{printable(folder)}"
    return Diagnostic(severity=severity, code=f"rule.{code}", message=message, uri=uri, hint=hint)
