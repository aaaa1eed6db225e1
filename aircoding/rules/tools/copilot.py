"""Copilot: repository instructions, instructions by path, and the files of others that VS Code or its CLI read too.

From microsoft/vscode-docs custom-instructions.md (2026-03) and github/docs (2026-08). VS Code, the command line and
the cloud agent do not read the same files: where only one does, the account says which.
"""

from __future__ import annotations

import posixpath

from aircoding.rules.foreign_header import ForeignHeader, HeaderStyle, RuleMode, read_foreign_header
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tools.account import Cause, Tool, ToolAccount, ToolOptions, Verdict, When
from aircoding.rules.tools.ledger import Ledger, matching
from aircoding.rules.tree import Owner, RuleTree, TreeFile, chain

__all__ = ["explain_copilot"]

_ORDER = "not guaranteed: Copilot combines the files in no stated order, and which of two that contradict wins is open"
_NOTES = (
    "Stated priority: personal before repository before organisation; only files of the repository are seen here.",
)
_MAIN = ".github/copilot-instructions.md"
_NESTED = "chat.useNestedAgentsMdFiles"
"""VS Code's setting, experimental (microsoft/vscode-docs, 2026-03)."""
_ALWAYS = {
    _MAIN: "always",
    "AGENTS.md": "at the root: VS Code and the command line read it",
    "CLAUDE.md": "at the root: VS Code and the command line read it",
    ".claude/CLAUDE.md": "VS Code reads it",
    "CLAUDE.local.md": "VS Code reads it",
    "~/.claude/CLAUDE.md": "the user's own; VS Code reads it",
    "GEMINI.md": "at the root: the command line reads it, VS Code does not",
}


def explain_copilot(tree: RuleTree, path: str, options: ToolOptions) -> ToolAccount:
    """Return what Copilot, opened at the project root, has when it works on the path."""
    ledger = Ledger(Tool.COPILOT, tree, path, options)
    for name, why in _ALWAYS.items():
        file = tree.find(name)
        if file is not None and not ledger.unusable(name):
            ledger.take(name, When.START, why)
    for name in sorted(tree.files):
        _scoped_file(ledger, tree.files[name])
    ledger.rest(lambda file: _why_not(file, path))
    return ledger.account(_ORDER, *_NOTES)


def _scoped_file(ledger: Ledger, file: TreeFile) -> None:
    name = file.name
    if name is None or file.owner in (Owner.MACHINE, Owner.ABOVE) or ledger.has(file.path):
        return
    if file.path.startswith(".github/instructions/") and file.path.endswith(".instructions.md"):
        if not ledger.unusable(file.path):
            _instructions(ledger, file)
    elif name.dialect is Dialect.CLAUDE_RULES and not name.folder:
        if not ledger.unusable(file.path):
            _claude_rule(ledger, file)
    elif posixpath.basename(file.path) == "AGENTS.md" and name.folder and name.folder in chain(ledger.path):
        _nested_agents(ledger, file, name.folder)


def _nested_agents(ledger: Ledger, file: TreeFile, folder: str) -> None:
    if not ledger.unusable(file.path):
        why = f"for files in {folder}: the command line reads it, says a newer page; VS Code only with {_NESTED}"
        ledger.take(file.path, When.TOUCH, why, verified=False)


def _instructions(ledger: Ledger, file: TreeFile) -> None:
    header = read_foreign_header(file.text, HeaderStyle.COPILOT, file.path)
    ledger.warnings.extend(header.diagnostics)
    agent = ledger.options.agent
    if header.broken:
        ledger.skip(file.path, Cause.HEADER, _broken(header), verified=False)
    elif agent and agent in header.excluded_agents:
        ledger.skip(file.path, Cause.SWITCH, f"its excludeAgent names {agent}")
    elif header.mode is RuleMode.GLOB:
        _by_glob(ledger, file, header, _not_for(header))
    elif any(one.code == "rule_header.applyTo" for one in header.diagnostics):
        ledger.skip(file.path, Cause.HEADER, f"{header.why_mode}; it takes one text, separated by commas")
    else:
        ledger.offer(file.path, Verdict.MANUAL, header.why_mode)


def _not_for(header: ForeignHeader) -> str:
    return f"; not for {' and '.join(header.excluded_agents)} (excludeAgent)" if header.excluded_agents else ""


def _claude_rule(ledger: Ledger, file: TreeFile) -> None:
    """VS Code reads `.claude/rules` as well; without `paths` they count for every file."""
    header = read_foreign_header(file.text, HeaderStyle.CLAUDE, file.path)
    if header.broken:
        ledger.skip(file.path, Cause.HEADER, _broken(header), verified=False)
    elif header.mode is RuleMode.GLOB:
        _by_glob(ledger, file, header, "; VS Code reads it")
    else:
        ledger.take(file.path, When.TOUCH, f"{header.why_mode}: for every file; VS Code reads it", kept=header.body)


def _by_glob(ledger: Ledger, file: TreeFile, header: ForeignHeader, more: str) -> None:
    glob = matching(header.patterns, ledger.path)
    at = f"{file.path} line {header.patterns_line}"
    if glob is None:
        ledger.skip(file.path, Cause.GLOB, f"{header.why_mode} ({at}), which the path does not match")
    else:
        ledger.take(file.path, When.TOUCH, f"the path matches `{glob}` ({at}){more}", kept=header.body)


def _broken(header: ForeignHeader) -> str:
    found = next((one for one in header.diagnostics if one.severity == "error"), None)
    what = f"{found.message} (line {found.line})" if found is not None else "it cannot be read"
    return f"its header is wrong: {what}; what Copilot makes of it is not verified"


def _why_not(file: TreeFile, path: str) -> tuple[Cause, str] | None:
    name = file.name
    users = file.owner is Owner.USER and name is not None and name.dialect in {Dialect.CLAUDE, Dialect.CLAUDE_RULES}
    if name is None or not (file.of_project or users):
        return None
    if name.dialect is Dialect.COPILOT:
        return Cause.NAME, "only .github/copilot-instructions.md and .github/instructions of the root are read"
    if posixpath.basename(file.path) == "AGENTS.md" and name.folder not in chain(path):
        return Cause.ELSEWHERE, "it speaks for another folder"
    if name.dialect in {Dialect.CLAUDE, Dialect.GEMINI, Dialect.CLAUDE_RULES} and name.folder:
        return (Cause.CWD, "only that of the root is read") if name.folder in chain(path) else _ELSEWHERE
    return None


_ELSEWHERE = (Cause.ELSEWHERE, "it speaks for another folder")
