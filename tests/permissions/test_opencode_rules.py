"""opencode's permission rules as lines of ours (compatibility table, row Permissions)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from permissions.foreign_rules import as_file, effect_of, lines_of, reasons

from aircoding.permissions.opencode_rules import translate_opencode_rules
from aircoding.records.policy import CommandAct, Effect, PathAct


@pytest.mark.parametrize(
    ("permission", "lines"),
    [
        ({"bash": {"git push *": "deny"}}, {"commands.deny": ["git push *"]}),
        ({"bash": {"git status*": "allow", "rm -rf *": "ask"}}, {"commands.allow": ["git status*"]}
         | {"commands.ask": ["rm -rf *"]}),
        ({"bash": "ask"}, {"tools.ask": ["shell"]}),
        ({"edit": "deny"}, {"tools.deny": ["fs_edit", "fs_write"]}),
        ("deny", {"tools.deny": ["shell", "fs_read", "fs_edit", "fs_write", "fs_glob", "fs_grep"]}),
        ({"read": {"*.env": "deny"}}, {"paths.read.deny": ["*.env"]}),
        ({"read": {"secrets/**": "deny"}}, {"paths.read.deny": ["./secrets/*"]}),
        ({"edit": {"src/*.gen.ts": "ask"}}, {"paths.write.ask": ["./src/*.gen.ts", "./src/*/**/*.gen.ts"]}),
        ({"read": {"$HOME/.ssh/*": "deny"}}, {"paths.read.deny": ["~/.ssh/*"]}),
        ({"external_directory": {"~/lib/**": "allow"}}, {"paths.read.allow": ["~/lib/**"]}),
        ({"external_directory": {"/srv/*": "deny"}}, {"paths.read.deny": ["/srv/*"], "paths.write.deny": ["/srv/*"]}),
        ({"webfetch": {"https://Example.com/*": "deny"}}, {"network.deny": ["example.com"]}),
        ([], {}),
    ],
)  # fmt: skip
def test_row_permissions_an_opencode_rule_becomes_lines(permission: Any, lines: dict[str, list[str]]) -> None:
    key = "permissions" if isinstance(permission, list) else "permission"
    found = translate_opencode_rules({key: permission})
    assert (lines_of(found), found.untranslated) == (lines, ())


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"permission": "allow"}, "no line allows every command"),
        ({"permission": {"bash": "allow"}}, "no line allows every command"),
        ({"permission": {"edit": "allow"}}, "the write area of each task"),
        ({"permission": {"read": {"src/*": "allow"}}}, "it holds already"),
        ({"permission": {"bash": {"* --force": "deny"}}}, "only at the end"),
        ({"permission": {"bash": {"git ?ush": "deny"}}}, "plain words"),
        ({"permission": {"bash": {"/opt/x *": "allow"}}}, "without its folder"),
        ({"permission": {"bash": {"a  b": "allow"}}}, "more blanks"),
        ({"permission": {"read": {"[x]/*": "deny"}}}, "mean something else"),
        ({"permission": {"read": {"../x": "deny"}}}, "only paths in the project"),
        ({"permission": {"read": {"a*b*c*d*e*f": "deny"}}}, "more than 16 globs"),
        ({"permission": {"grep": {"TODO": "deny"}}}, "searched for"),
        ({"permission": {"external_directory": "deny"}}, "all that lies outside"),
        ({"permission": {"external_directory": {"~/x": "allow"}}}, "only a whole folder"),
        ({"permission": {"webfetch": {"https://a.com/*": "allow"}}}, "with all its addresses"),
        ({"permission": {"webfetch": {"https://*.a.com/*": "deny"}}}, "one whole host"),
        ({"permission": {"doom_loop": "ask"}}, "max_idle_turns"),
        ({"permission": {"skill": {"deploy": "deny"}}}, "[skills] disabled"),
        ({"permission": {"mymcp_*": "deny"}}, "no tool like mymcp_*"),
        ({"permission": {"bash": "maybe"}}, "no effect"),
        ({"permission": {"bash": 3}}, "neither an effect nor an object"),
        ({"permission": 3}, "neither an effect nor an object"),
        ({"permissions": ["x"]}, "action, resource and effect"),
        ({"tools": {"bash": False}}, "the older form"),
        ({"agent": {"plan": {"permission": {"edit": "deny"}}}}, ".air/shared/roles/"),
        ([], "no object"),
    ],
)
def test_row_permissions_an_opencode_rule_without_an_equivalent_is_handed_back(settings: Any, why: str) -> None:
    found = translate_opencode_rules(settings)
    assert found.lines == {}
    assert found.untranslated
    assert why in reasons(found)


@pytest.mark.parametrize(
    ("bash", "lines", "why"),
    [
        # an allow that comes later cannot lift what is stricter
        ({"git push *": "deny", "git push origin *": "allow"}, {"commands.deny": ["git push *"]}, "is stricter"),
        ({"*": "ask", "quux *": "allow"}, {"tools.ask": ["shell"]}, "is stricter"),
        ({"git push *": "deny", "git *": "ask"}, None, "never holds"),
        (
            {"git push *": "deny", "git p*": "ask", "git pull": "allow"},
            {"commands.ask": ["git p*"]},
            "never holds",
        ),
        # one that comes before is as exact here as there
        (
            {"quux *": "allow", "quux drop *": "deny"},
            {"commands.allow": ["quux *"], "commands.deny": ["quux drop *"]},
            "",
        ),
        # partly: the rest of the allow is kept
        (
            {"quux d*": "deny", "quux *": "allow"},
            {"commands.allow": ["quux *"]},
            "never holds",
        ),
        ({"quux *": "allow", "quux * --hard": "deny"}, {}, "narrows it"),
        ({"quux *": "allow", "corge * --hard": "deny"}, {"commands.allow": ["quux *"]}, "only at the end"),
    ],
)
def test_row_permissions_the_order_of_opencode_never_makes_a_line_weaker(
    bash: dict[str, str], lines: dict[str, list[str]] | None, why: str
) -> None:
    found = translate_opencode_rules({"permission": {"bash": bash}})
    assert lines is None or lines_of(found) == lines
    assert bool(why) == bool(found.untranslated)
    assert why in reasons(found)


def test_row_permissions_the_newer_form_of_opencode_is_read_too() -> None:
    found = translate_opencode_rules({"permissions": [{"action": "shell", "resource": "git push *", "effect": "deny"}]})
    assert (lines_of(found), found.untranslated) == ({"commands.deny": ["git push *"]}, ())


def wildcard(pattern: str, text: str) -> bool:
    """opencode's own matching, from its documentation."""
    if pattern.endswith(" *") and text == pattern[:-2]:
        return True
    expression = "".join(".*" if char == "*" else "." if char == "?" else re.escape(char) for char in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def winner(rules: dict[str, str], text: str) -> str | None:
    return next((pattern for pattern in reversed(rules) if wildcard(pattern, text)), None)


WORDS = st.sampled_from(["git", "push", "quux", "run", "--force", "rm"])
PATTERNS = st.one_of(
    st.sampled_from(["*", "git*", "* --force", "quux ?un"]),
    st.lists(WORDS, min_size=1, max_size=3)
    .map(" ".join)
    .flatmap(lambda text: st.sampled_from([text, f"{text} *", f"{text}*"])),
)
EFFECTS = st.sampled_from(["allow", "ask", "deny"])


@given(st.dictionaries(PATTERNS, EFFECTS, max_size=4), st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_row_permissions_no_opencode_deny_is_weaker_and_no_allow_wider(bash: dict[str, str], command: str) -> None:
    found = translate_opencode_rules({"permission": {"bash": bash}})
    won = winner(bash, command)
    ours, plain = effect_of(CommandAct(command=command), as_file(found)), effect_of(CommandAct(command=command))
    if won is not None and bash[won] != "allow":
        back = any(repr(won) in one.rule and one.effect == bash[won] for one in found.untranslated)
        assert back or ours.rank >= Effect(bash[won]).rank
    if ours is Effect.ALLOW and plain is not Effect.ALLOW:
        assert won is not None
        assert bash[won] == "allow"


PATHS = st.sampled_from(["a", "src/a", "src/b/a", "src/a.env", ".env", "b/.env", "src/b.ts", "srcx/a"])
GLOBS = st.sampled_from(["*", "a", "src/*", "src/**", "*.env", "**/*.env", "s*a", "src/?", "*/a", "src*", "*src/b*"])


@given(st.dictionaries(GLOBS, EFFECTS, max_size=3), PATHS, st.sampled_from(["read", "edit"]))
def test_row_permissions_no_opencode_deny_of_a_path_is_weaker(rules: dict[str, str], path: str, key: str) -> None:
    found = translate_opencode_rules({"permission": {key: rules}})
    won = winner(rules, path)
    if won in (None, "*") or rules[str(won)] == "allow":
        return
    act = PathAct(path=path, access="read" if key == "read" else "write")
    assert effect_of(act, as_file(found)).rank >= Effect(rules[str(won)]).rank


@given(
    st.dictionaries(
        st.sampled_from(["*", "bash", "read", "edit", "webfetch", "external_directory", "x"]),
        st.one_of(st.text(max_size=8), st.dictionaries(st.text(max_size=8), EFFECTS, max_size=3)),
        max_size=4,
    )
)
def test_row_permissions_every_opencode_rule_is_a_line_or_handed_back(permission: dict[str, Any]) -> None:
    as_file(translate_opencode_rules({"permission": permission}))
    for key, value in permission.items():
        rules = value if isinstance(value, dict) else {"*": value}
        for pattern, effect in rules.items():
            alone = translate_opencode_rules({"permission": {key: {pattern: effect}}})
            assert alone.lines or alone.untranslated
            assert key == "*" or not (alone.lines and alone.untranslated)
