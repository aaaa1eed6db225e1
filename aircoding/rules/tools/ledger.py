"""Collects the entries of one account: each file gets one, loaded ones in their order; what is left gets its reason."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.rules.tools.account import Cause, FileEntry, Tool, ToolAccount, ToolOptions, Verdict, When
from aircoding.rules.tree import RuleTree, TreeFile, chain

__all__ = ["Condition", "Ledger", "Place", "chain_folders", "condition", "matching", "nested_folders", "place"]


class Condition(Enum):
    """In what state a file was found."""

    TEXT = "text"
    BINARY = "binary"
    TOO_LARGE = "too large"
    NO_FILE = "no regular file"
    LEAVES = "a link that leaves the project"
    UNREADABLE = "unreadable"


def condition(file: TreeFile | None) -> Condition:
    """Return the state of a file; one that is not there is `NO_FILE`."""
    if file is None or file.absent:
        return Condition.NO_FILE
    if file.problem is None:
        return Condition.TEXT
    if file.identity is None:
        return Condition.LEAVES if file.linked else Condition.UNREADABLE
    if file.raw:
        return Condition.BINARY
    return Condition.TOO_LARGE if file.size_bytes else Condition.NO_FILE


class Place(Enum):
    """Where a folder lies: at or above the working directory, below it on the way to the path, or neither."""

    CHAIN = "chain"
    NESTED = "nested"
    BESIDE = "beside"
    ELSEWHERE = "elsewhere"


def chain_folders(cwd: str) -> tuple[str, ...]:
    """Return the folders from the project root down to the working directory."""
    return chain(f"{cwd}/_" if cwd else "_")


def nested_folders(path: str, cwd: str) -> tuple[str, ...]:
    """Return the folders below the working directory that a path lies in, the outermost first."""
    return tuple(folder for folder in chain(path) if folder != cwd and (not cwd or folder.startswith(f"{cwd}/")))


def place(folder: str, path: str, cwd: str) -> Place:
    """Return where a folder lies; `BESIDE` holds the path, and the working directory is in another part."""
    if folder in chain_folders(cwd):
        return Place.CHAIN
    if folder in nested_folders(path, cwd):
        return Place.NESTED
    return Place.BESIDE if folder in chain(path) else Place.ELSEWHERE


def matching(patterns: tuple[str, ...], path: str) -> str | None:
    """Return the first glob (anchored at the root) that a path matches."""
    return next((one for one in patterns if compile_globs((one,), Dialect.ROOT_ANCHORED).matches(path)), None)


class Ledger:
    """Entries by name. A file that was loaded stays loaded, whatever is said of it later."""

    def __init__(self, tool: Tool, tree: RuleTree, path: str, options: ToolOptions) -> None:
        self.tool, self.tree, self.path, self.options = tool, tree, path, options
        self.warnings: list[Diagnostic] = []
        self._entries: dict[str, FileEntry] = {}
        self._names = {name: names for names in tree.same_files().values() for name in names}
        self._position = 0
        self._texts: dict[str, str] = {}

    def has(self, path: str) -> bool:
        """Whether something was said of a file."""
        return path in self._entries

    def loaded(self, path: str) -> bool:
        """Whether a file was loaded under this name."""
        return path in self._entries and self._entries[path].reaches

    def other_name(self, path: str) -> str | None:
        """Return another name under which the same file was loaded."""
        return next((name for name in self._names.get(path, ()) if name != path and self.loaded(name)), None)

    def take(
        self,
        path: str,
        when: When,
        why: str,
        *,
        kept: str | None = None,
        kept_bytes: int | None = None,
        cause: Cause | None = None,
        imported_by: str = "",
        shadows: tuple[str, ...] = (),
        verified: bool = True,
    ) -> None:
        """Note that a file is loaded; `kept` is what of it, its whole text if None. A `cause` makes it `partly`.

        A text of whitespace is none: there is nothing to load (E30).
        """
        file = self.tree.files[path]
        text = file.text if kept is None else kept
        if not text.strip() and not kept_bytes:
            self.skip(path, Cause.EMPTY, "there is nothing in it to read", imported_by=imported_by)
            return
        whole = len(file.raw) if kept is None else len(text.encode("utf-8", "surrogatepass"))
        self._position += 1
        self._texts[path] = text
        self._entries[path] = replace(
            self._blank(path),
            verdict=Verdict.PARTLY if cause is not None else Verdict.LOADED,
            when=when,
            why=why,
            cause=cause,
            position=self._position,
            kept_bytes=whole if kept_bytes is None else kept_bytes,
            kept_chars=len(text),
            imported_by=(imported_by,) if imported_by else (),
            shadows=shadows,
            verified=verified,
        )

    def skip(
        self,
        path: str,
        cause: Cause,
        why: str,
        *,
        verdict: Verdict = Verdict.NOT_LOADED,
        imported_by: str = "",
        verified: bool = True,
    ) -> None:
        """Note why a file is not loaded; the first reason stays."""
        if path not in self._entries:
            by = (imported_by,) if imported_by else ()
            entry = self._blank(path)
            self._entries[path] = replace(
                entry, verdict=verdict, cause=cause, why=why, imported_by=by, verified=verified
            )

    def offer(self, path: str, verdict: Verdict, why: str) -> None:
        """Note that the agent, or a person, must ask for a file."""
        self.skip(path, Cause.SCOPE, why, verdict=verdict)

    def imported(self, path: str, importer: str) -> None:
        """Note one more file that imports a loaded one."""
        entry = self._entries[path]
        if importer not in entry.imported_by and importer != path:
            self._entries[path] = replace(entry, imported_by=tuple(sorted((*entry.imported_by, importer))))

    def unusable(self, path: str, *, imported_by: str = "") -> bool:
        """Note a file that cannot be read as text, and say so."""
        file = self.tree.files[path]
        if file.problem is None:
            return False
        if condition(file) is Condition.LEAVES:
            why = f"{file.problem}: what is there was not read here, whatever the tool does"
            self.skip(path, Cause.UNREADABLE, why, verdict=Verdict.REFUSED, imported_by=imported_by)
        elif condition(file) is Condition.NO_FILE:
            self.skip(path, Cause.EMPTY, f"nothing to read: {file.problem}", imported_by=imported_by)
        else:
            self.skip(path, Cause.UNREADABLE, f"it cannot be read: {file.problem}", imported_by=imported_by)
        return True

    def warn(self, code: str, message: str, uri: str, *, line: int | None = None, hint: str = "") -> None:
        """Note what a person should know beside the entries."""
        found = Diagnostic(severity="warning", code=code, message=message, uri=uri, line=line, hint=hint)
        self.warnings.append(found)

    def rest(self, why_not: Callable[[TreeFile], tuple[Cause, str] | None]) -> None:
        """Account for every file of which nothing was said; without an answer the tool does not read its name."""
        for path in sorted(self.tree.files):
            if path in self._entries:
                continue
            other = self.other_name(path)
            said = why_not(self.tree.files[path])
            if other is not None:
                self.skip(path, Cause.DUPLICATE, f"the same file as {other}, which is loaded")
            elif said is not None:
                self.skip(path, said[0], said[1])
            else:
                self.skip(path, Cause.NAME, _unread(self.tree.files[path], self.tool))

    def account(self, order: str, *notes: str) -> ToolAccount:
        """Return the account."""
        return ToolAccount.of(
            self.tool,
            self.path,
            self.options.cwd,
            order,
            tuple(self._entries.values()),
            warnings=tuple(self.warnings),
            notes=notes,
            texts=self._texts,
        )

    def _blank(self, path: str) -> FileEntry:
        file = self.tree.find(path)
        names = self._names.get(path, (path,))
        if file is None:
            return FileEntry(path=path, names=names, dialect=None, verdict=Verdict.NOT_LOADED, why="")
        return FileEntry(
            path=path,
            names=names,
            dialect=file.name.dialect.value if file.name is not None else None,
            verdict=Verdict.NOT_LOADED,
            why="",
            size_bytes=file.size_bytes,
            size_chars=len(file.text),
        )


def _unread(file: TreeFile, tool: Tool) -> str:
    if file.name is None:
        return "an import of other files; nothing that is loaded here imports it"
    return f"{tool.value} does not read {posixpath.basename(file.path)} files of {file.name.dialect.value}"
