"""Every rule file of a tree with what its name and its header say: whose it is, for what, when, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.foreign_header import HeaderStyle, RuleMode
from aircoding.rules.owner_rules import header_style, read_header
from aircoding.rules.precedence import Level
from aircoding.rules.rule_file import parse_rule_file
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tools.account import Tool
from aircoding.rules.tree import RuleTree, TreeFile

__all__ = ["RuleFileEntry", "list_rule_files"]

_READ_BY: Mapping[Tool, frozenset[Dialect]] = {
    Tool.WORKER: frozenset(Dialect),
    Tool.CODEX: frozenset({Dialect.AGENTS}),
    Tool.CLAUDE_CODE: frozenset({Dialect.CLAUDE, Dialect.CLAUDE_RULES, Dialect.AGENTS}),
    Tool.CURSOR: frozenset({Dialect.CURSOR, Dialect.AGENTS}),
    Tool.COPILOT: frozenset({Dialect.COPILOT, Dialect.AGENTS, Dialect.CLAUDE, Dialect.CLAUDE_RULES, Dialect.GEMINI}),
    Tool.GEMINI: frozenset({Dialect.GEMINI}),
    Tool.HERMES: frozenset({Dialect.HERMES, Dialect.AGENTS, Dialect.CLAUDE, Dialect.CURSOR}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFileEntry:
    """One rule file. `scope` are the globs that it speaks for, `mode` says when it applies by its own header."""

    path: str
    names: tuple[str, ...]
    dialect: str
    scope: str
    mode: str
    size_bytes: int
    size_chars: int
    problems: tuple[Diagnostic, ...] = ()


def list_rule_files(tree: RuleTree, tool: Tool | None = None) -> tuple[RuleFileEntry, ...]:
    """Return every rule file, sorted, or those whose dialect a tool knows; files that are only imported are none."""
    same = {name: names for names in tree.same_files().values() for name in names}
    known = _READ_BY[tool] if tool is not None else frozenset(Dialect)
    return tuple(
        _listed(file, same.get(path, (path,)))
        for path, file in sorted(tree.files.items())
        if file.name is not None and file.name.dialect in known
    )


def _listed(file: TreeFile, names: tuple[str, ...]) -> RuleFileEntry:
    dialect = file.name.dialect if file.name is not None else Dialect.NATIVE
    scope, mode, problems = _header(file, dialect)
    if file.problem is not None:
        mode = "unreadable"
        problems = (_problem(file.path, file.problem),)
    elif file.lossy:
        problems = (*problems, _problem(file.path, "bytes that are no UTF-8 are replaced"))
    return RuleFileEntry(
        path=file.path,
        names=names,
        dialect=dialect.value,
        scope=scope,
        mode=mode,
        size_bytes=file.size_bytes,
        size_chars=len(file.text),
        problems=problems,
    )


def _problem(path: str, message: str) -> Diagnostic:
    return Diagnostic(severity="warning", code="rule.unreadable", message=message, uri=path)


def _header(file: TreeFile, dialect: Dialect) -> tuple[str, str, tuple[Diagnostic, ...]]:
    """Return for what a file speaks, when it applies, and what is wrong with its header."""
    folder = file.name.folder if file.name is not None else ""
    scope = f"{folder}/**" if folder and file.of_project else "**"
    if dialect is Dialect.NATIVE:
        return _native(file)
    if header_style(file) is HeaderStyle.PLAIN:
        return scope, RuleMode.ALWAYS.value if scope == "**" else "folder", ()
    header = read_header(file)
    problems = tuple(replace(one, uri=file.path) for one in header.diagnostics)
    if header.broken:
        return scope, "broken", problems
    globs = ", ".join(header.patterns) if header.mode is RuleMode.GLOB else scope
    return globs or "nothing", header.mode.value, problems


def _native(file: TreeFile) -> tuple[str, str, tuple[Diagnostic, ...]]:
    read = parse_rule_file(file.text, file.path, Level.PROJECT)
    rules = [rule for rule in read.rules if rule.paths]
    globs = ", ".join(dict.fromkeys(glob for rule in rules for glob in rule.paths))
    return globs or "**", RuleMode.GLOB.value if globs else RuleMode.ALWAYS.value, read.diagnostics
