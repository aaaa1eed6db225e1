"""Hermes: one kind of project file at the start, the first that is found; hints of a folder when it is first visited.

Followed to the letter: agent/prompt_builder.py @00067189 and agent/subdirectory_hints.py @0081f93 of
NousResearch/hermes-agent (read 2026-11). Its screening of texts is not repeated here.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from aircoding.rules.foreign_header import HeaderStyle, RuleMode, read_foreign_header
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tools.account import Cause, Tool, ToolAccount, ToolOptions, When
from aircoding.rules.tools.ledger import Ledger, chain_folders, matching, nested_folders
from aircoding.rules.tree import RuleTree, TreeFile, beside

__all__ = ["MAX_HINT_CHARS", "explain_hermes"]

MAX_HINT_CHARS = 32_000
"""`_MAX_HINT_CHARS` of agent/subdirectory_hints.py (read 2026-11)."""
_MAX_ANCESTORS = 5
"""`_MAX_ANCESTOR_WALK` of the same file: the folder of the path and the four above it."""
_HEAD, _TAIL = 0.7, 0.2
"""What of a text over its cap is kept (`CONTEXT_TRUNCATE_HEAD_RATIO`, `_TAIL_RATIO`)."""
_OWN = (".hermes.md", "HERMES.md")
_AGENTS = ("AGENTS.override.md", "AGENTS.md", "agents.md")
_CLAUDE = ("CLAUDE.md", "claude.md")
_HINTS = (*_AGENTS, *_CLAUDE, ".cursorrules")
_EXCLUDED = frozenset({"vendor", "node_modules", ".git", ".venv", "venv", "__pycache__", ".cache", "dist", "build"})
"""Folders that hold copies; Hermes' own list (`SEARCH_PRUNE_DIR_NAMES`) was not seen whole."""
_ORDER = "the project's file or chain from the git root down; hints follow the tool result that visits their folder"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A text as it stands in the prompt: below a heading, cut to the cap of one file."""

    path: str
    heading: str
    text: str


def explain_hermes(tree: RuleTree, path: str, options: ToolOptions) -> ToolAccount:
    """Return what Hermes, started in `options.cwd`, has once it has visited the folder of the path."""
    return _Hermes(tree, path, options).account()


class _Hermes:
    def __init__(self, tree: RuleTree, path: str, options: ToolOptions) -> None:
        self._tree, self._options = tree, options
        self._ledger = Ledger(Tool.HERMES, tree, path, options)
        self._folders = chain_folders(options.cwd) if tree.is_repository else (options.cwd,)
        self._kind = ""

    def account(self) -> ToolAccount:
        for kind, load in (
            (".hermes.md", self._own),
            ("AGENTS.md", self._agents),
            ("CLAUDE.md", self._claude),
            ("Cursor rules", self._cursor),
        ):
            if load():
                self._kind = kind
                break
        self._hints()
        self._ledger.rest(self._why_not)
        return self._ledger.account(_ORDER, f"Read at the start: {self._kind or 'nothing'}; one kind only.")

    def _text(self, path: str) -> str:
        """Return the text of a file as Hermes reads it: nothing for one that it cannot decode."""
        file = self._tree.readable(path)
        if file is None or file.lossy or file.raw.startswith(_UTF16):
            return ""
        return file.text.strip()

    def _own(self) -> bool:
        """The nearest one, from the working directory up to the git root; an empty one ends the search as well."""
        for folder in reversed(self._folders):
            for name in _OWN:
                path = beside(folder, name)
                if self._tree.find(path) is not None:
                    return self._one(path, f"the nearest {name}")
        return False

    def _one(self, path: str, why: str) -> bool:
        text = self._text(path)
        if text:
            self._section(_Section(path=path, heading=f"## {posixpath.basename(path)}\n\n", text=text), why)
        return bool(text)

    def _agents(self) -> bool:
        sections: list[_Section] = []
        seen: dict[str, str] = {}
        for folder in self._folders:
            path = next((name for name in (beside(folder, one) for one in _AGENTS) if self._text(name)), None)
            if path is None:
                continue
            text = self._text(path)
            if text in seen:
                self._ledger.skip(path, Cause.DUPLICATE, f"the same content as {seen[text]}, further up the chain")
                continue
            seen[text] = path
            label = posixpath.relpath(path, self._options.cwd or ".")
            sections.append(_Section(path=path, heading=f"## {label}\n\n", text=text))
        self._chain(sections)
        return bool(sections)

    def _chain(self, sections: list[_Section]) -> None:
        """Cap each file, and then the chain as one text once more."""
        cap = self._options.max_chars
        lengths = [min(len(one.heading) + len(one.text), cap) for one in sections]
        total = sum(lengths) + 2 * max(0, len(sections) - 1)
        start = 0
        for section, length in zip(sections, lengths, strict=True):
            if len(sections) > 1 and total > cap:
                self._cut_of_chain(section, start, start + length, total)
            else:
                self._section(section, "the chain from the git root down")
            start += length + 2

    def _cut_of_chain(self, section: _Section, start: int, end: int, total: int) -> None:
        cap = self._options.max_chars
        head, tail = int(cap * _HEAD), total - int(cap * _TAIL)
        body = start + len(section.heading)
        ranges = [(max(body, start), min(end, head)), (max(body, tail), end)]
        kept_chars = sum(max(0, right - left) for left, right in ranges)
        parts = [section.text[left - body : right - body] for left, right in ranges if right > left]
        kept = "".join(parts)
        if len(section.heading) + len(section.text) > cap:
            kept = kept[: int(cap * (_HEAD + _TAIL))]
        why = f"the chain has {total} characters, and {cap} is the cap: its first 70 % and last 20 % are kept"
        if not kept:
            self._ledger.skip(section.path, Cause.CAP, why)
        elif kept_chars >= len(section.text):
            self._ledger.take(section.path, When.START, "the chain from the git root down", kept=kept)
        else:
            self._ledger.take(section.path, When.START, why, kept=kept, cause=Cause.CAP)
        if len(kept) < len(section.text):
            self._ledger.warn("hermes.cut", why, section.path, hint="shorten the files of the chain")

    def _section(self, section: _Section, why: str) -> None:
        self._capped(section.path, section.text, self._options.max_chars, When.START, why, over=len(section.heading))

    def _capped(self, path: str, text: str, cap: int, when: When, why: str, *, over: int = 0) -> None:
        """Load a text; over its cap only head and tail are kept, with a marker between them."""
        if len(text) + over <= cap:
            self._ledger.take(path, when, why, kept=text)
            return
        head, tail = max(0, int(cap * _HEAD) - over), int(cap * _TAIL)
        kept = text[:head] + (text[-tail:] if tail else "")
        cut = f"{len(text)} characters, and {cap} is the cap: head and tail are kept, {len(kept)} characters"
        self._ledger.take(path, when, f"{why}; {cut}", kept=kept, cause=Cause.CAP)
        self._ledger.warn("hermes.cut", cut, path, hint="shorten the file")

    def _claude(self) -> bool:
        return any(self._one(beside(self._options.cwd, name), "in the working directory") for name in _CLAUDE)

    def _cursor(self) -> bool:
        """`.cursorrules` and the rules of the working directory; their headers count for nothing."""
        folder = beside(self._options.cwd, ".cursor/rules")
        rules = sorted(one for one in self._tree.files if posixpath.dirname(one) == folder and one.endswith(".mdc"))
        paths = [path for path in (beside(self._options.cwd, ".cursorrules"), *rules) if self._text(path)]
        headings = [f"## {posixpath.relpath(path, self._options.cwd or '.')}\n\n" for path in paths]
        sections = [
            _Section(path=path, heading=heading, text=self._text(path))
            for path, heading in zip(paths, headings, strict=True)
        ]
        self._chain(sections)
        return bool(sections)

    def _hints(self) -> None:
        """The first hint file of each folder on the way to the path, the same content once."""
        if self._tree.is_home and not self._options.cwd:
            return
        seen = {self._text(one) for one in self._first(self._options.cwd)}
        nested = nested_folders(self._ledger.path, self._options.cwd)[-_MAX_ANCESTORS:]
        for folder in nested:
            if set(folder.split("/")) & _EXCLUDED:
                continue
            for path in self._first(folder):
                text = self._text(path)
                if text in seen:
                    self._ledger.skip(path, Cause.DUPLICATE, "the same content was given before")
                    continue
                seen.add(text)
                self._capped(path, text, MAX_HINT_CHARS, When.TOUCH, f"a hint when {folder} is first visited")

    def _first(self, folder: str) -> list[str]:
        path = next((name for name in (beside(folder, one) for one in _HINTS) if self._text(name)), None)
        return [path] if path is not None else []

    def _why_not(self, file: TreeFile) -> tuple[Cause, str] | None:
        path, folder = file.path, file.folder
        base = posixpath.basename(path)
        is_rule = file.name is not None and file.name.dialect is Dialect.CURSOR
        if not file.of_project or not (base in (*_OWN, *_HINTS) or is_rule):
            return None
        if file.problem is not None:
            return Cause.UNREADABLE, f"it cannot be read: {file.problem}"
        if file.text.strip() and not self._text(path):
            return Cause.UNREADABLE, "it is no UTF-8 text, and Hermes passes over it"
        if not file.text.strip():
            return Cause.EMPTY, "it is empty"
        if folder in nested_folders(self._ledger.path, self._options.cwd):
            return self._why_no_hint(folder, base)
        if is_rule and posixpath.dirname(path) not in self._rule_folders():
            return Cause.ELSEWHERE, "Cursor rules are read from the working directory only"
        if is_rule and (other := self._as_cursor_means(file)) is not None:
            return other
        if is_rule or folder in self._folders:
            return self._why_not_at_start(base, folder)
        return Cause.ELSEWHERE, "it speaks for another folder"

    def _as_cursor_means(self, file: TreeFile) -> tuple[Cause, str] | None:
        """Say why a rule of Cursor's is not meant for the path: nothing is lost where it does not come to it."""
        if file.path.endswith(".md"):
            return Cause.NAME, "of .cursor/rules only .mdc files are read"
        if not file.path.endswith(".mdc"):
            return None
        header = read_foreign_header(file.text, HeaderStyle.CURSOR, file.path)
        if header.broken or header.mode is RuleMode.ALWAYS:
            return None
        if header.mode is not RuleMode.GLOB:
            return Cause.SCOPE, header.why_mode
        inner = posixpath.relpath(self._ledger.path, self._options.cwd or ".")
        matched = matching(header.patterns, inner)
        return None if matched is not None else (Cause.GLOB, f"{header.why_mode}, and the path does not match")

    def _rule_folders(self) -> tuple[str, ...]:
        return self._options.cwd, beside(self._options.cwd, ".cursor/rules")

    def _why_no_hint(self, folder: str, base: str) -> tuple[Cause, str]:
        if set(folder.split("/")) & _EXCLUDED:
            return Cause.CWD, "folders that hold copies give no hints"
        if base not in _HINTS:
            return Cause.CWD, f"{base} is looked for in the working directory and above only"
        if self._tree.is_home and not self._options.cwd:
            return Cause.CWD, "the working directory is the home folder, where nothing below counts"
        found = self._first(folder)
        if found and posixpath.basename(found[0]) != base:
            return Cause.SHADOWED, f"{posixpath.basename(found[0])} in the same folder is taken in its place"
        return Cause.CAP, f"of the folders above the path only the nearest {_MAX_ANCESTORS} are looked at"

    def _why_not_at_start(self, base: str, folder: str) -> tuple[Cause, str]:
        if self._kind == "AGENTS.md" and base in _AGENTS:
            return Cause.SHADOWED, "another AGENTS file in the same folder is taken in its place"
        if folder != self._options.cwd and base in (*_CLAUDE, ".cursorrules"):
            return Cause.CWD, f"{base} is looked for in the working directory only"
        return Cause.SHADOWED, f"{self._kind or 'another file'} was found first, and only one kind is read"
