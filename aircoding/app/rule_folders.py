"""A folder and its rule files, read once: no `.air/`, no repository, no key and no database is needed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.rule_sources import folder_switches, rule_homes
from aircoding.errors import ConfigError, UsageError, WorkspaceError
from aircoding.homes import air_home
from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.tree import Owner, RuleTree, tree_name
from aircoding.sources.files import read_text_file
from aircoding.sources.import_approvals import approved_imports
from aircoding.sources.rule_tree import read_rule_tree, walk_paths
from aircoding.sources.tree_files import tree_file
from aircoding.workspace.worktree import GitWorktree

__all__ = ["RuleFolder", "open_folder", "read_folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFolder:
    """A root, the path in it that is asked about, and all paths below it, as git lists them or as they lie there."""

    root: Path
    path: str
    paths: tuple[str, ...]
    is_repository: bool
    problems: tuple[Diagnostic, ...] = ()


def open_folder(start: Path, given: str = ".") -> RuleFolder:
    """Find the root around a path, which need not exist: the repository's, else the folder that the command runs in.

    Raises:
        UsageError: `given` is no path, or lies outside every folder that could be meant.
    """
    if not given or "\0" in given:
        raise UsageError(f"{given!r} is no path", hint="name a file or a folder, also one that is still to be made")
    absolute = Path(os.path.normpath(os.path.join(start, given)))
    root = next((folder for folder in (absolute, *absolute.parents) if os.path.lexists(folder / ".git")), None)
    is_repository = root is not None
    root = root or _plain_root(start, absolute)
    path = absolute.relative_to(root).as_posix()
    if absolute.is_dir() or given.endswith("/"):
        path = "" if path == "." else f"{path}/"
    paths, problems = _paths(root, is_repository)
    return RuleFolder(root=root, path=path, paths=paths, is_repository=is_repository, problems=problems)


def _plain_root(start: Path, absolute: Path) -> Path:
    if absolute.is_relative_to(start):
        return start
    there = next((folder for folder in (absolute, *absolute.parents) if folder.is_dir()), None)
    if there is None or there == Path(there.anchor):
        raise UsageError(
            f"{absolute} lies in no folder that exists", hint="name a path below this folder, or go to its project"
        )
    return there


def _paths(root: Path, is_repository: bool) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return all paths; where git does not answer (not installed, not trusted), those that lie there, with a remark."""
    if not is_repository and _is_nobodys(root):
        said = "this folder is no project, so what lies below is not looked for, but for the folders of the path"
        hint = "go to a project, or name a path in one"
        remark = Diagnostic(severity="warning", code="tree.home", message=said, uri="project:.", hint=hint)
        return (), (remark,)
    if not is_repository:
        return walk_paths(root)
    try:
        return GitWorktree(str(root)).paths(), ()
    except WorkspaceError as error:
        paths, problems = walk_paths(root)
        why = error.message.replace(str(root), ".")
        remark = Diagnostic(
            severity="warning",
            code="tree.no_git",
            message=f"git does not list the files, so all that lie here are taken: {why}",
            uri="project:.",
            hint=error.hint,
        )
        return paths, (remark, *problems)


def _is_nobodys(root: Path) -> bool:
    """Whether a folder is the user's home, lies above it, or is the one for temporary files (E37)."""
    real, home = os.path.realpath(root), rule_homes().user
    above = home is not None and (os.path.realpath(home) + "/").startswith(real.rstrip("/") + "/")
    return above or real == os.path.realpath(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - nothing is written


def read_folder(
    folder: RuleFolder, *, cwd: str = "", names: Iterable[str] = (), approved: Iterable[str] = ()
) -> RuleTree:
    """Read all rule files of a folder, of its user and of the machine, as the settings and approvals of workers say.

    Other tools keep theirs in the real home and in `CODEX_HOME`, not in `AIR_HOME`.

    Args:
        folder: the folder.
        cwd: where in it a tool is started.
        names: further names of files that a tool is set to.
        approved: further files outside that a tool may import.

    Raises:
        ConfigError: a settings file is wrong.
    """
    known, problems = _approved(folder.root)
    tree = read_rule_tree(
        folder.root,
        folder.paths,
        near=(folder.path, f"{cwd}/_" if cwd else "_"),
        homes=rule_homes(),
        above=True,
        approved=known | frozenset(approved),
        agents_fallbacks=folder_switches(folder.root).agents_fallbacks,
    )
    tree = replace(tree, diagnostics=(*folder.problems, *problems, *tree.diagnostics))
    wanted = set(names)
    more = [path for path in folder.paths if path.rsplit("/", 1)[-1] in wanted]
    read = {tree_name(Owner.PROJECT, path): path for path in more}
    further = {
        name: tree_file(Owner.PROJECT, path, None, read_text_file(folder.root, path))
        for name, path in read.items()
        if name not in tree.files
    }
    return replace(tree, files={**tree.files, **further}) if further else tree


def _approved(root: Path) -> tuple[frozenset[str], tuple[Diagnostic, ...]]:
    """Return the files outside that the user lets in; where the record of it is damaged none is, and that is said."""
    try:
        return approved_imports(air_home(), root), ()
    except ConfigError as error:
        remark = Diagnostic(
            severity="warning", code="rule.unreadable", message=error.message, uri="user:", hint=error.hint
        )
        return frozenset(), (remark,)
