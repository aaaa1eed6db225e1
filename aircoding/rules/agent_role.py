"""An agent of Claude Code as a role of a project: its prompt, what it is about, and categories for its tools."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from aircoding.rules.agent_file import Agent

__all__ = ["RoleDraft", "role_id", "role_of_agent"]

_CATEGORIES: Mapping[str, str] = {
    **dict.fromkeys(("Read", "Grep", "Glob", "LS", "NotebookRead"), "read"),
    **dict.fromkeys(("Edit", "Write", "MultiEdit", "NotebookEdit"), "edit"),
    **dict.fromkeys(("Bash", "BashOutput", "KillShell", "KillBash"), "execute"),
    **dict.fromkeys(("WebFetch", "WebSearch"), "network"),
    **dict.fromkeys(("Task", "Agent"), "delegate"),
}
_ORDER = ("read", "edit", "execute", "network", "delegate")
_WITHOUT_LIST = ("read", "edit", "execute")
"""What an agent gets that lists no tools: there it has all, here what work on files needs."""
_CARRIED = ("name", "description", "tools", "disallowedTools")
_WHY_NOT: Mapping[str, str] = {
    "model": "models are chosen in [models] of config.toml",
    "permissionMode": "what may be done is said by permissions.yaml",
    "maxTurns": "turns are limited by [run] of config.toml and by the task",
    "skills": "skills are offered to every role",
    "mcpServers": "agents call no MCP servers here",
    "hooks": "hooks are set up in .air/shared/hooks.yaml",
    "memory": "memory belongs to profiles and to the project",
    "background": "when work runs is said by the plan",
    "effort": "models are chosen in [models] of config.toml",
    "isolation": "every task has a worktree of its own",
    "color": "roles have no colour",
    "initialPrompt": "what to do is said by the task",
}
_HEADER = """\
---
# From {source}; that file stays as it is.
# {description}
role: {role}
title: {title}
layers:
  L3: {{detail: relevant, rule_kinds: [project, toolchain]}}
  L4: {{detail: relevant, kinds: [plan, adr]}}
  L5: {{detail: full}}
  L6: {{detail: relevant}}
  L8: {{detail: relevant}}
writes: {writes}
user_facing: false
tools: [{tools}]
result: worker-result
shares: {{L3: 0.20, L4: 0.15, L6: 0.45, L8: 0.20}}
{left}---

{prompt}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleDraft:
    """A role file for an agent, and each key or tool of it that could not be carried over, with the reason."""

    role: str
    text: str
    left: tuple[str, ...]


def role_id(name: str, packaged: Collection[str]) -> str | None:
    """Return the role id for an agent's name, or None where no id can be made of it.

    A name that a packaged role has gets `_project` behind it: packaged roles cannot be replaced.
    """
    words = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")
    if not words.isascii() or not words[:1].isalpha():
        return None
    return f"{words}_project" if words in packaged else words


def role_of_agent(agent: Agent, *, role: str, source: str) -> RoleDraft:
    """Return a role file that says as much of an agent as a role can."""
    categories, remarks = _categories(agent)
    left = (*remarks, *_left_keys(agent))
    text = _HEADER.format(
        source=_quoted(source),
        description=_quoted(agent.description),
        role=_quoted(role),
        title=_quoted(agent.name),
        writes="area" if "edit" in categories else "none",
        tools=", ".join(categories),
        left="".join(f"# Not carried over: {_quoted(one)}\n" for one in left),
        prompt=agent.prompt,
    )
    return RoleDraft(role=role, text=text, left=left)


def _quoted(text: str) -> str:
    """Return a text as YAML has it in quotes, on one line."""
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in escaped)


def _categories(agent: Agent) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the categories of an agent's tools, and what of its lists they do not say."""
    remarks: list[str] = []
    wanted = set(_WITHOUT_LIST)
    if agent.tools is not None:
        wanted = {category for category, _ in _found(agent.tools, "tools", remarks)}
    for category, tool in _found(agent.disallowed_tools, "disallowedTools", remarks):
        if category in wanted:
            wanted.discard(category)
            remarks.append(f"disallowedTools: {tool}: the role has no tools of the kind `{category}` then")
    return tuple(category for category in _ORDER if category in wanted), tuple(remarks)


def _found(tools: tuple[str, ...], key: str, remarks: list[str]) -> Iterator[tuple[str, str]]:
    for tool in tools:
        name, bracket, _ = tool.partition("(")
        category = _CATEGORIES.get(name)
        if category is None:
            why = "agents call no MCP servers here" if name.startswith("mcp__") else "there is no tool like it here"
            remarks.append(f"{key}: {tool}: {why}")
            continue
        if bracket:
            remarks.append(f"{key}: {tool}: what a tool may be used for is said by permissions.yaml")
        if not (bracket and key == "disallowedTools"):
            yield category, tool


def _left_keys(agent: Agent) -> Iterator[str]:
    for key in agent.header:
        if key not in _CARRIED:
            yield f"{key}: {_WHY_NOT.get(key, 'nothing here knows this key')}"
