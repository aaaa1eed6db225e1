"""Codex' execpolicy rules and the permission keys of its settings as lines of ours (its documentation, read 2026-08).

A `.rules` file is read as a syntax tree and never run: calls of `prefix_rule` with plain values count, nothing else.
Its `match` and `not_match` examples are put to our own engine, under the lines of their rule alone.
"""

from __future__ import annotations

import ast
import itertools
import math
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.permissions.engine import decide
from aircoding.permissions.foreign_rules import ForeignRules, NoEquivalent, Place, Untranslated, program_line
from aircoding.permissions.ordered_rules import OrderedRule, translate_ordered
from aircoding.permissions.policy import build_policy
from aircoding.permissions.policy_file import PolicyFile
from aircoding.records.policy import CommandAct, Effect, Policy, PolicyLevel, PolicyRule, PolicySubject

__all__ = ["translate_codex_rules", "translate_codex_settings"]

_EFFECTS = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
_STRICTNESS = ("allow", "ask", "deny")
_KEYS = ("pattern", "decision", "match", "not_match", "justification")
_MOST_ALTERNATIVES = 256
_EXAMPLE_URI = "example"
_SETTINGS = {
    "sandbox_mode": "each task has its own write area, and what confines commands is found on this machine",
    "sandbox_workspace_write": "folders to write are said by the write area of each task, hosts by `network.allow`",
    "approval_policy": "what asks is said line by line; with nobody to ask, an ask is a deny",
    "approvals_reviewer": "a person approves, with `aircoding permissions trust`",
    "default_permissions": "a policy has no named variants",
    "permissions": "a policy has no named variants",
    "trust_level": "trust is given with `aircoding permissions trust`",
    "network_access": "hosts are named in `network.allow`",
}


def translate_codex_settings(text: str) -> ForeignRules:
    """Return a remark on each permission key of a `config.toml`, at any depth; none of them is a line. Never raises."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return _nothing("config.toml", f"it is no TOML: {error}")
    return ForeignRules(lines={}, untranslated=tuple(_remarks(data, "")))


def _remarks(table: Mapping[str, Any], above: str) -> Iterator[Untranslated]:
    for key, value in table.items():
        if key in _SETTINGS:
            yield Untranslated(effect="", rule=f"{above}{key}: {value!r}", why=_SETTINGS[key])
        elif isinstance(value, dict):
            yield from _remarks(value, f"{above}{key}.")


def translate_codex_rules(text: str) -> ForeignRules:
    """Translate a `.rules` file. Never raises; a fault is an entry with its reason."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return _nothing(f"line {error.lineno}", f"the file cannot be read: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return _nothing("file", f"the file cannot be read: {error}")
    rules: list[OrderedRule] = []
    left: list[Untranslated] = []
    written = text.split("\n")
    for statement in tree.body:
        said = " ".join(" ".join(written[statement.lineno - 1 : statement.end_lineno]).split())
        effect = ""
        try:
            values = _values(statement)
            effect, found = _rules(values)
            rules += found
            left += _examples(values, found, effect)
        except NoEquivalent as none:
            left.append(Untranslated(effect=effect, rule=said, why=str(none)))
    rules.sort(key=lambda rule: _STRICTNESS.index(rule.effect))
    return translate_ordered(rules, _line, left)


def _nothing(rule: str, why: str) -> ForeignRules:
    return ForeignRules(lines={}, untranslated=(Untranslated(effect="", rule=rule, why=why),))


def _values(statement: ast.stmt) -> Mapping[str, Any]:
    """Return the arguments of a call of `prefix_rule`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise NoEquivalent("only calls of `prefix_rule` with plain values are read")
    if call.func.id == "host_executable":
        raise NoEquivalent("a program is known by its name; another path to it is a program of its own here")
    if call.func.id != "prefix_rule":
        raise NoEquivalent(f"there is nothing like {call.func.id} here")
    values: dict[str, Any] = {}
    for key, node in [*zip(_KEYS, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]:
        if key not in _KEYS:
            raise NoEquivalent(f"`{key or '**'}` is not known")
        values[key] = _plain(node)
    if len(call.args) > len(_KEYS):
        raise NoEquivalent("it has too many values")
    return values


def _plain(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_plain(one) for one in node.elts]
    raise NoEquivalent(f"line {node.lineno} holds something that is neither a text nor a list of texts")


def _rules(values: Mapping[str, Any]) -> tuple[str, list[OrderedRule]]:
    decision = values.get("decision", "allow")
    if decision not in _EFFECTS:
        raise NoEquivalent(f"{decision!r} is no decision")
    tokens = values.get("pattern")
    if not isinstance(tokens, list) or not tokens:
        raise NoEquivalent("its pattern is no list of words")
    choices = [one if isinstance(one, list) else [one] for one in tokens]
    if not all(choices) or any(not isinstance(word, str) or not word for words in choices for word in words):
        raise NoEquivalent("its pattern holds something that is no word")
    if math.prod(map(len, choices)) > _MOST_ALTERNATIVES:
        raise NoEquivalent(f"its alternatives make more than {_MOST_ALTERNATIVES} commands")
    effect = _EFFECTS[decision]
    return effect, [_rule(words, effect) for words in itertools.product(*choices)]


def _rule(words: tuple[str, ...], effect: str) -> OrderedRule:
    """A word with blanks in it stays one word: it is quoted, so that no line is made of it."""
    text = " ".join(shlex.quote(word) if len(word.split()) != 1 else word for word in words)
    return OrderedRule(effect=effect, key="shell", pattern=f"{text} *", said=text)


def _line(rule: OrderedRule) -> list[tuple[Place, str]]:
    if "*" in rule.pattern[:-2]:
        raise NoEquivalent("a word of it holds `*`, which is a wildcard here")
    return [(("commands", rule.effect), program_line(rule.pattern, rule.effect))]


def _examples(values: Mapping[str, Any], rules: list[OrderedRule], effect: str) -> Iterator[Untranslated]:
    """Yield each example that our engine takes otherwise than the rule's author says."""
    if not ("match" in values or "not_match" in values):
        return
    lines = []
    for rule in rules:
        try:
            lines += [line for _, line in _line(rule)]
        except NoEquivalent:
            return  # the rule itself is handed back
    policy_rules = tuple(
        PolicyRule(
            subject=PolicySubject.COMMAND,
            effect=Effect(effect),
            pattern=line,
            level=PolicyLevel.USER,
            uri=_EXAMPLE_URI,
        )
        for line in lines
    )
    file = PolicyFile(rules=policy_rules, mask_env=(), diagnostics=())
    policy = build_policy([file], project_trusted=True, may_write=True, interactive=True)
    for key in ("match", "not_match"):
        examples = values.get(key, [])
        for example in examples if isinstance(examples, list) else [examples]:
            why = _misfit(example, policy, effect, wanted=key == "match")
            if why:
                yield Untranslated(effect=effect, rule=f"{key} {example!r} of `{rules[0].said}`", why=why)


def _misfit(example: Any, policy: Policy, effect: str, *, wanted: bool) -> str:
    try:
        words = shlex.split(example) if isinstance(example, str) else example
        command = shlex.join(words)
    except (TypeError, ValueError):
        return "the example is no command"
    decision = decide(CommandAct(command=command), policy)
    held = any(one.uri == _EXAMPLE_URI for one in decision.judgements)
    if wanted and not held:
        return "our line does not hold for this example"
    if wanted and effect == "allow" and decision.effect is not Effect.ALLOW:
        return f"our line holds for this example, and still: {decision.reason}"
    if not wanted and held:
        return "our line holds for this example too"
    return ""
