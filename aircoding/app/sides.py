"""A project as it is at a commit, or in its working tree, laid out in a private folder with what feeds prompts.

Only files that a source may read are written there: rule files and what they import, `.air/`, skills, and what tasks
read. Files that git ignores are no part of it, so that a laptop and a CI machine have the same.
"""

from __future__ import annotations

import os
import posixpath
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from aircoding.app.rule_folders import open_folder
from aircoding.errors import ConfigError, PlanError
from aircoding.graph.plan_file import parse_plan
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.rules.imports import FOLLOWED, NAMES_ONLY, Following, imports_of
from aircoding.rules.rule_names import classify
from aircoding.rules.tree import Owner, RuleTree, Target, TreeFile
from aircoding.settings import load_settings
from aircoding.sources.rule_tree import RuleHomes, read_rule_tree
from aircoding.workspace.tree_objects import TreeObjects, open_tree_objects

__all__ = ["Side", "open_revision", "open_working_tree"]

_MAX_BYTES = 8_000_000
"""A larger file is laid out as one of its size without its bytes: every reader refuses it by its size."""
_PLAN = ".air/shared/plan/tasks.yaml"
_SETTINGS = ".air/config.toml"
_TEXTS = (".md", ".mdc")
_LFS = b"version https://git-lfs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison. `root` is the private folder, `project_root` the one that the user knows.

    `commit` and `objects`, mode and object of every name, are those of a revision; the working tree has none. `notes`
    say what could not be taken.
    """

    label: str
    root: Path
    project_root: Path
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()
    commit: str = ""
    objects: Mapping[str, str] = field(default_factory=dict)

    def tree(self, homes: RuleHomes, *, names: Collection[str] = (), approved: Collection[str] = ()) -> RuleTree:
        """Read the rule files of the side, with those of the user that `homes` names."""
        return read_rule_tree(
            self.root, self.paths, homes=homes, approved=frozenset(approved), agents_fallbacks=tuple(names)
        )


@contextmanager
def open_revision(root: Path, revision: str, *, more: Collection[str] = ()) -> Iterator[Side]:
    """Lay out a commit; the folder goes when the block ends, however it ends.

    Args:
        root: the root of the repository.
        revision: what git calls the commit.
        more: names of further rule files.

    Raises:
        UsageError: the revision names no commit.
        WorkspaceError: an object is not in this clone.
    """
    held = open_tree_objects(str(root), revision)
    paths = tuple(sorted(path for path, entry in held.entries.items() if not entry.is_submodule))
    inside = tuple(path for path, entry in held.entries.items() if entry.is_submodule)
    with _folder() as folder:
        layout = _Layout(folder, paths, _reader(held), frozenset(more))
        layout.write_all()
        yield Side(
            label=f"{revision} ({held.commit[:10]})" if revision != held.commit else held.commit[:10],
            root=folder,
            project_root=root,
            paths=paths,
            notes=(*_submodules(inside), *layout.notes),
            commit=held.commit,
            objects={path: f"{entry.mode} {entry.object_id}" for path, entry in held.entries.items()},
        )


@contextmanager
def open_working_tree(start: Path, *, more: Collection[str] = ()) -> Iterator[Side]:
    """Lay out the files around `start` as they lie there, without those that git ignores."""
    found = open_folder(start)
    with _folder() as folder:
        layout = _Layout(folder, found.paths, lambda paths: _from_disk(found.root, paths), frozenset(more))
        layout.write_all()
        if not found.is_repository:
            (folder / ".git").unlink()
        yield Side(
            label="the working tree",
            root=folder,
            project_root=found.root,
            paths=found.paths,
            notes=tuple(layout.notes),
        )


@contextmanager
def _folder() -> Iterator[Path]:
    with (
        _terminated_as_interrupted(),
        tempfile.TemporaryDirectory(prefix="air-side-", ignore_cleanup_errors=True) as name,
    ):
        folder = Path(os.path.realpath(name)) / "project"
        folder.mkdir(mode=0o700)
        (folder / ".git").write_text("gitdir: nowhere\n", encoding="ascii")
        yield folder


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """While the block lasts SIGTERM, which CI sends, unwinds it as SIGINT does: the folder goes with it."""

    def leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is that of a handler
        raise SystemExit(128 + number)

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What one name holds. `size_bytes` counts where the bytes were too many to read."""

    data: bytes
    is_link: bool = False
    size_bytes: int = 0


def _reader(held: TreeObjects) -> Callable[[Collection[str]], Mapping[str, _Held]]:
    def read(paths: Collection[str]) -> Mapping[str, _Held]:
        return {
            path: _Held(data=data, is_link=held.entries[path].is_link, size_bytes=len(data))
            for path, data in held.read(paths).items()
        }

    return read


def _from_disk(root: Path, paths: Collection[str]) -> Mapping[str, _Held]:
    """Read files of the working tree; what vanished, lies behind a link, or is neither file nor link, is left out."""
    found: dict[str, _Held] = {}
    whole = os.path.realpath(root)
    is_own: dict[str, bool] = {}
    for path in paths:
        folder = posixpath.dirname(path)
        if folder not in is_own:
            is_own[folder] = os.path.realpath(os.path.join(whole, folder)) == os.path.normpath(f"{whole}/{folder}")
        if not is_own[folder]:
            continue
        try:
            status = os.lstat(root / path)
            if stat.S_ISLNK(status.st_mode):
                found[path] = _Held(data=os.fsencode(os.readlink(root / path)), is_link=True)
            elif stat.S_ISREG(status.st_mode):
                data = (root / path).read_bytes() if status.st_size <= _MAX_BYTES else b""
                found[path] = _Held(data=data, size_bytes=status.st_size)
        except OSError:
            continue
    return found


def _submodules(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{path} is a submodule: its files are not looked at" for path in sorted(paths))


def _targets(file: TreeFile, following: Following) -> Iterator[Target]:
    found = imports_of(file, following)
    for one in (*((found.bare,) if found.bare is not None else ()), *found.mentions):
        yield from one.targets


class _Layout:
    """Writes files into the private folder until nothing that was written asks for another one."""

    def __init__(
        self,
        folder: Path,
        paths: Collection[str],
        read: Callable[[Collection[str]], Mapping[str, _Held]],
        more: frozenset[str],
    ) -> None:
        self._folder, self._known, self._read, self._more = folder, frozenset(paths), read, more
        self.notes: list[str] = []
        self._seen: set[str] = set()
        self._made: set[Path] = set()

    def write_all(self) -> None:
        linked = self._write({_SETTINGS} & self._known)
        self._more |= self._fallbacks()
        wanted = (linked | {path for path in self._known if self._is_source(path)}) - self._seen
        while wanted:
            linked = self._write(wanted)
            wanted = (linked | self._imported() | self._task_reads()) - self._seen

    def _fallbacks(self) -> frozenset[str]:
        """Return the names that stand for AGENTS.md on this side; wrong settings are told by who works with them."""
        if _SETTINGS not in self._known:
            return frozenset()
        try:
            return frozenset(load_settings(self._folder, alone=True).rules.agents_fallbacks)
        except ConfigError:
            return frozenset()

    def _is_source(self, path: str) -> bool:
        parts = path.split("/")
        return (
            any(part.startswith(".") for part in parts)
            or parts[-1].endswith(_TEXTS)
            or parts[-1] in self._more
            or classify(path) is not None
        )

    def _write(self, wanted: Collection[str]) -> set[str]:
        """Write files, then links, and return what the links name.

        Nothing is written through a link: a path below one (git may list both while a folder is being replaced) is no
        file of its own, and a link that leads out of the folder is left out.
        """
        linked: set[str] = set()
        self._seen |= set(wanted)
        held = self._read(wanted)
        for path in sorted(held, key=lambda each: (held[each].is_link, each)):
            one, place = held[path], self._folder / path
            if not self._make_folder(place.parent) or os.path.lexists(place):
                self.notes.append(f"{path} lies where something else is: it is not looked at")
                continue
            if one.is_link:
                linked |= self._link(path, os.fsdecode(one.data))
                continue
            if one.data.startswith(_LFS):
                self.notes.append(f"{path} is kept in large file storage: its text was not fetched")
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
                file.write(one.data)
                file.truncate(max(one.size_bytes, len(one.data)))
        return linked

    def _make_folder(self, folder: Path) -> bool:
        """Make a folder of the private one; False where a link or a file stands in its way."""
        if folder in self._made or folder == self._folder:
            return True
        if not self._make_folder(folder.parent):
            return False
        try:
            folder.mkdir(exist_ok=True)
        except FileExistsError:
            return False
        if folder.is_symlink():
            return False
        self._made.add(folder)
        return True

    def _link(self, path: str, target: str) -> set[str]:
        inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if target.startswith("/") or inner == ".." or inner.startswith("../"):
            self.notes.append(f"{path} is a link that leads out of the project: it is not followed")
            return set()
        os.symlink(target, self._folder / path)
        return self._under(inner)

    def _under(self, target: str) -> set[str]:
        return {path for path in self._known if path == target or path.startswith(f"{target}/")}

    def _imported(self) -> set[str]:
        tree = read_rule_tree(self._folder, self._known, agents_fallbacks=tuple(self._more))
        return {
            target.inner
            for file in tree.files.values()
            if file.of_project and file.problem is None
            for following in (*FOLLOWED.values(), NAMES_ONLY)
            for target in _targets(file, following)
            if target.owner is Owner.PROJECT and target.inner in self._known
        }

    def _task_reads(self) -> set[str]:
        plan = self._folder / _PLAN
        if not plan.is_file():
            return set()
        try:
            tasks = parse_plan(plan.read_text(encoding="utf-8", errors="replace")).tasks
        except PlanError:
            return set()
        globs = [read.split(":", 1)[0] for task in tasks for read in task.reads]
        matcher = compile_globs(tuple(dict.fromkeys(globs)), Dialect.ROOT_ANCHORED)
        return {path for path in self._known if matcher.matches(path)} if globs else set()
