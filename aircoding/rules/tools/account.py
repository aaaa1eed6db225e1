"""What one tool makes of a project's rule files for one path: every file once, with what decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aircoding.records.diagnostics import Diagnostic

__all__ = [
    "CODEX_MAX_BYTES",
    "HERMES_MAX_CHARS",
    "AgentsMode",
    "Cause",
    "FileEntry",
    "Tool",
    "ToolAccount",
    "ToolOptions",
    "Verdict",
    "When",
]

CODEX_MAX_BYTES = 32_768
"""`project_doc_max_bytes` of Codex, one budget for the whole chain (codex-rs/core/src/agents_md.rs, read 2026-08)."""
HERMES_MAX_CHARS = 20_000
"""Hermes' floor of a context file (agent/prompt_builder.py, read 2026-08); a large window raises it."""


class Tool(StrEnum):
    """Whose view it is."""

    WORKER = "worker"
    CODEX = "codex"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    COPILOT = "copilot"
    GEMINI = "gemini"
    HERMES = "hermes"


class Verdict(StrEnum):
    """What becomes of a file."""

    LOADED = "loaded"
    PARTLY = "partly"
    NOT_LOADED = "not_loaded"
    DESCRIBED = "described"
    MANUAL = "manual"
    REFUSED = "refused"


class When(StrEnum):
    """When a file is loaded: as the session starts, or as the path is touched."""

    START = "start"
    TOUCH = "touch"


class Cause(StrEnum):
    """What kept a file, or a part of it, out."""

    NAME = "name"
    ELSEWHERE = "elsewhere"
    GLOB = "glob"
    EMPTY = "empty"
    DUPLICATE = "duplicate"
    CAP = "cap"
    CWD = "cwd"
    SHADOWED = "shadowed"
    SWITCH = "switch"
    HEADER = "header"
    IMPORT = "import"
    UNREADABLE = "unreadable"
    SCOPE = "scope"
    OTHER = "other"


_LOST = frozenset(
    {Cause.CAP, Cause.CWD, Cause.SHADOWED, Cause.SWITCH, Cause.HEADER, Cause.IMPORT, Cause.UNREADABLE, Cause.OTHER}
)


class AgentsMode(StrEnum):
    """Which memory files Claude Code reads; its default is the second (since 2.1.277, 2026-09)."""

    CLAUDE_MD = "claude-md"
    EITHER = "claude-md-or-agents-md"
    BOTH = "claude-md-and-agents-md"
    MANAGED_ONLY = "managed-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """How a tool is set and where it was started; the defaults are those of the tools.

    `root` and `home` are absolute paths, for globs on absolute paths and imports that leave the project. `cwd` is a
    folder of the project (`` is its root). `max_bytes` and `fallback_names` are Codex's, `agents_mode` and `excludes`
    Claude Code's, `agent` is one that Copilot's `excludeAgent` may name, `context_names` Gemini CLI's.
    """

    cwd: str = ""
    root: str = "/project"
    home: str = "/home/user"
    max_bytes: int = CODEX_MAX_BYTES
    fallback_names: tuple[str, ...] = ()
    agents_mode: AgentsMode = AgentsMode.EITHER
    excludes: tuple[str, ...] = ()
    approved: frozenset[str] = frozenset()
    agent: str = ""
    context_names: tuple[str, ...] = ("GEMINI.md",)
    max_chars: int = HERMES_MAX_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file by one name. `names` are all names of the same file, this one included.

    `size_*` is what the file holds, `kept_*` what of it the tool takes; characters are 0 where nothing was read.
    `position` counts from 1 in the order in which the texts stand. `verified` is False where the tool's documents do
    not say what it does and `why` says what was assumed.
    """

    path: str
    names: tuple[str, ...]
    dialect: str | None
    verdict: Verdict
    why: str
    when: When | None = None
    cause: Cause | None = None
    position: int | None = None
    size_bytes: int = 0
    size_chars: int = 0
    kept_bytes: int = 0
    kept_chars: int = 0
    imported_by: tuple[str, ...] = ()
    shadows: tuple[str, ...] = ()
    verified: bool = True

    @property
    def reaches(self) -> bool:
        """Whether anything of the file is loaded for the path."""
        return self.verdict in {Verdict.LOADED, Verdict.PARTLY}

    @property
    def lost(self) -> bool:
        """Whether the file speaks to the path in the tool's own format, and not all of it is loaded."""
        return self.verdict is not Verdict.LOADED and self.cause in _LOST


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAccount:
    """All files: the loaded ones in their order, then the others by name. `order` says how far that order is sure."""

    tool: Tool
    path: str
    cwd: str
    order: str
    entries: tuple[FileEntry, ...]
    warnings: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    loaded_bytes: int = 0
    lost_bytes: int = 0
    lost: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, metadata={"json": False})
    """What of each loaded file is kept, by its name."""

    @classmethod
    def of(
        cls,
        tool: Tool,
        path: str,
        cwd: str,
        order: str,
        entries: tuple[FileEntry, ...],
        *,
        warnings: tuple[Diagnostic, ...] = (),
        notes: tuple[str, ...] = (),
        texts: Mapping[str, str] | None = None,
    ) -> ToolAccount:
        """Return the account of some entries, sorted and summed up."""
        ranked = sorted(entries, key=lambda one: (one.position is None, one.position or 0, one.path))
        lost = tuple(one for one in ranked if one.lost)
        return cls(
            tool=tool,
            path=path,
            cwd=cwd,
            order=order,
            entries=tuple(ranked),
            warnings=tuple(sorted(set(warnings), key=lambda one: (one.uri, one.line or 0, one.code, one.message))),
            notes=notes,
            loaded_bytes=sum(one.kept_bytes for one in ranked),
            lost_bytes=sum(one.size_bytes - one.kept_bytes for one in lost if one.size_bytes > one.kept_bytes),
            lost=tuple(one.path for one in lost),
            texts=texts or {},
        )
