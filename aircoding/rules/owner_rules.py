"""What one rule file is by its owner's definition: when it applies, to what, or why its owner passes over it.

Owners' documentation as read in 2026-08; docs/reference/rule-files.md is the table of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from aircoding.records.layers import OutcomeKind, Reason
from aircoding.records.segments import Barred
from aircoding.rules.foreign_header import ForeignHeader, HeaderStyle, RuleMode, read_foreign_header
from aircoding.rules.precedence import Level
from aircoding.rules.reach import Reach, folder_reach
from aircoding.rules.rule_names import Dialect, RuleName
from aircoding.rules.tree import Owner, TreeFile, tree_uri

__all__ = ["OwnReading", "group_of", "header_style", "own_reading", "read_header"]

_GROUPS = {
    Dialect.AGENTS: ("AGENTS.override.md", "AGENTS.md"),
    Dialect.CLAUDE: ("CLAUDE.md", "claude.md"),
    Dialect.HERMES: (".hermes.md", "HERMES.md"),
}
"""Of the files of one folder the first of these counts. `agents.md` is Hermes' last name for `AGENTS.md`."""

_STYLES = {
    Dialect.CLAUDE_RULES: HeaderStyle.CLAUDE,
    Dialect.CURSOR: HeaderStyle.CURSOR,
    Dialect.COPILOT: HeaderStyle.COPILOT,
    Dialect.WINDSURF: HeaderStyle.WINDSURF,
}
_REMEMBERED_CHARS = 16_384
_HEADLESS = (".cursorrules", ".windsurfrules", "copilot-instructions.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReading:
    """How a file is read: its header, its reach, and `refused` where its owner would not apply it."""

    header: ForeignHeader
    reach: Reach
    refused: Barred | None = None


def group_of(file: TreeFile, name: RuleName, fallbacks: tuple[str, ...]) -> tuple[str, int] | None:
    """Return the group of a file in its folder and its place there; None: nothing takes its place."""
    base = file.path.rsplit("/", 1)[-1]
    by_place = name.dialect is Dialect.CLAUDE or not file.of_project
    where = f"{file.owner}:{file.folder if by_place else name.folder}"
    if base == "agents.md":
        return f"{Dialect.AGENTS}:{where}", len(_GROUPS[Dialect.AGENTS]) + len(fallbacks)
    if name.dialect is Dialect.AGENTS and base in fallbacks:
        return f"{Dialect.AGENTS}:{where}", len(_GROUPS[Dialect.AGENTS]) + fallbacks.index(base)
    names = _GROUPS.get(name.dialect, ())
    return (f"{name.dialect}:{where}", names.index(base)) if base in names else None


def header_style(file: TreeFile) -> HeaderStyle:
    """Return whose header a rule file of another tool has."""
    if file.name is None or file.path.endswith(_HEADLESS):
        return HeaderStyle.PLAIN
    return _STYLES.get(file.name.dialect, HeaderStyle.PLAIN)


def read_header(file: TreeFile) -> ForeignHeader:
    """Return the header of a rule file of another tool; of one that did not change it is not read again."""
    read = _remembered if len(file.text) <= _REMEMBERED_CHARS else read_foreign_header
    return read(file.text, header_style(file), tree_uri(file.path))


_remembered = lru_cache(maxsize=4096)(read_foreign_header)


def own_reading(file: TreeFile, name: RuleName) -> OwnReading:
    """Return how a file that could be read is meant by its owner."""
    header = read_header(file)
    refused = _refused(name, header, tree_uri(file.path))
    return OwnReading(header=header, reach=_reach(file, name, header), refused=refused)


def _reach(file: TreeFile, name: RuleName, header: ForeignHeader) -> Reach:
    if file.of_project:
        return folder_reach(name.folder, header.patterns)
    level = Level.USER if file.owner is Owner.USER else Level.MANAGED
    return Reach(level=level, paths=header.patterns, of_user=True)


def _refused(name: RuleName, header: ForeignHeader, uri: str) -> Barred | None:
    why = _misplaced(name)
    if why is not None:
        return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.INVALID, detail=why)
    if header.broken:
        fault = next((one for one in header.diagnostics if one.severity == "error"), None)
        line = f":{fault.line}" if fault is not None and fault.line is not None else ""
        said = fault.message if fault is not None else "the header cannot be read"
        return Barred(outcome=OutcomeKind.QUARANTINED, reason=Reason.INVALID, detail=f"{uri}{line}: {said}")
    if header.mode is RuleMode.GLOB and not header.patterns:
        detail = f"none of its globs can be read, so it matches nothing ({header.why_mode})"
        return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.INVALID, detail=detail)
    if {"code-review", "coding-agent"} <= set(header.excluded_agents):
        detail = "its `excludeAgent` names both coding-agent and code-review"
        return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.DISABLED, detail=detail)
    return None


def _misplaced(name: RuleName) -> str | None:
    """Say why the owner of a file would not find it, or None."""
    path, folder = name.path, name.folder
    if name.dialect is Dialect.CURSOR:
        if path.endswith(".cursorrules"):
            return "Cursor reads .cursorrules in the project root only" if folder else None
        if ".cursor/rules/" not in path:
            return "Cursor reads rules below .cursor/rules only"
        return None if path.endswith(".mdc") else "Cursor reads .mdc files only and passes over a plain .md file here"
    if name.dialect is Dialect.COPILOT:
        if path.endswith(".instructions.md"):
            found = path.startswith(".github/instructions/")
            return None if found else "Copilot reads *.instructions.md below .github/instructions of the root only"
        found = path == ".github/copilot-instructions.md"
        return None if found else "Copilot reads copilot-instructions.md in .github of the project root only"
    if path.endswith(".windsurfrules") and folder:
        return "Windsurf reads .windsurfrules in the project root only"
    return None
