"""What becomes of another tool's files when a project takes them over: when they are read, or not at all, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from aircoding.rules.foreign_header import RuleMode
from aircoding.rules.owner_rules import own_reading
from aircoding.rules.rule_names import Dialect, RuleName
from aircoding.rules.tree import Owner, RuleTree, TreeFile, tree_name

__all__ = ["CLAUDE_SETTINGS", "AdoptedFile", "ForeignTool", "Reading", "adopted_files", "is_agent_file"]

CLAUDE_SETTINGS = ".claude/settings.json"
"""Where Claude Code keeps a project's permission rules."""


class ForeignTool(StrEnum):
    """A tool whose files can be taken over; the value is the word of the command line and of its switch."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    COPILOT = "copilot"
    GEMINI = "gemini"


class Reading(StrEnum):
    """When a file reaches agents."""

    ALWAYS = "always"
    BY_PATH = "by path"
    ON_DEMAND = "on demand"
    NEVER = "not at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedFile:
    """One file of the tool, when it reaches agents, and why so."""

    path: str
    reading: Reading
    why: str


_DIALECTS = {
    ForeignTool.CLAUDE: frozenset({Dialect.CLAUDE, Dialect.CLAUDE_RULES}),
    ForeignTool.CURSOR: frozenset({Dialect.CURSOR}),
    ForeignTool.COPILOT: frozenset({Dialect.COPILOT}),
    ForeignTool.GEMINI: frozenset({Dialect.GEMINI}),
}
_FOLDERS = {
    ForeignTool.CLAUDE: ".claude",
    ForeignTool.CURSOR: ".cursor",
    ForeignTool.COPILOT: ".github",
    ForeignTool.GEMINI: ".gemini",
}
_OTHERS = {
    "settings.json": "only its `permissions` are translated",
    "settings.local.json": "it is one person's own: put what should hold into ~/.air/permissions.yaml",
    "commands": "a person calls it; there are no such commands here",
    "prompts": "a person calls it; there are no such commands here",
    "chatmodes": "roles are described in .air/shared/roles/",
    "agents": "roles are described in .air/shared/roles/",
    "hooks": "hooks are set up anew",
    "mcp.json": "agents call no MCP servers",
    "rules": "it is no rule file by its name",
}
_COPILOT_PARTS = ("prompts", "chatmodes", "agents", "instructions")
"""What of `.github` is Copilot's; the rest belongs to the forge."""
_MODES = {
    RuleMode.ALWAYS: Reading.ALWAYS,
    RuleMode.GLOB: Reading.BY_PATH,
    RuleMode.DESCRIBED: Reading.ON_DEMAND,
    RuleMode.MANUAL: Reading.ON_DEMAND,
}


def is_agent_file(path: str) -> bool:
    """Whether a path of a project is one where Claude Code looks for its agents."""
    return path.startswith(f"{_FOLDERS[ForeignTool.CLAUDE]}/agents/") and path.endswith(".md")


def adopted_files(tree: RuleTree, tool: ForeignTool) -> tuple[AdoptedFile, ...]:
    """Return every file of the tool in the project by path, each with what becomes of it."""
    names = tree.same_files()
    found = {
        path: _rule_file(file, file.name, names.get(file.identity, ()) if file.identity is not None else ())
        for path, file in tree.files.items()
        if file.name is not None and file.name.dialect in _DIALECTS[tool] and file.of_project
    }
    for other in _other_files(tree, tool):
        found.setdefault(other.path, other)
    return tuple(found[path] for path in sorted(found))


def _rule_file(file: TreeFile, name: RuleName, names: tuple[str, ...]) -> AdoptedFile:
    reading, why = _reading(file, name)
    others = [name for name in names if name != file.path]
    if others and reading is not Reading.NEVER:
        why += f"; the same file as {', '.join(others)}"
    return AdoptedFile(path=file.path, reading=reading, why=why)


def _reading(file: TreeFile, name: RuleName) -> tuple[Reading, str]:
    if file.problem is not None:
        return Reading.NEVER, file.problem
    if not file.text.strip():
        return Reading.NEVER, "it holds no text"
    own = own_reading(file, name)
    if own.refused is not None:
        return Reading.NEVER, own.refused.detail
    header, folder = own.header, name.folder
    if header.mode is RuleMode.ALWAYS and folder:
        return Reading.BY_PATH, f"for work in {folder}/"
    where = f", for work in {folder}/" if folder else ""
    return _MODES[header.mode], header.why_mode + where


def _other_files(tree: RuleTree, tool: ForeignTool) -> Iterator[AdoptedFile]:
    """Yield what lies in the tool's own folder and is no rule file."""
    folder = _FOLDERS[tool]
    for path in tree.paths:
        parts = path.split("/")
        if folder not in parts[:-1]:
            continue
        inner, name = parts[parts.index(folder) + 1 :], tree_name(Owner.PROJECT, path)
        if tool is ForeignTool.COPILOT and inner[0] not in _COPILOT_PARTS:
            continue
        if tool is ForeignTool.CLAUDE and inner[0] == "skills" and len(inner) > 1:
            yield AdoptedFile(path=name, reading=Reading.ON_DEMAND, why=f"it belongs to the skill {inner[1]}")
            continue
        why = _OTHERS.get(inner[0], "nothing here reads it")
        if is_agent_file(path):
            why = "what can be said of it becomes a role in .air/shared/roles/"
        yield AdoptedFile(path=name, reading=Reading.NEVER, why=why)
