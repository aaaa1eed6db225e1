"""opencode's permission rules as lines of ours (its documentation, read 2026-08).

There the last rule wins that matches; here the strictest. What a later rule lifts there stays as strict as it was here,
and the later rule is handed back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.permissions.foreign_rules import (
    ForeignRules,
    NoEquivalent,
    Place,
    Untranslated,
    host_line,
    program_line,
)
from aircoding.permissions.ordered_rules import OrderedRule, translate_ordered
from aircoding.permissions.wildcard_paths import wildcard_globs

__all__ = ["translate_opencode_rules"]

_EFFECTS = ("deny", "ask", "allow")
_TOOLS: Mapping[str, tuple[str, ...]] = {
    "bash": ("shell",),
    "read": ("fs_read",),
    "edit": ("fs_edit", "fs_write"),
    "glob": ("fs_glob",),
    "list": ("fs_glob",),
    "grep": ("fs_grep",),
}
_NEWER_NAMES = {"shell": "bash", "subagent": "task"}
_ELSEWHERE: Mapping[str, str] = {
    "task": "which roles take part is said by the plan",
    "skill": "skills are switched off by name in [skills] disabled",
    "websearch": "agents have no web search here",
    "codesearch": "agents have no web search here",
    "browser": "agents have no browser here",
    "lsp": "agents ask no language server here",
    "question": "an agent that works on a task asks nobody",
    "todoread": "agents keep no list of their own here",
    "todowrite": "agents keep no list of their own here",
    "doom_loop": "a session without progress ends by [run] max_idle_turns",
}
_URL = re.compile(r"[a-z]+://([A-Za-z0-9.-]+)(?:/.*)?")


def translate_opencode_rules(settings: Any) -> ForeignRules:
    """Translate the permissions of an `opencode.json`. Never raises; a fault is an entry with its reason."""
    left: list[Untranslated] = []
    if not isinstance(settings, Mapping):
        return ForeignRules(lines={}, untranslated=(_fault(repr(settings)[:80], "it is no object"),))
    rules = [*_rules(settings.get("permission", {}), left), *_newer_rules(settings.get("permissions", []), left)]
    left += _of_agents(settings)
    for name, on in _entries(settings.get("tools")):
        left.append(_fault(f"tools.{name}: {on!r}", "the older form of `permission`; write it as that"))
    return translate_ordered(rules, _translated, left)


def _fault(rule: str, why: str, effect: str = "") -> Untranslated:
    return Untranslated(effect=effect, rule=rule, why=why)


def _entries(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else []


def _of_agents(settings: Mapping[str, Any]) -> Iterator[Untranslated]:
    for kind in ("agent", "mode"):
        for name, agent in _entries(settings.get(kind)):
            for key in ("permission", "permissions", "tools"):
                if isinstance(agent, Mapping) and key in agent:
                    why = "a policy holds for all roles; what one of them has is said in .air/shared/roles/"
                    yield _fault(f"{kind}.{name}.{key}: {agent[key]!r}", why)


def _rules(permission: Any, left: list[Untranslated]) -> Iterator[OrderedRule]:
    """Yield the rules of the map in their order; one effect alone is a rule for everything."""
    if isinstance(permission, str):
        permission = {"*": permission}
    if not isinstance(permission, Mapping):
        left.append(_fault(f"permission: {permission!r}"[:80], "it is neither an effect nor an object"))
        return
    for key, value in permission.items():
        entries = {"*": value} if isinstance(value, str) else value
        if not isinstance(entries, Mapping):
            left.append(_fault(f"{key}: {value!r}"[:80], "it is neither an effect nor an object"))
            continue
        for pattern, effect in entries.items():
            said = f"{key}: {effect}" if isinstance(value, str) else f"{key}: {pattern!r}: {effect}"
            yield from _expanded(str(key), str(pattern), effect, said, left)


def _newer_rules(permissions: Any, left: list[Untranslated]) -> Iterator[OrderedRule]:
    """Yield the rules of the newer form: a list of action, resource and effect."""
    for entry in permissions if isinstance(permissions, list) else [permissions]:
        words = [entry.get(key) for key in ("action", "resource", "effect")] if isinstance(entry, Mapping) else [None]
        if not all(isinstance(word, str) for word in words):
            left.append(_fault(repr(entry)[:80], "it does not say action, resource and effect"))
            continue
        action, resource, effect = words
        key = _NEWER_NAMES.get(str(action), str(action))
        yield from _expanded(key, str(resource), effect, f"{action}: {resource!r}: {effect}", left)


def _expanded(key: str, pattern: str, effect: Any, said: str, left: list[Untranslated]) -> Iterator[OrderedRule]:
    """A rule for every tool is one for each tool that has an equivalent."""
    if effect not in _EFFECTS:
        left.append(_fault(said, f"{effect!r} is no effect"))
    elif key == "*":
        for each in _TOOLS:
            yield OrderedRule(effect=effect, key=each, pattern=pattern, said=f"{said} ({each})")
    else:
        pattern = re.sub(r"\*+", "*", pattern)
        yield OrderedRule(effect=effect, key=key, pattern=pattern, said=said)


def _translated(rule: OrderedRule) -> list[tuple[Place, str]]:
    if rule.key in _ELSEWHERE:
        raise NoEquivalent(_ELSEWHERE[rule.key])
    if rule.key == "webfetch":
        return _host(rule)
    if rule.key == "external_directory":
        return _outside(rule)
    if rule.key not in _TOOLS:
        raise NoEquivalent(f"there is no tool like {rule.key} here")
    if rule.pattern == "*":
        return _whole_tool(rule)
    if rule.key == "bash":
        return [(("commands", rule.effect), program_line(rule.pattern, rule.effect))]
    if rule.key not in ("read", "edit"):
        raise NoEquivalent("what is searched for cannot be said; the folders can, with a rule for `read`")
    if rule.effect == "allow":
        _whole_tool(rule)
    access = "read" if rule.key == "read" else "write"
    return [(("paths", access, rule.effect), glob) for glob in wildcard_globs(rule.pattern)]


def _whole_tool(rule: OrderedRule) -> list[tuple[Place, str]]:
    if rule.effect != "allow":
        return [(("tools", rule.effect), name) for name in _TOOLS[rule.key]]
    if rule.key == "bash":
        raise NoEquivalent("no line allows every command; allow programs one by one")
    if rule.key == "edit":
        raise NoEquivalent("what may be written is said by the write area of each task")
    raise NoEquivalent("it holds already: the worktree may be read")


def _host(rule: OrderedRule) -> list[tuple[Place, str]]:
    found = _URL.fullmatch(rule.pattern)
    if rule.pattern == "*" or (found is None and rule.effect != "allow"):
        raise NoEquivalent("no host may be reached that `network.allow` does not name; a line names one whole host")
    if rule.effect == "allow" or found is None:
        raise NoEquivalent(
            "a line allows a host with all its addresses: write it into `network.allow` if you mean that"
        )
    return [(("network", rule.effect), host_line(found[1]))]


def _outside(rule: OrderedRule) -> list[tuple[Place, str]]:
    """A folder outside the project: allowed it may be read; what may be written there, tasks say."""
    globs = wildcard_globs(rule.pattern)
    if any(not glob.startswith(("/", "~/")) for glob in globs):
        raise NoEquivalent(
            "no line says all that lies outside; what no line allows is not read or written there anyway"
        )
    if rule.effect != "allow":
        return [(("paths", access, rule.effect), glob) for access in ("read", "write") for glob in globs]
    if len(globs) > 1 or not globs[0].endswith("/*"):
        raise NoEquivalent("only a whole folder can be allowed: `~/folder/*`")
    return [(("paths", "read", "allow"), f"{globs[0]}*")]
