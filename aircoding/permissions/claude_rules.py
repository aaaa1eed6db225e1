"""Claude Code's permission rules as lines of ours, as far as they have an equivalent (its documentation, read 2026-08).

A deny or an ask becomes lines that hold at least as widely; an allow lines that hold no wider. What cannot be said so
is handed back with the reason, never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from aircoding.permissions.foreign_rules import ForeignRules, NoEquivalent, Place, Untranslated, command_line, host_line
from aircoding.rules.globs import Dialect, glob_fault

__all__ = ["translate_claude_rules"]

_EFFECTS = ("deny", "ask", "allow")
_RULE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\((.*)\))?", re.DOTALL)
_OUR_TOOLS: Mapping[str, tuple[str, ...]] = {
    "Bash": ("shell",),
    "Read": ("fs_read",),
    "Glob": ("fs_glob",),
    "LS": ("fs_glob",),
    "Grep": ("fs_grep",),
    "Edit": ("fs_edit", "fs_write"),
    "MultiEdit": ("fs_edit", "fs_write"),
    "NotebookEdit": ("fs_edit", "fs_write"),
    "Write": ("fs_write",),
}
_WRITING = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_READING = frozenset({"Read", "Glob", "Grep", "LS"})
_ELSEWHERE: Mapping[str, str] = {
    "Agent": "which roles take part is said by the plan",
    "Task": "which roles take part is said by the plan",
    "Skill": "skills are switched off by name in [skills] disabled",
    "WebSearch": "agents have no web search here",
}


def translate_claude_rules(permissions: Any) -> ForeignRules:
    """Translate the `permissions` of a `.claude/settings.json`. Never raises; a fault is an entry with its reason."""
    lines: dict[Place, dict[str, None]] = {}
    left: list[Untranslated] = []
    if not isinstance(permissions, Mapping):
        why = "`permissions` is no object"
        return ForeignRules(lines={}, untranslated=(Untranslated(effect="", rule=repr(permissions)[:80], why=why),))
    for key in permissions:
        if key not in _EFFECTS:
            why = "modes and folders of a session are not part of a policy"
            left.append(Untranslated(effect="", rule=f"{key}: {permissions[key]!r}", why=why))
    for effect in _EFFECTS:
        rules = permissions.get(effect, [])
        if not isinstance(rules, list):
            left.append(Untranslated(effect=effect, rule=repr(rules), why="it is no list"))
            continue
        for rule in rules:
            try:
                for place, line in _translated(rule, effect):
                    lines.setdefault(place, {})[line] = None
            except NoEquivalent as none:
                left.append(
                    Untranslated(effect=effect, rule=rule if isinstance(rule, str) else repr(rule), why=str(none))
                )
    return ForeignRules(
        lines={place: tuple(lines[place]) for place in sorted(lines)},
        untranslated=tuple(left),
    )


def _translated(rule: Any, effect: str) -> list[tuple[Place, str]]:
    if not isinstance(rule, str):
        raise NoEquivalent("it is no text")
    if rule.strip() == "*":
        every = sorted({ours for tools in _OUR_TOOLS.values() for ours in tools})
        return _tools(every, effect)
    if not rule.isprintable():
        raise NoEquivalent("it holds characters that cannot be seen")
    found = _RULE.fullmatch(rule.strip())
    if found is None:
        raise NoEquivalent("it has not the form Tool or Tool(what)")
    tool, given = found[1], found[2]
    if tool.startswith("mcp__"):
        raise NoEquivalent("agents call no MCP servers here")
    if tool in _ELSEWHERE:
        raise NoEquivalent(_ELSEWHERE[tool])
    if tool == "WebFetch":
        return _host(given, effect)
    if tool not in _OUR_TOOLS:
        raise NoEquivalent(f"there is no tool like {tool} here")
    if given is None or given.strip() in {"", "*", "**"}:
        return _whole_tool(tool, effect)
    return _SPECIFIC[tool](tool, given, effect)


def _whole_tool(tool: str, effect: str) -> list[tuple[Place, str]]:
    if effect != "allow":
        return _tools(_OUR_TOOLS[tool], effect)
    if tool in _READING:
        raise NoEquivalent("it holds already: the worktree may be read")
    if tool in _WRITING:
        raise NoEquivalent("what may be written is said by the write area of each task")
    raise NoEquivalent("no line allows every command; allow programs one by one")


def _tools(names: tuple[str, ...] | list[str], effect: str) -> list[tuple[Place, str]]:
    if effect == "allow":
        raise NoEquivalent("a role has its tools by itself; nothing needs to allow them")
    return [(("tools", effect), name) for name in names]


def _host(given: str | None, effect: str) -> list[tuple[Place, str]]:
    key, _, host = (given or "").partition(":")
    if key.strip() != "domain" or not host.strip():
        raise NoEquivalent("no host may be reached that `network.allow` does not name, so no line is needed")
    return [(("network", effect), host_line(host.strip()))]


def _command(_tool: str, given: str, effect: str) -> list[tuple[Place, str]]:
    """`x *` and `x:*` mean x with anything behind it, `x*` also words that only begin so: as our lines do."""
    text = " ".join(given.split())
    pattern = f"{text[:-2]} *" if text.endswith(":*") else text
    return [(("commands", effect), command_line(pattern))]


def _path(tool: str, given: str, effect: str) -> list[tuple[Place, str]]:
    access = "write" if tool in _WRITING else "read"
    glob = _glob(given.strip(), effect)
    inside = not glob.startswith(("/", "~"))
    if effect == "allow" and tool == "Write":
        raise NoEquivalent("Claude Code does not consult it; Edit(...) is what it asks")
    if effect == "allow" and inside:
        _whole_tool(tool, effect)
    return [(("paths", access, effect), glob)]


def _glob(given: str, effect: str) -> str:
    """Return a path rule as a glob of ours: `//` is the file system's root, `/` the project's, `~/` the home folder."""
    if given.startswith("!"):
        raise NoEquivalent("a path that begins with `!` has no meaning in either")
    if re.match(r"[A-Za-z]:[\\/]", given) or "$" in given:
        raise NoEquivalent("only paths of this kind of system, without variables, can be said")
    if ".." in given.split("/"):
        raise NoEquivalent("`..` leads out of the project; name the place from `//` or `~/`")
    if given.startswith("//"):
        glob = "/" + given.lstrip("/")
    elif given.startswith("~/"):
        glob = given
    elif given.startswith(("/", "./")):
        glob = "./" + given.removeprefix(".").lstrip("/")
    else:
        glob = _relative(given, effect)
    if (fault := glob_fault(glob, Dialect.GITIGNORE)) is not None:
        raise NoEquivalent(fault)
    return glob


def _relative(given: str, effect: str) -> str:
    """A bare name means any depth; `folder/**` does so too where it narrows, and the project's root where it allows."""
    folder = given.removesuffix("/**")
    if folder != given and "/" not in folder and effect != "allow":
        return f"**/{given}"
    anchored = "/" in given.rstrip("/") and not given.startswith("**/")
    return f"./{given}" if anchored else given


_SPECIFIC: Mapping[str, Callable[[str, str, str], list[tuple[Place, str]]]] = {
    "Bash": _command,
    **dict.fromkeys(sorted(_READING | _WRITING), _path),
}
