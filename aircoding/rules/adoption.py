"""What becomes of another tool's files when a project takes them over: when they are read, or not at all, and why.

Nothing is decided here: it is told what the readers of rules and skills, which feed our workers, made of each file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from aircoding.rules.foreign_header import RuleMode
from aircoding.rules.import_walk import walk_imports
from aircoding.rules.rule_names import Dialect
from aircoding.rules.rule_use import NeutralRules, UsedFile
from aircoding.rules.tree import Owner, RuleTree, tree_name

__all__ = ["CLAUDE_SETTINGS", "AdoptedFile", "AdoptedSkill", "ForeignTool", "Reading", "adopted_files", "is_agent_file"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedSkill:
    """What became of a skill: whether agents are told of it, and why not, or what else is to be said of it."""

    usable: bool
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
    "skills": "it belongs to no skill that is read (.claude/skills/NAME/SKILL.md)",
}
_COPILOT_PARTS = ("prompts", "chatmodes", "agents", "instructions")
"""What of `.github` is Copilot's; the rest belongs to the forge."""


def is_agent_file(path: str) -> bool:
    """Whether a path of a project is one where Claude Code looks for its agents."""
    return path.startswith(f"{_FOLDERS[ForeignTool.CLAUDE]}/agents/") and path.endswith(".md")


def adopted_files(
    tree: RuleTree, rules: NeutralRules, tool: ForeignTool, *, skills: Mapping[str, AdoptedSkill]
) -> tuple[AdoptedFile, ...]:
    """Return every file of the tool in the project by path, each with what becomes of it.

    Args:
        tree: all rule files with what they import.
        rules: what became of them.
        tool: whose files are told of.
        skills: what became of the project's skills, by the path of their folder.
    """
    reader = _Reader(tree, rules)
    found = {
        path: reader.file(path)
        for path, file in tree.files.items()
        if file.name is not None and file.name.dialect in _DIALECTS[tool] and file.of_project
    }
    for listed in tree.paths:
        inner, path = _within(listed, tool), tree_name(Owner.PROJECT, listed)
        if inner and path not in found:
            found[path] = reader.file(path) if path in tree.files else _other_file(path, inner, skills)
    return tuple(found[path] for path in sorted(found))


class _Reader:
    """Says of a rule file what became of it."""

    def __init__(self, tree: RuleTree, rules: NeutralRules) -> None:
        self._tree = tree
        self._used = {one.path: one for one in rules.used}
        self._names = {name: one for one in rules.used for name in one.also}
        walk = walk_imports(tree, {path: one.reach for path, one in self._used.items()})
        self._importers = {path: one.importers for path, one in walk.reached.items()}
        self._left_out = {one.path: one.why.detail for one in rules.left_out}

    def file(self, path: str) -> AdoptedFile:
        used = self._used.get(path)
        if used is not None:
            return AdoptedFile(path=path, reading=_reading(used), why=self._why(used))
        other = self._names.get(path)
        if other is not None:
            why = f"{self._why(other)}; the same file as {other.path}, and read as that"
            return AdoptedFile(path=path, reading=_reading(other), why=why)
        why = self._left_out.get(path, "no rule file that is read imports it")
        return AdoptedFile(path=path, reading=Reading.NEVER, why=_without_path(why.replace("project:", ""), path))

    def _why(self, used: UsedFile) -> str:
        if not used.header.body.strip():
            return "it holds no text"
        own, folders = self._tree.files[used.path].name, ", ".join(f"{folder}/" for folder in used.reach.folders)
        scoped = own is None or own.folder or used.header.patterns
        importers = (
            (used.importers or self._importers.get(used.path, ()))
            if scoped and not used.reach.paths
            else used.importers
        )
        if importers:
            why = f"{', '.join(importers)} {'imports' if len(importers) == 1 else 'import'} it"
        else:
            why = "" if folders and used.header.mode is RuleMode.ALWAYS else used.header.why_mode
        return _short_of(used, ", ".join(part for part in (why, folders and f"for work in {folders}") if part))


def _without_path(why: str, path: str) -> str:
    """The row names the file already."""
    at_line = why.startswith(f"{path}:") and why[len(path) + 1 :][:1].isdigit()
    return f"line {why[len(path) + 1 :]}" if at_line else why.removeprefix(f"{path}: ")


def _short_of(used: UsedFile, why: str) -> str:
    return why if used.most_bytes is None else f"{why}; of its text {used.most_bytes:,} bytes fit"


def _reading(used: UsedFile) -> Reading:
    if not used.header.body.strip():
        return Reading.NEVER
    if used.header.mode in {RuleMode.DESCRIBED, RuleMode.MANUAL}:
        return Reading.ON_DEMAND
    return Reading.BY_PATH if used.reach.paths else Reading.ALWAYS


def _within(path: str, tool: ForeignTool) -> list[str]:
    """Return where a path lies in a folder of the tool; empty: in none."""
    parts = path.split("/")
    folder = _FOLDERS[tool]
    inner = parts[parts.index(folder) + 1 :] if folder in parts[:-1] else []
    return [] if tool is ForeignTool.COPILOT and inner and inner[0] not in _COPILOT_PARTS else inner


def _other_file(path: str, inner: list[str], skills: Mapping[str, AdoptedSkill]) -> AdoptedFile:
    """Say of a file that is no rule file what becomes of it."""
    for folder, skill in skills.items():
        if f"{path}/".startswith(f"{folder}/") or folder.startswith(f"{path}/"):
            reading = Reading.ON_DEMAND if skill.usable else Reading.NEVER
            return AdoptedFile(path=path, reading=reading, why=skill.why)
    why = _OTHERS.get(inner[0], "nothing here reads it")
    if is_agent_file(path):
        why = "what can be said of it becomes a role in .air/shared/roles/"
    return AdoptedFile(path=path, reading=Reading.NEVER, why=why)
