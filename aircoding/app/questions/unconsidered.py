"""Gather what is known of a subject that no record names, and say which source would have had to name it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from aircoding.audit.absences import Absence, PathFacts, absence_of_name, absence_of_path
from aircoding.errors import WorkspaceError
from aircoding.rules.rule_names import classify
from aircoding.workspace.git import git, git_succeeds

__all__ = ["AskedAbout", "explain_absence"]

_PLAN = ".air/shared/plan/tasks.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAbout:
    """The prompts that an absence is about: `names` are the sources that were considered for them.

    `base_commit` is the commit that their worktrees began at; empty: the files as they are now. `plan` is the text of
    their run's plan; None: the project's own, as it is now.
    """

    names: frozenset[str]
    base_commit: str = ""
    task_id: str | None = None
    plan: str | None = None


def explain_absence(root: Path, start: Path, subject: str, about: AskedAbout) -> Absence:
    """Return why a subject was never considered for the workers that are asked about."""
    path, outside = _path(root, start, subject)
    paths = _paths(root)
    is_path = path in paths or os.path.lexists(root / path) if not outside else os.path.lexists(subject)
    if not is_path and not _reads_as_path(subject):
        rule_files = sorted(name for name in about.names if classify(name) is not None or name.startswith("~"))
        return absence_of_name(subject, about.names, rule_files)
    base = about.base_commit
    state = "outside" if outside else _state(root, path, paths)
    facts = PathFacts(
        path=subject if outside else path,
        state=state,
        paths=paths,
        ignored_by=_ignored_by(root, path) if state == "ignored" else "",
        base_commit=base,
        in_base=state != "file" or not base or _is_in(root, base, path),
        plan_place=_plan_place(root, about.task_id),
        task_id=about.task_id,
        read_by=_read_by(root, about.plan, path) if state == "file" else (),
    )
    return absence_of_path(facts, about.names)


def _path(root: Path, start: Path, subject: str) -> tuple[str, bool]:
    """Return a subject as a path of the project, and whether it leads out of it.

    It is taken from the root, as the record names paths, or else from where the question is asked.
    """
    given = subject.removeprefix("project:")
    if subject.startswith(("~/", "user:")):
        return subject, True
    of_root, of_start = (Path(os.path.normpath(folder / given)) for folder in (root, start.absolute()))
    whole = of_start if os.path.lexists(of_start) and not os.path.lexists(of_root) else of_root
    if not whole.is_relative_to(root):
        return given, True
    path = whole.relative_to(root).as_posix()
    return "" if path == "." else path, False


def _paths(root: Path) -> frozenset[str]:
    from aircoding.workspace.worktree import GitWorktree

    try:
        return frozenset(GitWorktree(str(root)).paths())
    except WorkspaceError:
        return frozenset()


def _reads_as_path(subject: str) -> bool:
    """Whether a person means a path: it has a folder, or ends as a file does, and holds no blank or `#`."""
    if any(char.isspace() for char in subject) or "#" in subject:
        return False
    return "/" in subject or re.search(r"\w\.\w{1,8}$", subject) is not None


def _state(root: Path, path: str, paths: frozenset[str]) -> str:
    if path in paths:
        return "file"
    if not os.path.lexists(root / path):
        return "none"
    return "folder" if (root / path).is_dir() else "ignored"


def _ignored_by(root: Path, path: str) -> str:
    """Return the line that ignores a path: `.gitignore:3`."""
    try:
        said = git(root, "check-ignore", "-v", "--", path)
    except WorkspaceError:
        return ""
    source, line, _ = (*said.split("\t")[0].split(":", 2), "", "")[:3]
    return f"{source}:{line}" if source and line else ""


def _is_in(root: Path, commit: str, path: str) -> bool:
    if not git_succeeds(root, "cat-file", "-e", f"{commit}^{{commit}}"):
        return True  # the commit is of another clone: nothing can be said
    return git_succeeds(root, "cat-file", "-e", f"{commit}:{path}")


def _read_by(root: Path, plan: str | None, path: str) -> tuple[str, ...]:
    """Return the tasks of a plan that name a path in `reads`; of a plan that cannot be read none."""
    import yaml

    try:
        text = (root / _PLAN).read_text(encoding="utf-8") if plan is None else plan
        if path not in text:
            return ()
        tasks = yaml.safe_load(text)["tasks"]
        # What is wrong with a plan `aircoding plan check` says; here only what can be read counts.
        return tuple(
            str(task["id"]) for task in tasks if path in {_without_lines(one) for one in task.get("reads", ())}
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, yaml.YAMLError):
        return ()


def _without_lines(read: str) -> str:
    return read.split(":", 1)[0]


def _plan_place(root: Path, task_id: str | None) -> str:
    """Return the plan's file, with the line of a task where that is found."""
    if task_id is None:
        return _PLAN
    try:
        lines = (root / _PLAN).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return _PLAN
    wanted = re.compile(rf"""[\s\-{{]*["']?id["']?\s*:\s*["']?{re.escape(task_id)}["']?\s*(,.*|#.*)?$""")
    return next((f"{_PLAN}:{number}" for number, line in enumerate(lines, 1) if wanted.match(line)), _PLAN)
