"""What several tools make of the same files, side by side, and where they differ in words."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.tools.account import Cause, FileEntry, Tool, ToolAccount, Verdict, When
from aircoding.rules.tools.worker import BUILT_IN
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


def _reading_order(names: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    """Project files by depth, then those of user and machine; what is built in last."""
    group = 2 if names[0].startswith(BUILT_IN) else int(not tree_uri(names[0]).startswith("project:"))
    return group, names[0].count("/"), names


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
    return "lost" if entry.lost else "duplicate" if entry.cause is Cause.DUPLICATE else "no"


def _percent(entry: FileEntry) -> int:
    """Return the kept part, never 0 or 100: a file that is cut is neither gone nor whole."""
    return min(99, max(1, round(100 * entry.kept_bytes / entry.size_bytes))) if entry.size_bytes else 99


def _differences(rows: Sequence[Row], accounts: Sequence[ToolAccount]) -> Iterable[str]:
    """Yield one sentence for each kind of difference: files that fare alike are named together."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Row]] = {}
    for row in rows:
        words = tuple(cell.word for cell in row.cells)
        whys = tuple(_from_there(cell.why, row.names[0]) if cell.lost else "" for cell in row.cells)
        if len(set(words)) > 1:
            alike.setdefault((words, whys), []).append(row)
    for same in alike.values():
        yield _sentence(same)
    shown = {name for row in rows for name in row.names}
    yield from _remarks((account.tool, one) for account in accounts for one in account.warnings if one.uri in shown)


def _from_there(text: str, path: str) -> str:
    """Write the files of a folder as from there, so that what is said of several folders alike is said once."""
    folder = posixpath.dirname(path)
    return text.replace(f"{folder}/", "") if folder else text


def _remarks(found: Iterable[tuple[Tool, Diagnostic]]) -> Iterable[str]:
    """Yield what tools say of files: one statement once, with all files and all tools that it is true of."""
    tools: dict[tuple[str, str], dict[str, str]] = {}
    for tool, one in found:
        at = f"{one.uri}:{one.line}" if one.line is not None else one.uri
        tools.setdefault((at, one.message), {})[tool.value] = one.uri
    places: dict[tuple[str, tuple[str, ...]], list[tuple[str, str]]] = {}
    for (at, message), named in tools.items():
        uri = next(iter(named.values()))
        places.setdefault((_from_there(message, uri), tuple(named)), []).append((at, message))
    for (short, named_tools), said in places.items():
        message = said[0][1] if len(said) == 1 else short
        yield f"{_listed([at for at, _ in said])} ({', '.join(named_tools)}): {message}"


def _sentence(rows: Sequence[Row]) -> str:
    cells = rows[0].cells
    having = [_with_word(cell) for cell in cells if cell.word != "no" and cell.word != "lost"]
    first = rows[0].names[0]
    losing = [
        f"{cell.tool.value} loses it ({_from_there(cell.why, first) if len(rows) > 1 else cell.why})"
        for cell in cells
        if cell.word == "lost"
    ]
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
    return _listed([" = ".join(row.names) for row in rows])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
