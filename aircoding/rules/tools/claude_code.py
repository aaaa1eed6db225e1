"""Claude Code: the CLAUDE.md family from the root of the disk down, rules by path, imports of four hops.

Followed to the letter: code.claude.com/docs/en/memory (copy of 2026-08-22, about 2.1.237), and what is known of
AGENTS.md since 2.1.277 (2026-09). Nothing is cut; what is not loaded is not loaded at all.
"""

from __future__ import annotations

import posixpath

from aircoding.rules.comments import without_block_comments
from aircoding.rules.foreign_header import ForeignHeader, HeaderStyle, RuleMode, read_foreign_header
from aircoding.rules.globs import Dialect as GlobDialect
from aircoding.rules.globs import compile_globs
from aircoding.rules.imports import FOLLOWED, NAMES_ONLY, imports_of
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tools.account import AgentsMode, Cause, Tool, ToolAccount, ToolOptions, When
from aircoding.rules.tools.importing import ImportingReader, ImportRules
from aircoding.rules.tools.ledger import (
    Condition,
    Ledger,
    Place,
    chain_folders,
    condition,
    matching,
    nested_folders,
    place,
)
from aircoding.rules.tree import Owner, RuleTree, Target, TreeFile, beside

__all__ = ["explain_claude_code"]

_FOLLOWING = FOLLOWED[Dialect.CLAUDE]
_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
_MANAGED = "/etc/claude-code/CLAUDE.md"
_USER = "~/.claude/CLAUDE.md"
_ORDER = "managed, user, then from the root of the disk to the working directory; what is touched comes after"


def explain_claude_code(tree: RuleTree, path: str, options: ToolOptions) -> ToolAccount:
    """Return what Claude Code, started in `options.cwd`, has loaded once it has read the path."""
    return _ClaudeCode(tree, path, options).account()


class _ClaudeCode:
    def __init__(self, tree: RuleTree, path: str, options: ToolOptions) -> None:
        self._tree, self._path, self._options = tree, path, options
        self._ledger = Ledger(Tool.CLAUDE_CODE, tree, path, options)
        self._headers = {
            name: read_foreign_header(file.text, HeaderStyle.CLAUDE, name)
            for name, file in tree.files.items()
            if file.name is not None and file.name.dialect is Dialect.CLAUDE_RULES and file.problem is None
        }
        self._excluded = compile_globs(options.excludes, GlobDialect.ROOT_ANCHORED)
        self._claude_md = self._first_claude_md()
        rules = ImportRules(
            following=_FOLLOWING,
            cap=f"Claude Code follows {_FOLLOWING.hops} hops",
            refusal="it lies outside the project: Claude Code asks once, and without a yes it stays out",
            allows=self._allows,
            text_of=self._text,
            barred=self._barred,
            missing=lambda _importer, _import: None,
        )
        self._reader = ImportingReader(self._ledger, rules)

    def account(self) -> ToolAccount:
        self._reader.load(_MANAGED, When.START, "managed by the machine's owner; nothing excludes it")
        if self._options.agents_mode is not AgentsMode.MANAGED_ONLY:
            self._reader.load(_USER, When.START, "the user's own memory")
            self._rules_of(None, When.START)
            self._above()
            for folder in chain_folders(self._options.cwd):
                self._folder(folder, When.START)
            for folder in nested_folders(self._path, self._options.cwd):
                self._folder(folder, When.TOUCH)
            self._scoped_rules()
        self._warnings()
        self._ledger.rest(self._why_not)
        return self._ledger.account(_ORDER)

    def _above(self) -> None:
        for name in self._names_above():
            self._reader.load(name, When.START, "in a folder above the project")

    def _names_above(self) -> list[str]:
        files = self._tree.files
        above = (name for name, file in files.items() if file.owner is Owner.ABOVE and file.name is not None)
        return sorted(above, key=_from_the_root)

    def _folder(self, folder: str, when: When) -> None:
        where = f"in {folder}" if folder else "at the root"
        why = where if when is When.START else f"{where}, loaded when a file below it is read"
        for base in _NAMES:
            self._reader.load(beside(folder, base), when, why)
            if base == ".claude/CLAUDE.md":
                self._rules_of(folder, when)
        if self._reads_agents():
            self._agents(beside(folder, "AGENTS.md"), when, why)

    def _agents(self, name: str, when: When, why: str) -> None:
        """AGENTS.md; beside CLAUDE.md a second file of the same content counts once."""
        file = self._tree.readable(name)
        if file is not None and self._options.agents_mode is AgentsMode.BOTH:
            twin = next((other for other in sorted(self._tree.files) if self._is_twin(other, file)), None)
            if twin is not None:
                self._ledger.skip(name, Cause.DUPLICATE, f"the same content as {twin}, which is loaded")
                return
        self._reader.load(name, when, why)

    def _is_twin(self, name: str, file: TreeFile) -> bool:
        return name != file.path and self._ledger.loaded(name) and self._tree.files[name].text == file.text

    def _reads_agents(self) -> bool:
        mode = self._options.agents_mode
        return mode is AgentsMode.BOTH or (mode is AgentsMode.EITHER and self._claude_md is None)

    def _first_claude_md(self) -> str | None:
        """Return a CLAUDE.md at or above the working directory: with the default setting it rules out AGENTS.md."""
        here = [beside(folder, base) for folder in chain_folders(self._options.cwd) for base in _NAMES]
        users = self._tree.find(_USER)
        for name in (*here, *self._names_above()):
            file = self._tree.find(name)
            is_users = file is not None and users is not None and file.identity == users.identity is not None
            if condition(file) is not Condition.NO_FILE and not is_users:
                return name
        return None

    def _rules_of(self, folder: str | None, when: When) -> None:
        """Load the rules of one folder (None: the user's) that have no `paths`."""
        for name, header in sorted(self._headers.items()):
            if self._rules_folder(name) == folder and header.mode is RuleMode.ALWAYS and not header.broken:
                nested = when is When.TOUCH
                why = f"{header.why_mode}: loaded at launch"
                if nested:
                    why = f"{header.why_mode}; when rules of a folder below load is not verified"
                self._reader.load(name, when, why, verified=not nested)

    def _scoped_rules(self) -> None:
        users_first = sorted(self._headers, key=lambda name: (self._rules_folder(name) is not None, name))
        for name, header in ((name, self._headers[name]) for name in users_first):
            if header.mode is not RuleMode.GLOB or header.broken or not self._may_apply(name):
                continue
            glob = matching(header.patterns, self._path)
            at = f"{name} line {header.patterns_line}"
            if glob is not None:
                self._reader.load(name, When.TOUCH, f"the path matches `{glob}` ({at}); loaded when it is read")
            else:
                self._ledger.skip(name, Cause.GLOB, f"{header.why_mode} ({at}), which the path does not match")

    def _may_apply(self, name: str) -> bool:
        folder = self._rules_folder(name)
        return folder is None or place(folder, self._path, self._options.cwd) in {Place.CHAIN, Place.NESTED}

    def _rules_folder(self, name: str) -> str | None:
        file = self._tree.files[name]
        return file.name.folder if file.of_project and file.name is not None else None

    def _text(self, file: TreeFile) -> str:
        """Return what of a file is read: its body, without the comments that stand as blocks (E29)."""
        header = self._headers.get(file.path)
        plain = without_block_comments(header.body if header is not None else file.text)
        return plain.lines(1, plain.text.count("\n") + 1)

    def _allows(self, importer: TreeFile, target: Target) -> bool:
        inside = target.owner is Owner.PROJECT
        return inside or not importer.of_project or target.name in self._options.approved

    def _barred(self, file: TreeFile) -> str | None:
        if file.path == _MANAGED or not self._options.excludes:
            return None
        roots = {Owner.PROJECT: self._options.root, Owner.USER: self._options.home}
        absolute = f"{roots.get(file.owner, '')}/{file.inner}"
        return "claudeMdExcludes names it" if self._excluded.matches(absolute.lstrip("/")) else None

    def _warnings(self) -> None:
        for name, header in self._headers.items():
            self._ledger.warnings.extend(header.diagnostics)
            if header.broken:
                why = f"{_problem(header)}; whether Claude Code then loads it is not verified"
                self._ledger.skip(name, Cause.HEADER, why, verified=False)
        for name, file in self._tree.files.items():
            known = self._ledger.loaded(name) and file.name is not None
            bare = imports_of(file, NAMES_ONLY).bare if known else None
            target = bare.found_in(self._tree) if bare is not None else None
            if bare is not None and target is not None:
                word = bare.written
                message = f"the file holds only the name `{word}`: Claude Code sees that word, not {target.name}"
                hint = f"write `@{word}`, or check out with links (git config core.symlinks true)"
                self._ledger.warn("claude_code.flat_link", message, name, line=1, hint=hint)
        if self._options.agents_mode is AgentsMode.EITHER and self._claude_md is not None:
            lost = [name for name in self._tree.files if self._on_the_way(name) and not self._ledger.loaded(name)]
            lost = [name for name in lost if self._ledger.other_name(name) is None]
            if lost:
                message = f"{self._claude_md} is there, so Claude Code does not read {', '.join(sorted(lost))}"
                hint = "import them from CLAUDE.md with `@AGENTS.md`, or set claude-md-and-agents-md"
                self._ledger.warn("claude_code.agents_md", message, self._claude_md, hint=hint)

    def _on_the_way(self, name: str) -> bool:
        file = self._tree.files[name]
        if posixpath.basename(name) != "AGENTS.md" or not file.of_project:
            return False
        return place(file.folder, self._path, self._options.cwd) in {Place.CHAIN, Place.NESTED}

    def _why_not(self, file: TreeFile) -> tuple[Cause, str] | None:
        name, cwd = file.path, self._options.cwd
        if file.name is None or (file.owner is Owner.USER and file.name.dialect is Dialect.AGENTS):
            return None
        is_memory = file.name.dialect is Dialect.CLAUDE and name.endswith(_NAMES)
        is_agents = posixpath.basename(name) == "AGENTS.md"
        if not (is_memory or is_agents or file.name.dialect is Dialect.CLAUDE_RULES):
            return None
        if is_agents and not self._reads_agents():
            return self._why_no_agents(name)
        if self._options.agents_mode is AgentsMode.MANAGED_ONLY:
            return Cause.SWITCH, "the setting managed-only lets only the machine's own file in"
        if place(file.name.folder, self._path, cwd) is Place.BESIDE:
            return Cause.CWD, f"it lies neither above nor below the working directory ({cwd or 'the root'})"
        if file.problem is not None and condition(file) is not Condition.NO_FILE:
            return Cause.UNREADABLE, f"it cannot be read: {file.problem}"
        return Cause.ELSEWHERE, "it speaks for another folder"

    def _why_no_agents(self, name: str) -> tuple[Cause, str]:
        if not self._on_the_way(name):
            return Cause.ELSEWHERE, "it speaks for another folder"
        mode = self._options.agents_mode
        if mode is AgentsMode.EITHER:
            return Cause.SWITCH, f"{self._claude_md} is there, so no AGENTS.md is read (setting {mode.value})"
        return Cause.SWITCH, f"the setting {mode.value} reads no AGENTS.md"


def _from_the_root(name: str) -> tuple[int, int, str]:
    """Order by folder from the root of the disk, then as within a folder."""
    base = next((rank for rank, one in enumerate(_NAMES) if name.endswith(f"/{one}")), len(_NAMES))
    if name.endswith("/.claude/CLAUDE.md"):
        return name.count("/") - 1, 1, name
    return name.count("/"), base, name


def _problem(header: ForeignHeader) -> str:
    found = next((one for one in header.diagnostics if one.severity == "error"), None)
    return f"its header cannot be read: {found.message} (line {found.line})" if found else "its header cannot be read"
