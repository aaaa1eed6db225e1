"""Answers of `aircoding rules` as text for people: a line a file, its reason below, what is lost at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aircoding.cli.output import table
from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.tools.account import Cause, FileEntry, Tool, ToolAccount, Verdict, When
from aircoding.rules.tools.worker import plain_paths

if TYPE_CHECKING:
    from aircoding.rules.tools.compare import Comparison
    from aircoding.rules.tools.listing import RuleFileEntry
    from aircoding.rules.tools.worker import RuleEntry, WorkerAccount

__all__ = ["account_text", "comparison_text", "list_text", "rules_text", "worker_text"]

_WIDTH = 100
_FAR = frozenset({Cause.NAME, Cause.ELSEWHERE})
_COLUMNS = {Tool.CLAUDE_CODE: "claude"}


def account_text(account: ToolAccount, *, show_all: bool) -> str:
    """Return what a tool makes of the files."""
    where = f", started in {account.cwd}" if account.cwd else ""
    parts = [
        f"{account.tool.value}{where}, for {account.path or 'the root'}",
        _wrapped(f"Order: {account.order}."),
        "",
        *_files(account.entries, show_all=show_all),
        "",
        _totals(account),
        *_remarks(_near(account, show_all=show_all), account.notes),
    ]
    return "\n".join(parts)


def _files(entries: Sequence[FileEntry], *, show_all: bool) -> Iterable[str]:
    shown = [one for one in entries if show_all or one.cause not in _FAR]
    size = max((len(_size(one)) for one in shown), default=0)
    for one in shown:
        position = str(one.position) if one.position is not None else "-"
        yield f"{position:>3}  {_verdict(one):<9}  {_size(one):>{size}}  {_names(one)}"
        yield _wrapped(_why(one), indent=5)
    if not shown:
        yield "No rule file speaks to this path."
    hidden = [one for one in entries if one not in shown]
    if hidden:
        others = sum(one.cause is Cause.NAME for one in hidden)
        counted = [
            f"{len(hidden) - others} of other folders" if len(hidden) > others else "",
            f"{others} of names that it does not read" if others else "",
        ]
        yield f"Not shown: {' and '.join(part for part in counted if part)} (--all shows them)."


def _verdict(entry: FileEntry) -> str:
    if entry.verdict is Verdict.LOADED:
        return "on touch" if entry.when is When.TOUCH else "loaded"
    if entry.verdict is Verdict.PARTLY:
        return "partly"
    if entry.verdict in {Verdict.DESCRIBED, Verdict.MANUAL, Verdict.REFUSED}:
        return {Verdict.DESCRIBED: "asked", Verdict.MANUAL: "by name"}.get(entry.verdict, "refused")
    return "lost" if entry.lost else "duplicate" if entry.cause is Cause.DUPLICATE else "no"


def _size(entry: FileEntry) -> str:
    if entry.kept_bytes == entry.size_bytes:
        return f"{entry.size_bytes:,} B"
    return f"{entry.kept_bytes:,} of {entry.size_bytes:,} B"


def _names(entry: FileEntry) -> str:
    others = [name for name in entry.names if name != entry.path]
    return f"{entry.path}  (= {', '.join(others)})" if others else entry.path


def _why(entry: FileEntry) -> str:
    more = [
        f"; takes the place of {', '.join(entry.shadows)}" if entry.shadows else "",
        f"; imported by {', '.join(entry.imported_by)}" if len(entry.imported_by) > 1 else "",
    ]
    return entry.why + "".join(more)


def _totals(account: ToolAccount) -> str:
    loaded = [one for one in account.entries if one.reaches]
    words = f"Loaded: {_count(len(loaded), 'file')}, {account.loaded_bytes:,} bytes."
    if not account.lost:
        return f"{words} Nothing is lost here."
    lost = f"Lost here: {_count(len(account.lost), 'file')}, {account.lost_bytes:,} bytes: {', '.join(account.lost)}."
    return f"{words}\n{_wrapped(lost)}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _near(account: ToolAccount, *, show_all: bool) -> Iterable[Diagnostic]:
    """Return the remarks on files that are shown, and those on no file of the account."""
    far = {one.path for one in account.entries if one.cause in _FAR and not show_all}
    return (one for one in account.warnings if one.uri not in far)


def _remarks(warnings: Iterable[Diagnostic], notes: Iterable[str]) -> Iterable[str]:
    for one in warnings:
        at = f"{one.uri}:{one.line}" if one.line is not None else one.uri
        yield _wrapped(f"! {at}: {one.message}{f' ({one.hint})' if one.hint else ''}", after=2)
    for note in notes:
        yield _wrapped(note)


def _wrapped(text: str, *, indent: int = 0, after: int = 0) -> str:
    """Break a text into lines of at most 100 columns; a path is never broken."""
    blank = " " * indent
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=blank,
        subsequent_indent=blank + " " * after,
        break_long_words=False,
        break_on_hyphens=False,
    )


def worker_text(account: WorkerAccount, *, show_all: bool) -> str:
    """Return which rules a worker has, file by file and part by part."""
    tags = f", tagged {', '.join(account.tags)}" if account.tags else ""
    parts = [
        f"a worker of ours ({account.role}{tags}), for {account.files.path or 'the root'}",
        _wrapped(f"Order: {account.files.order}."),
        "",
        *_files(account.files.entries, show_all=show_all),
        "",
        *_rule_lines(account.rules),
        _totals(account.files),
        *_remarks(_near(account.files, show_all=show_all), account.files.notes),
    ]
    return "\n".join(parts)


def rules_text(account: WorkerAccount, *, show_all: bool) -> str:
    """Return every rule that is in, and with `show_all` those that are not, by name and place."""
    parts = [f"rules of a worker of ours ({account.role}), for {account.files.path or 'the root'}", ""]
    for rule in account.rules:
        if rule.position is not None or show_all:
            position = str(rule.position) if rule.position is not None else "-"
            remark = " (confirmed)" if rule.confirmed else ""
            parts.append(f"{position:>3}  {rule.outcome.value:<11}  {rule.name}{remark}")
            parts.append(_wrapped(f"{rule.path} {_lines(rule)}: {plain_paths(rule.why)}", indent=5))
    return "\n".join(parts)


def _rule_lines(rules: Sequence[RuleEntry]) -> Iterable[str]:
    """Yield what took the place of what: it is told by rule, for a part of a file can be overridden alone."""
    overriding = [rule for rule in rules if rule.overrides]
    for rule in overriding:
        yield _wrapped(
            f"{rule.path} ({rule.rule_id or _lines(rule)}) overrides {plain_paths(', '.join(rule.overrides))}"
        )
    if overriding:
        yield ""


def _lines(rule: RuleEntry) -> str:
    return f"lines {rule.start_line}-{rule.end_line}" if rule.start_line is not None else "whole"


def comparison_text(found: Comparison) -> str:
    """Return the table, tools as columns and the file last, and the differences below."""
    headings = [_COLUMNS.get(tool, tool.value) for tool in found.tools]
    rows = [[*(cell.word for cell in row.cells), " = ".join(row.names)] for row in found.rows]
    parts = [f"for {found.path or 'the root'}", ""]
    parts.append(table([*headings, "file"], rows) if rows else "No rule file speaks to this path.")
    if found.others:
        parts.append(f"{_count(found.others, 'more file')} that no tool takes here (other folders, other paths).")
    parts.append("")
    parts += [_wrapped(f"- {one}", after=2) for one in found.differences] or ["All tools agree."]
    return "\n".join(parts)


def list_text(found: Sequence[RuleFileEntry], problems: Iterable[Diagnostic]) -> str:
    """Return the files as a table, and what is wrong with them."""
    rows = [
        (one.dialect, one.mode, f"{one.size_bytes:,}", " = ".join(one.names), _short(one.scope))
        for one in found
        if one.path == one.names[0]
    ]
    parts = [table(["of", "mode", "bytes", "file", "for"], rows) if rows else "There is no rule file here."]
    remarks = [*_remarks((problem for one in found for problem in one.problems), ()), *_remarks(problems, ())]
    return "\n".join([*parts, *([""] if remarks else []), *remarks])


def _short(scope: str) -> str:
    return scope if len(scope) <= 40 else f"{scope[:39]}…"
