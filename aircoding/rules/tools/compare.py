"""What several tools make of the same files, side by side, and where they differ in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aircoding.rules.tools.account import Cause, FileEntry, Tool, ToolAccount, Verdict, When
from aircoding.rules.tree import tree_uri

__all__ = ["Cell", "Comparison", "Row", "compare_accounts"]

_NAMED = 3
"""Files that one sentence names; the rest is counted."""
_NOT_ITS_OWN = frozenset({Cause.NAME, Cause.ELSEWHERE, Cause.GLOB, Cause.EMPTY, Cause.DUPLICATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one tool makes of one file: in a word, and why."""

    tool: Tool
    word: str
    verdict: Verdict
    when: When | None
    kept_bytes: int
    size_bytes: int
    lost: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One file by all its names, with a cell for each tool, in the order of the columns."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def matters(self) -> bool:
        """Whether any tool has it, loses it, or offers it."""
        return any(cell.word != "no" for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The table, and its differences in words. `others` counts files that no tool takes for this path."""

    path: str
    tools: tuple[Tool, ...]
    rows: tuple[Row, ...]
    others: int
    differences: tuple[str, ...]


def compare_accounts(accounts: Sequence[ToolAccount]) -> Comparison:
    """Compare accounts of one path."""
    entries = [{one.path: one for one in account.entries} for account in accounts]
    groups: dict[tuple[str, ...], None] = {}
    for account in accounts:
        for entry in account.entries:
            groups.setdefault(entry.names)
    rows = [
        Row(
            names=names,
            cells=tuple(
                _cell(account.tool, [known[name] for name in names if name in known])
                for account, known in zip(accounts, entries, strict=True)
            ),
        )
        for names in sorted(groups, key=_reading_order)
    ]
    shown = tuple(row for row in rows if row.matters)
    return Comparison(
        path=accounts[0].path if accounts else "",
        tools=tuple(account.tool for account in accounts),
        rows=shown,
        others=len(rows) - len(shown),
        differences=tuple(_differences(shown, accounts)),
    )


def _reading_order(names: tuple[str, ...]) -> tuple[bool, int, tuple[str, ...]]:
    """Project files by depth; those of user and machine last."""
    return not tree_uri(names[0]).startswith("project:"), names[0].count("/"), names


def _cell(tool: Tool, entries: Sequence[FileEntry]) -> Cell:
    """Of several names of one file the one counts under which it reaches furthest."""
    best = min(entries, key=_rank, default=None)
    if best is None:
        return Cell(
            tool=tool,
            word="no",
            verdict=Verdict.NOT_LOADED,
            when=None,
            kept_bytes=0,
            size_bytes=0,
            lost=False,
            why="it was not considered",
        )
    return Cell(
        tool=tool,
        word=_word(best),
        verdict=best.verdict,
        when=best.when,
        kept_bytes=best.kept_bytes,
        size_bytes=best.size_bytes,
        lost=best.lost,
        why=best.why,
    )


def _rank(entry: FileEntry) -> tuple[bool, bool, bool]:
    return not entry.reaches, not entry.lost, entry.cause in _NOT_ITS_OWN


def _word(entry: FileEntry) -> str:
    if entry.verdict is Verdict.PARTLY:
        return f"{_percent(entry)} %"
    if entry.verdict is Verdict.LOADED:
        return "on touch" if entry.when is When.TOUCH else "loaded"
    if entry.verdict in {Verdict.DESCRIBED, Verdict.MANUAL}:
        return "asked" if entry.verdict is Verdict.DESCRIBED else "by name"
    return "lost" if entry.lost else "no"


def _percent(entry: FileEntry) -> int:
    """Return the kept part, never 0 or 100: a file that is cut is neither gone nor whole."""
    return min(99, max(1, round(100 * entry.kept_bytes / entry.size_bytes))) if entry.size_bytes else 99


def _differences(rows: Sequence[Row], accounts: Sequence[ToolAccount]) -> Iterable[str]:
    """Yield one sentence for each kind of difference: files that fare alike are named together."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Row]] = {}
    for row in rows:
        words = tuple(cell.word for cell in row.cells)
        whys = tuple(cell.why if cell.lost else "" for cell in row.cells)
        if len(set(words)) > 1:
            alike.setdefault((words, whys), []).append(row)
    for same in alike.values():
        yield _sentence(same)
    seen: set[str] = set()
    shown = {name for row in rows for name in row.names}
    for account in accounts:
        for warning in (one for one in account.warnings if one.uri in shown):
            at = f"{warning.uri}:{warning.line}" if warning.line is not None else warning.uri
            said = f"{at}: {warning.message}"
            if said not in seen:
                seen.add(said)
                yield said


def _sentence(rows: Sequence[Row]) -> str:
    cells = rows[0].cells
    having = [_with_word(cell) for cell in cells if cell.word != "no" and cell.word != "lost"]
    losing = [f"{cell.tool.value} loses it ({cell.why})" for cell in cells if cell.word == "lost"]
    without = [cell.tool.value for cell in cells if cell.word == "no"]
    parts = [
        f"reaches {', '.join(having)}" if having else "",
        "; ".join(losing),
        f"not {', '.join(without)}" if without and having else "",
    ]
    return f"{_names(rows)}: {'; '.join(part for part in parts if part)}"


def _with_word(cell: Cell) -> str:
    return cell.tool.value if cell.word == "loaded" else f"{cell.tool.value} ({cell.word})"


def _names(rows: Sequence[Row]) -> str:
    named = [" = ".join(row.names) for row in rows[:_NAMED]]
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"{', '.join(named)}{more}"
