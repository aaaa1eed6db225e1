"""gemini-cli's policy rules as lines of ours (its documentation, read 2026-08).

There the rule of highest priority wins; here the strictest. What a rule of higher priority lifts there stays as strict
as it was here, and that rule is handed back. `ask_user` is an ask: with nobody to ask, both are a deny.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.permissions.foreign_rules import ForeignRules, NoEquivalent, Place, Untranslated, program_line
from aircoding.permissions.ordered_rules import OrderedRule, translate_ordered
from aircoding.permissions.plain_regex import beginnings

__all__ = ["translate_gemini_rules"]

_EFFECTS = {"allow": "allow", "deny": "deny", "ask_user": "ask"}
_SHELL = "run_shell_command"
_TOOLS: Mapping[str, tuple[str, ...]] = {
    _SHELL: ("shell",),
    "read_file": ("fs_read",),
    "read_many_files": ("fs_read",),
    "list_directory": ("fs_glob",),
    "glob": ("fs_glob",),
    "search_file_content": ("fs_grep",),
    "grep_search": ("fs_grep",),
    "replace": ("fs_edit",),
    "write_file": ("fs_write",),
    "save_memory": ("memory_write",),
}
_ELSEWHERE: Mapping[str, str] = {
    "web_fetch": "no host may be reached that `network.allow` does not name",
    "google_web_search": "agents have no web search here",
    "activate_skill": "skills are switched off by name in [skills] disabled",
    "ask_user": "an agent that works on a task asks nobody",
    "write_todos": "agents keep no list of their own here",
}
_KEYS = frozenset({"toolName", "commandPrefix", "commandRegex", "argsPattern", "decision", "priority"})
_WORDS_ONLY = frozenset({"denyMessage", "deny_message", "description", "allowRedirection", "allow_redirection", "name"})
"""Keys that change nothing of what a rule holds for; where a command writes to is judged by itself here."""
_TIMES = frozenset({"modes", "interactive"})
"""Keys by which a rule holds only at times; a deny or an ask then holds always."""
_MOST_PRIORITY = 999
_COMMAND_ARGUMENT = '"command":"'
_NOT_PLAIN = "a line says how a command begins; arguments of other tools and other expressions it cannot say"


def translate_gemini_rules(text: str) -> ForeignRules:
    """Translate a policy file. Never raises; a fault is an entry with its reason."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        fault = Untranslated(effect="", rule="file", why=f"it is no TOML: {error}")
        return ForeignRules(lines={}, untranslated=(fault,))
    left = [
        Untranslated(effect="", rule=f"{key}: {value!r}"[:160], why="only [[rule]] is translated")
        for key, value in data.items()
        if key not in ("rule", "rules")
    ]
    found: list[tuple[int, OrderedRule]] = []
    for entry in _listed(data.get("rule", [])) + _listed(data.get("rules", [])):
        try:
            found = [*_rules(entry), *found]  # of equal priority the first of the file wins
        except NoEquivalent as none:
            effect = _EFFECTS.get(str(entry.get("decision")), "") if isinstance(entry, dict) else ""
            left.append(Untranslated(effect=effect, rule=_said(entry), why=str(none)))
    found.sort(key=lambda one: one[0])
    return translate_ordered([rule for _, rule in found], _translated, left)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _said(entry: Any) -> str:
    if not isinstance(entry, dict):
        return repr(entry)[:160]
    return ", ".join(f"{key}={value!r}" for key, value in entry.items() if key not in _WORDS_ONLY)


def _rules(entry: Any) -> list[tuple[int, OrderedRule]]:
    """Return the rules of one entry: one for each tool and each command that it names."""
    if not isinstance(entry, dict):
        raise NoEquivalent("it is no table")
    effect = _EFFECTS.get(entry["decision"]) if isinstance(entry.get("decision"), str) else None
    priority = entry.get("priority")
    if effect is None:
        raise NoEquivalent("its decision is none of allow, deny, ask_user")
    if isinstance(priority, bool) or not isinstance(priority, int) or not 0 <= priority <= _MOST_PRIORITY:
        raise NoEquivalent(f"its priority is no whole number from 0 to {_MOST_PRIORITY}")
    other = sorted(set(entry) - _KEYS - _WORDS_ONLY - _TIMES)
    why = f"nothing here is like its {', '.join(other)}" if other else ""
    return [
        (
            priority,
            OrderedRule(
                effect=effect,
                key=key,
                pattern=pattern or "*",
                said=_said(entry),
                conditional=bool(_TIMES & set(entry)),
                why_not=why or ("" if pattern else _NOT_PLAIN),
            ),
        )
        for key, pattern in _subjects(entry, effect)
    ]


def _subjects(entry: Mapping[str, Any], effect: str) -> Iterator[tuple[str, str]]:
    """Yield tool and pattern; the pattern is empty where the conditions are none that a line has."""
    given = [key for key in ("commandPrefix", "commandRegex", "argsPattern") if key in entry]
    names = _texts(entry, "toolName") if "toolName" in entry else [_SHELL] if given else ["*"]
    tools = [tool for name in names for tool in (_TOOLS if name == "*" else (name,))]
    if not given:
        yield from ((tool, "*") for tool in tools)
        return
    texts = _texts(entry, given[0])
    for tool in tools:
        if len(given) > 1 or tool != _SHELL:
            yield tool, ""
            continue
        for text in texts:
            yield from ((tool, pattern) for pattern in _commands(given[0], text, effect))


def _texts(entry: Mapping[str, Any], key: str) -> list[str]:
    values = _listed(entry[key])
    if not values or any(not isinstance(value, str) or not value for value in values):
        raise NoEquivalent(f"its {key} is neither a text nor a list of texts")
    return values


def _commands(key: str, text: str, effect: str) -> list[str]:
    """Return what a command begins with; an allow that needs a word more than a line would is none of ours."""
    if key == "commandPrefix":
        starts: tuple[str, ...] = (text,) if not re.search(r"[*?]", text) else ()
        patterns = [f"{start} *" for start in starts]
    else:
        if key == "argsPattern" and not text.startswith(_COMMAND_ARGUMENT):
            return [""]
        starts = beginnings(text.removeprefix(_COMMAND_ARGUMENT) if key == "argsPattern" else text)
        patterns = [f"{start}*" for start in starts]
    if not starts or (effect == "allow" and any(start != " ".join(start.split()) for start in starts)):
        return [""]
    return patterns


def _translated(rule: OrderedRule) -> list[tuple[Place, str]]:
    if rule.key in _ELSEWHERE:
        raise NoEquivalent(_ELSEWHERE[rule.key])
    if rule.key not in _TOOLS:
        mcp = rule.key.startswith("mcp_") or "__" in rule.key
        raise NoEquivalent("agents call no MCP servers here" if mcp else f"there is no tool like {rule.key} here")
    if rule.effect == "allow" and rule.conditional:
        raise NoEquivalent("it holds only in some modes, and a line always")
    if rule.pattern != "*":
        return [(("commands", rule.effect), program_line(rule.pattern, rule.effect))]
    if rule.effect != "allow":
        return [(("tools", rule.effect), name) for name in _TOOLS[rule.key]]
    if rule.key == _SHELL:
        raise NoEquivalent("no line allows every command; allow programs one by one")
    if rule.key in ("replace", "write_file"):
        raise NoEquivalent("what may be written is said by the write area of each task")
    raise NoEquivalent("a role has its tools by itself; nothing needs to allow them")
