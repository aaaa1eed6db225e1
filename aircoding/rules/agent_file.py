"""An agent of Claude Code (`.claude/agents/**/*.md`), read leniently; keys that nobody knows are kept.

Compatibility table, row Subagents (its documentation, read 2026-08). The header is read as that of a skill is: marks,
line ends and colons that YAML refuses are made good, and each of that is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aircoding.records.diagnostics import Diagnostic
from aircoding.rules.front_matter import FrontMatter
from aircoding.rules.skill_header import read_skill_header

__all__ = ["AGENT_KEYS", "Agent", "AgentFile", "parse_agent"]

AGENT_KEYS = (
    *("name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns", "skills", "mcpServers"),
    *("hooks", "memory", "background", "effort", "isolation", "color", "initialPrompt"),
)
"""All keys of its documentation."""

_TOOL = re.compile(r"[^\s,(]+(?:\([^)\n]*\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent. `tools` is None where it has all; `header` keeps every key, known or not."""

    name: str
    description: str
    prompt: str
    prompt_start_line: int
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def unknown_keys(self) -> tuple[str, ...]:
        """Keys that the documentation does not have, as they stand in the header."""
        return tuple(key for key in self.header if key not in AGENT_KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """The agent of a file, or None where it cannot be used, and all remarks on it."""

    agent: Agent | None
    diagnostics: tuple[Diagnostic, ...]


def parse_agent(text: str, uri: str = "") -> AgentFile:
    """Read an agent file. Never raises; a file without a name, a description or a prompt has no agent."""
    matter = read_skill_header(text, uri, AGENT_KEYS)
    if matter.broken:
        return AgentFile(agent=None, diagnostics=matter.diagnostics)
    faults = [
        *(
            _fault(uri, 1, f"`{key}` is missing", f"add `{key}:`")
            for key in ("name", "description")
            if _no(matter, key)
        ),
        *(
            [_fault(uri, matter.body_start_line, "it has no prompt", "write it below the header")]
            if _bare(matter)
            else []
        ),
    ]
    name = (matter.text("name") or "").strip()
    if ":" in name:
        faults.append(_fault(uri, matter.lines.get("name", 1), f"`{name}` holds a colon", "give it a plain name"))
    try:
        tools, disallowed = _tools(matter, "tools"), _tools(matter, "disallowedTools")
    except ValueError as error:
        faults.append(
            _fault(uri, matter.lines.get(str(error), 1), f"`{error}` is no list of tools", "write `Read, Grep`")
        )
        tools = disallowed = None
    if faults:
        return AgentFile(agent=None, diagnostics=(*matter.diagnostics, *faults))
    lines = matter.body.split("\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    agent = Agent(
        name=name,
        description=(matter.text("description") or "").strip(),
        prompt="\n".join(lines[first:]).rstrip(),
        prompt_start_line=matter.body_start_line + first,
        tools=tools,
        disallowed_tools=disallowed or (),
        header=matter.data,
    )
    return AgentFile(agent=agent, diagnostics=matter.diagnostics)


def _no(matter: FrontMatter, key: str) -> bool:
    return matter.data.get(key) is None or not (matter.text(key) or "").strip()


def _bare(matter: FrontMatter) -> bool:
    return not matter.body.strip()


def _tools(matter: FrontMatter, key: str) -> tuple[str, ...] | None:
    """Return the tools of a key: a list, or one text parted by commas. None where it is absent, empty or `*`.

    Raises:
        ValueError: it is neither; the text is the key.
    """
    if matter.data.get(key) is None:
        return None
    listed = matter.texts(key)
    if listed is None:
        raise ValueError(key)
    names = tuple(name for text in listed for name in _TOOL.findall(text))
    return None if names == ("*",) and key == "tools" else names


def _fault(uri: str, line: int, message: str, hint: str) -> Diagnostic:
    return Diagnostic(severity="error", code="agent.invalid", message=message, uri=uri, line=line, hint=hint)
