"""Claude Code's permission rules as lines of ours, as far as they have an equivalent (its documentation, read 2026-08).

A deny or an ask becomes lines that hold at least as widely; an allow lines that hold no wider. What cannot be said so
is handed back with the reason, never dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.permissions.policy_file import pattern_fault
from aircoding.records.policy import PolicySubject
from aircoding.rules.globs import Dialect, glob_fault

__all__ = ["ClaudeRules", "Untranslated", "proposal_text", "translate_claude_rules"]

Place = tuple[str, ...]
_EFFECTS = ("deny", "ask", "allow")
_RULE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\((.*)\))?", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9_./:@%+=,~^-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Untranslated:
    """A rule or key without an equivalent, as it was written, and why."""

    effect: str
    rule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeRules:
    """The lines by their place in a policy file (`("commands", "deny")`), each once, and what has no line."""

    lines: Mapping[Place, tuple[str, ...]]
    untranslated: tuple[Untranslated, ...]


def proposal_text(rules: ClaudeRules, source: str) -> str:
    """Return a policy file with the lines, and what has none as comments."""
    lines = [
        f"# What agents may do here, proposed from {source}: read it before you trust it. Denies and asks of this file",
        "# always hold; its allows hold once you trust this project (`aircoding permissions trust`).",
        "version: 1",
    ]
    above: Place = ()
    for place, patterns in rules.lines.items():
        shared = next((depth for depth in range(len(place)) if place[: depth + 1] != above[: depth + 1]), len(place))
        for depth in range(shared, len(place)):
            lines += ([""] if depth == 0 else []) + [f"{'  ' * depth}{place[depth]}:"]
        lines += [f"{'  ' * len(place)}- {json.dumps(pattern, ensure_ascii=False)}" for pattern in patterns]
        above = place
    if rules.untranslated:
        lines += ["", "# Without an equivalent:"]
        lines += [f"#   {one.effect or 'key'} {json.dumps(one.rule)}: {_line(one.why)}" for one in rules.untranslated]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return json.dumps(text)[1:-1]


class _NoEquivalent(Exception):  # noqa: N818 - it is an answer, not an error
    """There is no line of ours for a rule; the text says why."""


def translate_claude_rules(permissions: Any) -> ClaudeRules:
    """Translate the `permissions` of a `.claude/settings.json`. Never raises; a fault is an entry with its reason."""
    lines: dict[Place, dict[str, None]] = {}
    left: list[Untranslated] = []
    if not isinstance(permissions, Mapping):
        why = "`permissions` is no object"
        return ClaudeRules(lines={}, untranslated=(Untranslated(effect="", rule=repr(permissions)[:80], why=why),))
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
            except _NoEquivalent as none:
                left.append(
                    Untranslated(effect=effect, rule=rule if isinstance(rule, str) else repr(rule), why=str(none))
                )
    return ClaudeRules(
        lines={place: tuple(lines[place]) for place in sorted(lines)},
        untranslated=tuple(left),
    )


def _translated(rule: Any, effect: str) -> list[tuple[Place, str]]:
    if not isinstance(rule, str):
        raise _NoEquivalent("it is no text")
    if rule.strip() == "*":
        every = sorted({ours for tools in _OUR_TOOLS.values() for ours in tools})
        return _tools(every, effect)
    if not rule.isprintable():
        raise _NoEquivalent("it holds characters that cannot be seen")
    found = _RULE.fullmatch(rule.strip())
    if found is None:
        raise _NoEquivalent("it has not the form Tool or Tool(what)")
    tool, given = found[1], found[2]
    if tool.startswith("mcp__"):
        raise _NoEquivalent("agents call no MCP servers here")
    if tool in _ELSEWHERE:
        raise _NoEquivalent(_ELSEWHERE[tool])
    if tool == "WebFetch":
        return _host(given, effect)
    if tool not in _OUR_TOOLS:
        raise _NoEquivalent(f"there is no tool like {tool} here")
    if given is None or given.strip() in {"", "*", "**"}:
        return _whole_tool(tool, effect)
    return _SPECIFIC[tool](tool, given, effect)


def _whole_tool(tool: str, effect: str) -> list[tuple[Place, str]]:
    if effect != "allow":
        return _tools(_OUR_TOOLS[tool], effect)
    if tool in _READING:
        raise _NoEquivalent("it holds already: the worktree may be read")
    if tool in _WRITING:
        raise _NoEquivalent("what may be written is said by the write area of each task")
    raise _NoEquivalent("no line allows every command; allow programs one by one")


def _tools(names: tuple[str, ...] | list[str], effect: str) -> list[tuple[Place, str]]:
    if effect == "allow":
        raise _NoEquivalent("a role has its tools by itself; nothing needs to allow them")
    return [(("tools", effect), name) for name in names]


def _host(given: str | None, effect: str) -> list[tuple[Place, str]]:
    key, _, host = (given or "").partition(":")
    if key.strip() != "domain" or not host.strip():
        raise _NoEquivalent("no host may be reached that `network.allow` does not name, so no line is needed")
    name = host.strip().lower()
    if (fault := pattern_fault(PolicySubject.HOST, name)) is not None:
        raise _NoEquivalent(f"{fault}")
    return [(("network", effect), name)]


def _command(_tool: str, given: str, effect: str) -> list[tuple[Place, str]]:
    """`x *` and `x:*` mean x with anything behind it, `x*` also words that only begin so: as our lines do."""
    text = " ".join(given.split())
    pattern = f"{text[:-2]} *" if text.endswith(":*") else text
    words = pattern.split()
    fixed = words[:-1] if words[-1] == "*" else words
    if not fixed:
        raise _NoEquivalent("a program must be named")
    open_end = fixed is words and words[-1].endswith("*")
    plain = [*fixed[:-1], fixed[-1][:-1]] if open_end else fixed
    if any("*" in word for word in plain):
        raise _NoEquivalent("`*` may stand only at the end of a line here")
    if not all(_WORD.fullmatch(word) for word in plain):
        raise _NoEquivalent("a line holds plain words: no quotes, operators, variables or redirects")
    if _ASSIGNMENT.match(plain[0]):
        raise _NoEquivalent("a line begins with a program, not with a variable")
    if (fault := pattern_fault(PolicySubject.COMMAND, pattern)) is not None:
        raise _NoEquivalent(fault)
    return [(("commands", effect), pattern)]


def _path(tool: str, given: str, effect: str) -> list[tuple[Place, str]]:
    access = "write" if tool in _WRITING else "read"
    glob = _glob(given.strip(), effect)
    inside = not glob.startswith(("/", "~"))
    if effect == "allow" and tool == "Write":
        raise _NoEquivalent("Claude Code does not consult it; Edit(...) is what it asks")
    if effect == "allow" and inside:
        _whole_tool(tool, effect)
    return [(("paths", access, effect), glob)]


def _glob(given: str, effect: str) -> str:
    """Return a path rule as a glob of ours: `//` is the file system's root, `/` the project's, `~/` the home folder."""
    if given.startswith("!"):
        raise _NoEquivalent("a path that begins with `!` has no meaning in either")
    if re.match(r"[A-Za-z]:[\\/]", given) or "$" in given:
        raise _NoEquivalent("only paths of this kind of system, without variables, can be said")
    if ".." in given.split("/"):
        raise _NoEquivalent("`..` leads out of the project; name the place from `//` or `~/`")
    if given.startswith("//"):
        glob = "/" + given.lstrip("/")
    elif given.startswith("~/"):
        glob = given
    elif given.startswith(("/", "./")):
        glob = "./" + given.removeprefix(".").lstrip("/")
    else:
        glob = _relative(given, effect)
    if (fault := glob_fault(glob, Dialect.GITIGNORE)) is not None:
        raise _NoEquivalent(fault)
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
