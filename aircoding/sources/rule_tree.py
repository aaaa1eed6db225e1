"""Read all rule files of a project, of its user and of the machine, and what they import, into one value.

No `.air/`, no repository and no setting is needed: anyone can ask what a tool makes of a folder.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.mentions import bare_file_name, mentions
from aircoding.rules.rule_names import Dialect, RuleName, classify
from aircoding.rules.tree import RuleTree, TreeFile, folders_of, import_target
from aircoding.sources.files import TextRead, list_folder, printable, read_text_file
from aircoding.sources.rule_folders import files_of_rule_folders

__all__ = ["MAX_FOLDERS", "RuleHomes", "read_rule_tree", "walk_paths"]

MAX_FOLDERS = 20_000
"""Most folders that are looked through where git does not list the files."""
_MAX_HOPS = 5
"""The deepest imports that any tool follows (Gemini CLI five, Claude Code four; read 2026-08)."""
_MAX_FILES = 10_000
"""Most files that are read for one tree, imports included."""
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
_IMPORTING = frozenset({Dialect.CLAUDE, Dialect.CLAUDE_RULES, Dialect.GEMINI})
_IN_FOLDERS = (
    *("AGENTS.override.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    *("GEMINI.md", "HERMES.md", ".hermes.md"),
)
"""Names that are looked for in the folders of a path even when git ignores them."""
_USERS = (
    ("~/.claude/CLAUDE.md", Dialect.CLAUDE),
    ("~/.codex/AGENTS.override.md", Dialect.AGENTS),
    ("~/.codex/AGENTS.md", Dialect.AGENTS),
    ("~/.gemini/GEMINI.md", Dialect.GEMINI),
)
_USER_RULES = ".claude/rules"
_MANAGED = (("/etc/claude-code/CLAUDE.md", Dialect.CLAUDE),)
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
    """
    homes = homes or RuleHomes()
    known = frozenset(paths)
    reader = _TreeReader(root, homes, frozenset(approved))
    in_folders, problems = files_of_rule_folders(root, known)
    reader.diagnostics.extend(problems)
    bases = (*_IN_FOLDERS, *(name for name in agents_fallbacks if name))
    for path in sorted({*known, *_hidden(root, near, bases), *in_folders}):
        if (name := classify(path) or _fallback(path, agents_fallbacks)) is not None:
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
    folder, _, base = path.rpartition("/")
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


class _TreeReader:
    def __init__(self, root: Path, homes: RuleHomes, approved: frozenset[str]) -> None:
        self._root, self._homes, self._approved = root, homes, approved
        self.files: dict[str, TreeFile] = {}
        self.diagnostics: list[Diagnostic] = []

    def project(self, path: str, name: RuleName | None) -> None:
        self._keep(path, name, read_text_file(self._root, path))

    def users(self) -> None:
        if self._homes.user is None:
            return
        for path, dialect in _USERS:
            self._outside(path, RuleName(path=path, dialect=dialect, folder=""))
        for path in self._below(self._homes.user, _USER_RULES):
            name = f"~/{path}"
            self._outside(name, RuleName(path=name, dialect=Dialect.CLAUDE_RULES, folder=""))

    def managed(self) -> None:
        if self._homes.machine is None:
            return
        for path, dialect in _MANAGED:
            self._outside(path, RuleName(path=path, dialect=dialect, folder=""))
        for path in self._below(self._homes.machine, _MANAGED_RULES):
            name = f"/{path}"
            self._outside(name, RuleName(path=name, dialect=Dialect.NATIVE, folder=""))

    def above(self) -> None:
        """Read the chain from the root of the file system down to the project's parent."""
        for folder in reversed(Path(os.path.realpath(self._root)).parents):
            for base in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"):
                path = str(folder / base)
                if path not in self.files:
                    read = read_text_file(Path("/"), path.lstrip("/"), inside=False)
                    self._keep(path, RuleName(path=path, dialect=Dialect.CLAUDE, folder=str(folder)), read)

    def imports(self) -> None:
        """Read what the files import, hop by hop; a file once, however often it is named."""
        reached = [path for path, file in self.files.items() if _imports(file)]
        for _hop in range(_MAX_HOPS):
            found = [target for path in reached for target in self._targets(self.files[path])]
            reached = []
            for target in dict.fromkeys(found):
                if target in self.files or len(self.files) >= _MAX_FILES:
                    continue
                self._import(target)
                if target in self.files and self.files[target].problem is None:
                    reached.append(target)

    def _targets(self, file: TreeFile) -> Iterator[str]:
        bare = bare_file_name(file.text)
        named = [target for mention in mentions(file.text) for target in mention.targets]
        for target in (*((bare,) if bare else ()), *named):
            path = import_target(file.path, target)
            if path is not None:
                # What a file outside the project imports lies where that file's owner put it.
                may_leave = not _in_project(file.path) or path in self._approved
                if _in_project(path) or may_leave:
                    yield path

    def _import(self, path: str) -> None:
        if _in_project(path):
            if os.path.lexists(self._root / path):
                self.project(path, None)
        else:
            self._outside(path, None)

    def _outside(self, path: str, name: RuleName | None) -> None:
        base, relative = self._place(path)
        if base is not None:
            self._keep(path, name, read_text_file(base, relative, inside=False))

    def _place(self, path: str) -> tuple[Path | None, str]:
        if path.startswith("~/.codex/") and self._homes.codex_home is not None:
            return self._homes.codex_home, path.removeprefix("~/.codex/")
        if path.startswith("~/"):
            return self._homes.user, path[2:]
        return self._homes.machine, path.lstrip("/")

    def _below(self, base: Path, folder: str) -> Iterator[str]:
        """Yield the Markdown files below a folder of the user; linked folders once each."""
        waiting, seen = [folder], set[str]()
        while waiting and len(seen) < MAX_FOLDERS:
            current = waiting.pop()
            real = os.path.realpath(base / current)
            if real in seen:
                continue
            seen.add(real)
            for name in list_folder(base / current)[0]:
                path = f"{current}/{name}"
                if (base / path).is_dir():
                    waiting.append(path)
                elif name.endswith(".md"):
                    yield path

    def _keep(self, path: str, name: RuleName | None, read: TextRead) -> None:
        if read.absent and not read.linked and read.problem == "it is not there":
            return  # it vanished after the listing: as if it had never been (E39)
        self.files[path] = TreeFile(
            path=path,
            name=name,
            text=read.text,
            raw=read.raw,
            size_bytes=read.size_bytes,
            lossy=read.lossy,
            problem=read.problem,
            identity=read.identity,
            linked=read.linked,
        )


def _in_project(path: str) -> bool:
    return not path.startswith(("~/", "/"))


def _imports(file: TreeFile) -> bool:
    return file.problem is None and file.name is not None and file.name.dialect in _IMPORTING
