"""Cursor: rules below `.cursor/rules` by their headers, `.cursorrules`, and AGENTS.md.

From www.cursor.com/docs/rules (2026-11). Its documents do not say in which order the texts stand, nor what becomes of
`.cursor/rules` in folders below; the account says so where it had to assume something.
"""

from __future__ import annotations

import posixpath

from aircoding.rules.foreign_header import ForeignHeader, HeaderStyle, RuleMode, read_foreign_header
from aircoding.rules.rule_names import Dialect
from aircoding.rules.tools.account import Cause, Tool, ToolAccount, ToolOptions, Verdict, When
from aircoding.rules.tools.ledger import Ledger, matching
from aircoding.rules.tree import RuleTree, TreeFile, chain

__all__ = ["explain_cursor"]

_ORDER = "not verified: Cursor's documents name no order among rule files"
_NOTES = (
    "User rules and team rules live in Cursor itself and are not seen here.",
    "Nested .cursor/rules and how nested AGENTS.md files merge are not verified.",
)


def explain_cursor(tree: RuleTree, path: str, options: ToolOptions) -> ToolAccount:
    """Return what Cursor, opened at the project root, has in context when the path is."""
    ledger = Ledger(Tool.CURSOR, tree, path, options)
    for when in When:
        for name in sorted(tree.files):
            _consider(ledger, tree.files[name], when)
    ledger.rest(_why_not)
    return ledger.account(_ORDER, *_NOTES)


def _consider(ledger: Ledger, file: TreeFile, when: When) -> None:
    name = file.name
    if name is None or not file.of_project:
        return
    base = posixpath.basename(file.path)
    if base == "AGENTS.md":
        _plain(ledger, file, name.folder, when)
    elif name.dialect is Dialect.CURSOR and base == ".cursorrules" and not name.folder:
        _plain(ledger, file, "", when)
    elif name.dialect is Dialect.CURSOR and _is_rule(file.path):
        _rule(ledger, file, name.folder, when)


def _is_rule(path: str) -> bool:
    """Rules are `.mdc` files below `.cursor/rules`; a plain `.md` there is ignored."""
    return "/.cursor/rules/" in f"/{path}" and path.endswith(".mdc")


def _plain(ledger: Ledger, file: TreeFile, folder: str, when: When) -> None:
    if (when is When.TOUCH) is not bool(folder) or ledger.unusable(file.path):
        return
    if not folder:
        legacy = " (the old form)" if file.path == ".cursorrules" else ""
        ledger.take(file.path, when, f"at the root: always{legacy}")
    elif folder in chain(ledger.path):
        ledger.take(
            file.path, when, f"for files in {folder}; how it merges with others is not verified", verified=False
        )
    else:
        ledger.skip(file.path, Cause.ELSEWHERE, "it speaks for another folder")


def _rule(ledger: Ledger, file: TreeFile, folder: str, when: When) -> None:
    if when is When.START and not ledger.has(file.path):
        ledger.unusable(file.path)
    if ledger.has(file.path):
        return
    header = read_foreign_header(file.text, HeaderStyle.CURSOR, file.path)
    if when is When.START:
        ledger.warnings.extend(header.diagnostics)
    if header.broken:
        _broken(ledger, file, header)
    elif folder and folder not in chain(ledger.path):
        ledger.skip(file.path, Cause.ELSEWHERE, "it speaks for another folder")
    elif header.mode is RuleMode.ALWAYS:
        if (when is When.TOUCH) is bool(folder):
            ledger.take(file.path, when, _told(header.why_mode, folder), kept=header.body, verified=not folder)
    elif header.mode is RuleMode.GLOB:
        _scoped(ledger, file, header, folder, when)
    else:
        verdict = Verdict.DESCRIBED if header.mode is RuleMode.DESCRIBED else Verdict.MANUAL
        ledger.offer(file.path, verdict, _told(header.why_mode, folder))


def _broken(ledger: Ledger, file: TreeFile, header: ForeignHeader) -> None:
    found = next((one for one in header.diagnostics if one.severity == "error"), None)
    what = f"{found.message} (line {found.line})" if found is not None else "it cannot be read"
    ledger.skip(file.path, Cause.HEADER, f"its header is wrong, and Cursor passes over it in silence: {what}")


def _scoped(ledger: Ledger, file: TreeFile, header: ForeignHeader, folder: str, when: When) -> None:
    inner = ledger.path[len(folder) + 1 :] if folder else ledger.path
    glob = matching(header.patterns, inner)
    at = f"{file.path} line {header.patterns_line}"
    if glob is None:
        ledger.skip(file.path, Cause.GLOB, _told(f"{header.why_mode} ({at}), which the path does not match", folder))
    elif when is When.TOUCH:
        why = _told(f"the path matches `{glob}` ({at})", folder)
        ledger.take(file.path, when, why, kept=header.body, verified=not folder)


def _told(why: str, folder: str) -> str:
    return f"{why}; that rules of {folder} count, and from where their globs start, is not verified" if folder else why


def _why_not(file: TreeFile) -> tuple[Cause, str] | None:
    if file.name is None or file.name.dialect is not Dialect.CURSOR or not file.of_project:
        return None
    if file.path.endswith(".md"):
        return Cause.OTHER, "below .cursor/rules only .mdc files are read; this one is ignored"
    if file.path.endswith(".mdc"):
        return Cause.NAME, "only .mdc files below .cursor/rules are read"
    return Cause.NAME, "only .cursorrules at the root is read"
