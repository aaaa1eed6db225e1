"""A folder and its rule files, read once: no `.air/`, no repository, no key and no database is needed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.app.rule_sources import rule_homes
from aircoding.errors import UsageError, WorkspaceError
from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.tree import RuleTree, TreeFile
from aircoding.sources.files import read_text_file
from aircoding.sources.rule_tree import read_rule_tree, walk_paths
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
    """Read all rule files of a folder, of its user and of the machine; `names` are further ones that a tool is set to.

    Other tools keep theirs in the real home and in `CODEX_HOME`, not in `AIR_HOME`.
    """
    near = (folder.path, f"{cwd}/_" if cwd else "_")
    tree = read_rule_tree(
        folder.root, folder.paths, near=near, homes=rule_homes(), above=True, approved=tuple(approved)
    )
    tree = replace(tree, diagnostics=(*folder.problems, *tree.diagnostics))
    wanted = set(names)
    more = [path for path in folder.paths if path.rsplit("/", 1)[-1] in wanted and path not in tree.files]
    return replace(tree, files={**tree.files, **{path: _read(folder.root, path) for path in more}}) if more else tree


def _read(root: Path, path: str) -> TreeFile:
    read = read_text_file(root, path)
    return TreeFile(
        path=path,
        name=None,
        text=read.text,
        raw=read.raw,
        size_bytes=read.size_bytes,
        lossy=read.lossy,
        problem=read.problem,
        identity=read.identity,
        linked=read.linked,
    )
