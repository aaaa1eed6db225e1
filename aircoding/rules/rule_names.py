"""Which paths are rule files, and whose: told by name alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AGENTS_NAMES", "NATIVE_FOLDER", "Dialect", "RuleName", "classify", "folder_glob", "within"]

NATIVE_FOLDER = ".air/shared/rules"
AGENTS_NAMES = ("AGENTS.override.md", "AGENTS.md")
"""In each folder the first of these that is a regular file counts (Codex, `agents_md.rs`, read 2026-08)."""

_CLAUDE = frozenset({"CLAUDE.md", "CLAUDE.local.md", "claude.md"})
_HERMES = frozenset({"HERMES.md", ".hermes.md", "agents.md"})
_ENDS = (".md", ".mdc", "rules")
"""How the name of every rule file ends: of thousands of paths most need no closer look."""
_PLAN_CONSTRAINTS = ".air/shared/plan/AGENTS.md"
"""Architecture constraints, layer L4; no rule file (DESIGN section 5)."""


class Dialect(StrEnum):
    """Whose rule file it is; the value is the word by which people know it."""

    NATIVE = "native"
    AGENTS = "AGENTS.md"
    CLAUDE = "CLAUDE.md"
    CLAUDE_RULES = ".claude/rules"
    CURSOR = "Cursor"
    COPILOT = "Copilot"
    GEMINI = "GEMINI.md"
    HERMES = "Hermes"
    WINDSURF = "Windsurf"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleName:
    """A rule file by name; `folder` is the folder that it speaks for (`` for the project root)."""

    path: str
    dialect: Dialect
    folder: str


def classify(path: str) -> RuleName | None:
    """Return what rule file a project path is, or None when it is none."""
    if not path.endswith(_ENDS) or path == _PLAN_CONSTRAINTS or path.startswith(".air/local/"):
        return None
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if not parts:
        return None
    found = _dialect(path, parts)
    if found is None:
        return None
    dialect, depth = found
    return RuleName(path=path, dialect=dialect, folder="/".join(parts[:depth]))


def _dialect(path: str, parts: tuple[str, ...]) -> tuple[Dialect, int] | None:
    """Return the dialect and how many leading parts of the path are the folder that the file speaks for."""
    name, above = parts[-1], len(parts) - 1
    if path.startswith(f"{NATIVE_FOLDER}/"):
        return (Dialect.NATIVE, 0) if name.endswith(".md") else None
    if name in AGENTS_NAMES:
        return Dialect.AGENTS, above
    if name in _CLAUDE:
        return Dialect.CLAUDE, above - 1 if above and parts[-2] == ".claude" else above
    if name == "GEMINI.md":
        return Dialect.GEMINI, above
    if name in _HERMES:
        return Dialect.HERMES, above
    return _tool_folder(parts, name, above)


def _tool_folder(parts: tuple[str, ...], name: str, above: int) -> tuple[Dialect, int] | None:
    for place, part in enumerate(parts[:-1]):
        following = parts[place + 1]
        if part == ".claude" and following == "rules" and name.endswith(".md") and place + 1 < above:
            return Dialect.CLAUDE_RULES, place
        if part == ".cursor" and (name.endswith(".mdc") or (following == "rules" and name.endswith(".md"))):
            return Dialect.CURSOR, place
        if part == ".windsurf" and following == "rules" and name.endswith(".md") and place + 1 < above:
            return Dialect.WINDSURF, place
        if part == ".github" and (
            name == "copilot-instructions.md" or (following == "instructions" and name.endswith(".instructions.md"))
        ):
            return Dialect.COPILOT, place
    if name == ".cursorrules":
        return Dialect.CURSOR, above
    if name == ".windsurfrules":
        return Dialect.WINDSURF, above
    if name.endswith(".instructions.md"):
        return Dialect.COPILOT, above
    return None


def folder_glob(folder: str) -> tuple[str, ...]:
    """Return the globs of everything below a folder, its special characters taken literally; none for the root."""
    return (within(folder, "**"),) if folder else ()


def within(folder: str, pattern: str) -> str:
    """Return a glob of a rule file that speaks for a folder, anchored at the project root."""
    if not folder:
        return pattern
    literal = "".join(f"\\{char}" if char in "\\*?[]{}" else char for char in folder)
    anchored = f"{literal}/{pattern.strip().removeprefix('./').lstrip('/')}"
    return f"./{anchored}" if folder.startswith("!") else anchored
