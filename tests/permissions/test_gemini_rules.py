"""gemini-cli's policy rules as lines of ours (compatibility table, row Permissions)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from permissions.foreign_rules import as_file, effect_of, lines_of, reasons

from aircoding.permissions.gemini_rules import translate_gemini_rules
from aircoding.permissions.plain_regex import beginnings
from aircoding.records.policy import CommandAct, Effect


def toml(*rules: dict[str, Any]) -> str:
    """Return a policy file of rules."""
    return "\n".join(
        "[[rule]]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in rule.items()) for rule in rules
    )


def shell(decision: str, priority: int = 100, **more: Any) -> dict[str, Any]:
    return {"toolName": "run_shell_command", "decision": decision, "priority": priority, **more}


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        (shell("allow", commandPrefix="git status"), {"commands.allow": ["git status *"]}),
        (shell("deny", commandPrefix="git "), {"commands.deny": ["git *"]}),
        (shell("ask_user", commandPrefix=["npm", "yarn add"]), {"commands.ask": ["npm *", "yarn add *"]}),
        (shell("deny", commandPrefix="/usr/bin/sudo"), {"commands.deny": ["sudo *"]}),
        ({"commandPrefix": "quux", "decision": "allow", "priority": 1}, {"commands.allow": ["quux *"]}),
        (shell("deny", commandRegex="git (push|commit)"), {"commands.deny": ["git push*", "git commit*"]}),
        (shell("deny", commandRegex=r"git\s+push\b.*"), {"commands.deny": ["git push*"]}),
        (shell("allow", commandRegex=r"quux\.sh run.*"), {"commands.allow": ["quux.sh run*"]}),
        (shell("deny", argsPattern='"command":"rm -rf'), {"commands.deny": ["rm -rf*"]}),
        (shell("deny"), {"tools.deny": ["shell"]}),
        (shell("ask_user", modes=["plan"], denyMessage="no"), {"tools.ask": ["shell"]}),
        (shell("deny", interactive=False, commandPrefix="quux"), {"commands.deny": ["quux *"]}),
        (
            {"toolName": ["write_file", "replace"], "decision": "ask_user", "priority": 10},
            {"tools.ask": ["fs_write", "fs_edit"]},
        ),
    ],
)
def test_row_permissions_a_gemini_rule_becomes_lines(rule: dict[str, Any], lines: dict[str, list[str]]) -> None:
    found = translate_gemini_rules(toml(rule))
    assert (lines_of(found), found.untranslated) == (lines, ())


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (shell("allow"), "no line allows every command"),
        (shell("allow", commandPrefix="git "), "how a command begins"),
        (shell("allow", commandPrefix="quux", modes=["yolo"]), "only in some modes"),
        (shell("deny", commandRegex=".*--force"), "how a command begins"),
        (shell("deny", commandRegex="git push$"), "how a command begins"),
        (shell("deny", commandRegex="a|b"), "how a command begins"),
        (shell("deny", commandRegex="git p+"), "how a command begins"),
        (shell("deny", commandPrefix="git", commandRegex="x"), "how a command begins"),
        (shell("deny", argsPattern="secret"), "how a command begins"),
        (shell("deny", commandPrefix="git; rm"), "plain words"),
        (shell("deny", commandPrefix=[]), "neither a text nor a list"),
        (shell("deny", subagent="explorer"), "nothing here is like its subagent"),
        ({"toolName": "read_file", "argsPattern": "env", "decision": "deny", "priority": 1}, "how a command begins"),
        ({"toolName": "read_file", "decision": "allow", "priority": 1}, "has its tools by itself"),
        ({"toolName": "write_file", "decision": "allow", "priority": 1}, "the write area of each task"),
        ({"toolName": "mcp_*", "decision": "deny", "priority": 1}, "no MCP servers"),
        ({"toolName": "web_fetch", "decision": "deny", "priority": 1}, "network.allow"),
        ({"toolName": "teleport", "decision": "deny", "priority": 1}, "no tool like teleport"),
        (shell("maybe"), "its decision is none"),
        (shell("deny", priority=1000), "no whole number"),
        ({"toolName": "glob", "decision": "deny"}, "no whole number"),
    ],
)
def test_row_permissions_a_gemini_rule_without_an_equivalent_is_handed_back(rule: dict[str, Any], why: str) -> None:
    found = translate_gemini_rules(toml(rule))
    assert found.lines == {}
    assert found.untranslated
    assert why in reasons(found)


@pytest.mark.parametrize(
    ("text", "why"),
    [("rule = 3", "no table"), ("= =", "no TOML"), ("[[safety_checker]]\nx = 1", "only [[rule]]")],
)
def test_row_permissions_what_is_no_gemini_rule_is_said(text: str, why: str) -> None:
    assert why in reasons(translate_gemini_rules(text))


def test_row_permissions_the_highest_priority_of_gemini_never_makes_a_line_weaker() -> None:
    found = translate_gemini_rules(
        toml(shell("allow", 900, commandPrefix="quux up"), shell("deny", 10, commandPrefix="quux"))
    )
    assert lines_of(found) == {"commands.deny": ["quux *"]}
    assert "is stricter" in reasons(found)
    turned = translate_gemini_rules(
        toml(shell("deny", 900, commandPrefix="quux up"), shell("allow", 10, commandPrefix="quux"))
    )
    assert lines_of(turned) == {"commands.allow": ["quux *"], "commands.deny": ["quux up *"]}
    assert turned.untranslated == ()


def test_row_permissions_a_gemini_rule_that_holds_at_times_wins_over_nothing_for_certain() -> None:
    found = translate_gemini_rules(
        toml(shell("allow", 900, commandPrefix="quux", modes=["yolo"]), shell("deny", 10, commandPrefix="quux"))
    )
    assert lines_of(found) == {"commands.deny": ["quux *"]}


@pytest.mark.parametrize(
    ("regex", "texts"),
    [("git", ("git",)), ("(a|b) c", ("a c", "b c")), ("a?", ()), ("(a|b)+", ()), ("[ab]", ()), ("a.b", ()), ("", ())],
)
def test_row_permissions_beginnings_of_an_expression(regex: str, texts: tuple[str, ...]) -> None:
    assert beginnings(regex) == texts


REGEXES = st.text(alphabet="ab |()\\s+.*?$^-", max_size=10)


@given(REGEXES, st.text(alphabet="ab -s.", max_size=10))
def test_row_permissions_beginnings_are_exactly_what_an_expression_matches(regex: str, text: str) -> None:
    starts = beginnings(regex)
    if starts:
        plain = " ".join(text.split(" ")) == " ".join(text.split())
        matches = re.compile(regex).match(text) is not None
        begins = any(text.startswith(start) for start in starts)
        assert begins or not matches or not plain
        assert matches or not begins or "\\b" in regex


WORDS = st.sampled_from(["git", "push", "quux", "run", "--force", "rm"])
COMMANDS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
CONDITIONS = st.one_of(
    st.builds(lambda text: {"commandPrefix": text}, COMMANDS),
    st.builds(lambda text: {"commandRegex": text}, COMMANDS),
    st.sampled_from([{}, {"commandRegex": ".*--force"}, {"commandRegex": "git (push|run)"}]),
)
RULES = st.lists(st.tuples(CONDITIONS, st.sampled_from(["allow", "ask_user", "deny"]), st.integers(0, 3)), max_size=4)


def holds(condition: dict[str, str], command: str) -> bool:
    """gemini-cli's own matching, from its documentation."""
    if "commandPrefix" in condition:
        return (command + " ").startswith(condition["commandPrefix"] + " ")
    return re.match(condition.get("commandRegex", ""), command) is not None


@given(RULES, COMMANDS)
def test_row_permissions_no_gemini_deny_is_weaker_and_no_allow_wider(
    rules: list[tuple[dict[str, str], str, int]], command: str
) -> None:
    written = [shell(decision, priority, **condition) for condition, decision, priority in rules]
    found = translate_gemini_rules(toml(*written))
    highest = max((rule for rule in rules if holds(rule[0], command)), key=lambda rule: rule[2], default=None)
    wanted = None if highest is None else Effect(highest[1].removesuffix("_user"))
    ours, plain = effect_of(CommandAct(command=command), as_file(found)), effect_of(CommandAct(command=command))
    if highest is not None and wanted is not None and highest[0].get("commandRegex") != ".*--force":
        assert ours.rank >= wanted.rank
    if ours is Effect.ALLOW and plain is not Effect.ALLOW:
        assert wanted is Effect.ALLOW


@given(st.text(max_size=60))
def test_row_permissions_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    as_file(translate_gemini_rules(text))
