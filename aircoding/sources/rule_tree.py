"""Read all rule files of a project, of its user and of the machine, and what they import, into one value.

No `.air/`, no repository and no setting is needed: anyone can ask what a tool makes of a folder.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.imports import MAX_HOPS, Following, followed_by, imports_of
from aircoding.rules.rule_names import Dialect, RuleName, classify
from aircoding.rules.tree import Owner, RuleTree, Target, TreeFile, folders_of, tree_name
from aircoding.sources.files import TextRead, list_folder, printable, read_text_file
from aircoding.sources.rule_folders import files_of_rule_folders
from aircoding.sources.tree_files import tree_file

__all__ = ["MAX_FILES", "MAX_FOLDERS", "RuleHomes", "read_rule_tree", "walk_paths"]

MAX_FOLDERS = 20_000
"""Most folders that are looked through where git does not list the files."""
MAX_FILES = 10_000
"""Most files of one tree: beyond that nothing that is only imported is read."""
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
_IN_FOLDERS = (
    *("AGENTS.override.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    *("GEMINI.md", "HERMES.md", ".hermes.md"),
)
"""Names that are looked for in the folders of a path even when git ignores them."""
_USERS = (
    (".claude/CLAUDE.md", Dialect.CLAUDE),
    (".codex/AGENTS.override.md", Dialect.AGENTS),
    (".codex/AGENTS.md", Dialect.AGENTS),
    (".gemini/GEMINI.md", Dialect.GEMINI),
)
_USER_RULES = ".claude/rules"
_MANAGED = (("etc/claude-code/CLAUDE.md", Dialect.CLAUDE),)
_MANAGED_RULES = "etc/aircoding/rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleHomes:
    """Where other tools keep what is not the project's: the user's home, and `/` for the machine's own files.

    None: those are not looked at. `codex_home` stands for `~/.codex`.
    """

    user: Path | None = None
    machine: Path | None = None
    codex_home: Path | None = None


def read_rule_tree(
    root: Path,
    paths: Iterable[str],
    *,
    near: Iterable[str] = (),
    homes: RuleHomes | None = None,
    above: bool = False,
    approved: Collection[str] = (),
    agents_fallbacks: Collection[str] = (),
    instead: Mapping[str, TextRead] = MappingProxyType({}),
    max_files: int = MAX_FILES,
    max_folders: int = MAX_FOLDERS,
) -> RuleTree:
    """Read the tree. Never raises; what cannot be read is in it with its problem.

    Args:
        root: the project root.
        paths: the project's paths in any order.
        near: project paths whose folders are looked through for rule files that git ignores.
        homes: where the user's and the machine's files lie.
        above: whether `CLAUDE.md` files of the folders above the root are read (Claude Code does).
        approved: names of files outside the project that project files may import, as `~/…` or `/…`.
        agents_fallbacks: file names that stand for `AGENTS.md` where a folder has none.
        instead: what is taken for some project paths, whatever lies there.
        max_files: most files of the tree, beyond which imports are not read.
        max_folders: most folders that are looked through below the user's and the machine's rules.
    """
    homes = homes or RuleHomes()
    known = frozenset(paths).union(instead)
    reader = _TreeReader(root, homes, frozenset(approved), instead, max_files=max_files, max_folders=max_folders)
    in_folders, problems = files_of_rule_folders(root, known)
    reader.diagnostics.extend(problems)
    bases = (*_IN_FOLDERS, *(name for name in agents_fallbacks if name))
    for path in sorted({*known, *_hidden(root, near, bases), *in_folders}):
        known_as = tree_name(Owner.PROJECT, path)
        if (name := classify(known_as) or _fallback(known_as, agents_fallbacks)) is not None:
            reader.project(path, name)
    reader.users()
    reader.managed()
    if above:
        reader.above()
    reader.imports()
    real = os.path.realpath(root)
    home = os.path.realpath(homes.user) if homes.user is not None else None
    return RuleTree(
        files=dict(sorted(reader.files.items())),
        paths=known,
        present=frozenset(reader.present),
        unread=frozenset(reader.unread),
        is_repository=os.path.lexists(root / ".git"),
        is_home=home is not None and (home == real or home.startswith(real.rstrip("/") + "/")),
        diagnostics=tuple(reader.diagnostics),
    )


def walk_paths(root: Path) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return all files below a folder that is no repository, sorted, and what could not be looked through.

    Links to folders are not followed; caches and environments are left out.
    """
    found: list[str] = []
    problems: list[Diagnostic] = []
    waiting, folders = [""], 0
    while waiting:
        folder = waiting.pop()
        folders += 1
        if folders > MAX_FOLDERS:
            message = f"only {MAX_FOLDERS} folders were looked through"
            problems.append(_warning("tree.too_many_folders", message, folder, "start in a smaller folder"))
            break
        names, problem = list_folder(root / folder)
        if problem is not None:
            problems.append(_warning("tree.unreadable", f"the folder cannot be read: {problem}", folder, "its rights"))
        for name in names:
            path = f"{folder}/{name}" if folder else name
            if (root / path).is_dir():
                if name not in _SKIPPED and path != ".air/local" and not (root / path).is_symlink():
                    waiting.append(path)
            else:
                found.append(path)
    return tuple(sorted(found)), tuple(problems)


def _warning(code: str, message: str, folder: str, hint: str) -> Diagnostic:
    uri = f"project:{printable(folder) or '.'}"
    return Diagnostic(severity="warning", code=code, message=message, uri=uri, hint=hint)


def _fallback(path: str, names: Collection[str]) -> RuleName | None:
    folder, _, base = path.removeprefix("./").rpartition("/")
    return RuleName(path=path, dialect=Dialect.AGENTS, folder=folder) if base in names else None


def _hidden(root: Path, near: Iterable[str], bases: Collection[str]) -> Iterator[str]:
    """Yield rule files in the folders of some paths, whatever git says of them."""
    literal = (path.split(":", 1)[0] for path in near)
    safe = (path for path in literal if ".." not in path.split("/") and not path.startswith("/"))
    for folder in sorted({"", *folders_of(_fixed(path) for path in safe)}):
        for base in bases:
            path = f"{folder}/{base}" if folder else base
            if os.path.lexists(root / path):
                yield path


def _fixed(glob: str) -> str:
    """Return the part of a glob before its first wildcard, as a path below its folder."""
    parts = glob.split("/")
    end = next((place for place, part in enumerate(parts) if set(part) & set("*?[{")), len(parts))
    return "/".join((*parts[:end], "_")) if end < len(parts) else glob


def _is_private(path: str) -> bool:
    """Whether a project path lies in a `.git` or in `.air/local`, which no rule file has any business with."""
    parts = path.split("/")
    return ".git" in parts or path.startswith(".air/local/")


class _TreeReader:
    """Reads files under the name of their owner; nothing but this says whose a file is."""

    def __init__(
        self,
        root: Path,
        homes: RuleHomes,
        approved: frozenset[str],
        instead: Mapping[str, TextRead],
        *,
        max_files: int,
        max_folders: int,
    ) -> None:
        self._root, self._homes, self._approved, self._instead = root, homes, approved, instead
        self._max_files, self._max_folders = max_files, max_folders
        self.files: dict[str, TreeFile] = {}
        self.present: set[str] = set()
        self.unread: set[str] = set()
        self.diagnostics: list[Diagnostic] = []

    def project(self, path: str, name: RuleName | None) -> None:
        self._keep(Owner.PROJECT, path, name, self._instead.get(path) or read_text_file(self._root, path))

    def users(self) -> None:
        if self._homes.user is not None:
            files = [*_USERS, *((path, Dialect.CLAUDE_RULES) for path in self._below(self._homes.user, _USER_RULES))]
            self._known(Owner.USER, files)

    def managed(self) -> None:
        if self._homes.machine is not None:
            rules = ((path, Dialect.NATIVE) for path in self._below(self._homes.machine, _MANAGED_RULES))
            self._known(Owner.MACHINE, [*_MANAGED, *rules])

    def _known(self, owner: Owner, files: Iterable[tuple[str, Dialect]]) -> None:
        for inner, dialect in files:
            name = tree_name(owner, inner)
            self._outside(Target(name=name, owner=owner), RuleName(path=name, dialect=dialect, folder=""))

    def above(self) -> None:
        """Read the chain from the root of the file system down to the project's parent."""
        for folder in reversed(Path(os.path.realpath(self._root)).parents):
            for base in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"):
                name = str(folder / base)
                if name not in self.files:
                    known_as = RuleName(path=name, dialect=Dialect.CLAUDE, folder=str(folder))
                    self._outside(Target(name=name, owner=Owner.ABOVE), known_as)

    def imports(self) -> None:
        """Read what the files import, hop by hop; what lies one hop deeper than anybody follows is only noted."""
        named = [path for path, file in self.files.items() if file.problem is None and file.name is not None]
        now = [(path, followed_by(self.files[path])) for path in named]
        seen = set(now)
        for hop in range(1, MAX_HOPS + 2):
            found: list[tuple[str, Following]] = []
            for path, following in now:
                for target in self._targets(self.files[path], following):
                    self._import(self.files[path], target, too_deep=hop > MAX_HOPS)
                    file, step = self.files.get(target.name), (target.name, following)
                    if file is not None and file.problem is None and step not in seen:
                        seen.add(step)
                        found.append(step)
            now = found
        if self.unread:
            message = f"{len(self.unread)} imported files were not read: a project has {self._max_files} files at most"
            self.diagnostics.append(_warning("tree.too_many_files", message, "", "import fewer files"))

    def _targets(self, file: TreeFile, following: Following) -> Iterator[Target]:
        found = imports_of(file, following)
        for one in (*((found.bare,) if found.bare is not None else ()), *found.mentions):
            yield from one.targets

    def _import(self, importer: TreeFile, target: Target, *, too_deep: bool) -> None:
        """Read what a file imports, or note that it is there: outside the project only what its owner lets in."""
        if target.name in self.files:
            return
        # What a file outside the project imports lies where that file's owner put it.
        leaves = importer.of_project and target.owner is not Owner.PROJECT
        allowed = not leaves or target.name in self._approved
        base, inner = self._place(target)
        if base is None or not os.path.lexists(base / inner):
            return
        if too_deep or not allowed:
            self.present.add(target.name)
        elif len(self.files) >= self._max_files:
            self.unread.add(target.name)
        elif target.owner is Owner.PROJECT and _is_private(inner):
            self._keep(Owner.PROJECT, inner, None, TextRead(problem="it lies where git or this program keep their own"))
        elif target.owner is Owner.PROJECT:
            self.project(inner, None)
        else:
            self._outside(target, None)

    def _outside(self, target: Target, name: RuleName | None) -> None:
        base, inner = self._place(target)
        if base is not None:
            self._keep(target.owner, target.inner, name, read_text_file(base, inner, inside=False))

    def _place(self, target: Target) -> tuple[Path | None, str]:
        """Return where a file lies: a folder of its owner, and the path below it."""
        inner = target.inner
        if target.owner is Owner.PROJECT:
            return self._root, inner
        if target.owner is Owner.USER:
            codex = self._homes.codex_home if inner.startswith(".codex/") else None
            return (codex, inner.removeprefix(".codex/")) if codex is not None else (self._homes.user, inner)
        if target.owner is Owner.MACHINE:
            return self._homes.machine, inner
        return (self._root, target.name) if target.name.startswith("../") else (Path("/"), inner)

    def _below(self, base: Path, folder: str) -> Iterator[str]:
        """Yield the Markdown files below a folder of the user; linked folders once each."""
        waiting, seen = [folder], set[str]()
        while waiting:
            current = waiting.pop()
            real = os.path.realpath(base / current)
            if real in seen:
                continue
            if len(seen) >= self._max_folders:
                message = f"only {self._max_folders} folders below {base / folder} were looked through for rules"
                self.diagnostics.append(_warning("tree.too_many_folders", message, "", "keep fewer folders there"))
                return
            seen.add(real)
            for name in list_folder(base / current)[0]:
                path = f"{current}/{name}"
                if (base / path).is_dir():
                    waiting.append(path)
                elif name.endswith(".md"):
                    yield path

    def _keep(self, owner: Owner, inner: str, name: RuleName | None, read: TextRead) -> None:
        if not read.vanished:  # else as if it had never been (E39)
            file = tree_file(owner, inner, name, read)
            self.files[file.path] = file
