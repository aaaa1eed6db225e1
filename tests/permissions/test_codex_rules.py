"""Codex' execpolicy rules as lines of ours (compatibility table, row Permissions)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from permissions.foreign_rules import as_file, effect_of, lines_of, reasons

from aircoding.permissions.codex_rules import translate_codex_rules, translate_codex_settings
from aircoding.records.policy import CommandAct, Effect


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('prefix_rule(pattern=["git", "push"], decision="prompt")', {"commands.ask": ["git push *"]}),
        ('prefix_rule(pattern=["quux"])', {"commands.allow": ["quux *"]}),
        (
            (
                'prefix_rule(\n  pattern = ["npm", ["test", "run"]],  # two\n  decision = "allow",\n'
                '  justification = "daily",\n)'
            ),
            {"commands.allow": ["npm test *", "npm run *"]},
        ),
        ('prefix_rule(["sudo"], "forbidden")', {"commands.deny": ["sudo *"]}),
        ('prefix_rule(pattern=["/usr/bin/sudo"], decision="forbidden")', {"commands.deny": ["sudo *"]}),
        ("# nothing\n", {}),
    ],
)
def test_row_permissions_a_codex_rule_becomes_lines(text: str, lines: dict[str, list[str]]) -> None:
    found = translate_codex_rules(text)
    assert (lines_of(found), found.untranslated) == (lines, ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("prefix_rule(", "cannot be read"),
        ("a\0b", "cannot be read"),
        ("(" * 5000, "cannot be read"),
        ("x = 1", "only calls of `prefix_rule`"),
        ("__import__('os').system('true')", "only calls of `prefix_rule`"),
        ('prefix_rule(pattern=[open("x")])', "neither a text nor a list"),
        ('prefix_rule(pattern=["a" + "b"])', "neither a text nor a list"),
        ('load("x.star", "y")', "nothing like load"),
        ('host_executable(name="git", paths=["/usr/bin/git"])', "known by its name"),
        ('prefix_rule(pattern=[], decision="allow")', "no list of words"),
        ('prefix_rule(decision="allow")', "no list of words"),
        ('prefix_rule(pattern=["a", []])', "no word"),
        ('prefix_rule(pattern=["a"], decision="maybe")', "no decision"),
        ('prefix_rule(pattern=["a"], glob="b")', "`glob` is not known"),
        ('prefix_rule(pattern=["a", "b c"], decision="forbidden")', "plain words"),
        ('prefix_rule(pattern=["a", "*"], decision="forbidden")', "wildcard here"),
        ('prefix_rule(pattern=["/usr/bin/git", "log"])', "without its folder"),
        (f"prefix_rule(pattern={[['a', 'b']] * 9})", "more than 256"),
    ],
)
def test_row_permissions_a_codex_rule_without_an_equivalent_is_handed_back(text: str, why: str) -> None:
    found = translate_codex_rules(text)
    assert found.lines == {}
    assert why in reasons(found)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ('pattern=["git", "push"], decision="forbidden", match=["git push origin", ["git", "push"]]', ""),
        ('pattern=["git", "push"], decision="forbidden", not_match=["git pull", "gitpush"]', ""),
        ('pattern=["git", "push"], decision="forbidden", match=["git pull"]', "does not hold"),
        ('pattern=["git", "push"], decision="forbidden", not_match=["git push -f"]', "holds for this example too"),
        ('pattern=["git", "push"], decision="forbidden", not_match=["git -C x push"]', "holds for this example too"),
        ('pattern=["quux"], match=["quux a"], not_match=["corge"]', ""),
        ('pattern=["quux"], match=["quux $(id)"]', ""),
        ('pattern=["quux"], match=["quux \'"]', "no command"),
        ('pattern=["quux"], match=[["quux", ["a"]]]', "no command"),
    ],
)
def test_row_permissions_the_examples_of_a_codex_rule_are_put_to_our_engine(rule: str, why: str) -> None:
    found = translate_codex_rules(f"prefix_rule({rule})")
    assert len(found.lines) == 1
    assert bool(found.untranslated) == bool(why)
    assert why in reasons(found)


def test_row_permissions_the_strictest_codex_rule_wins() -> None:
    text = """
prefix_rule(pattern=["quux"], decision="allow")
prefix_rule(pattern=["quux", "up"], decision="prompt")
prefix_rule(pattern=["quux", "up", "all"], decision="forbidden")
"""
    file = as_file(translate_codex_rules(text))
    wanted = {"quux x": Effect.ALLOW, "quux up x": Effect.ASK, "quux up all": Effect.DENY}
    assert {command: effect_of(CommandAct(command=command), file) for command in wanted} == wanted


def test_row_permissions_an_allow_that_a_rule_without_a_line_narrows_is_handed_back() -> None:
    text = """
prefix_rule(pattern=["quux"], decision="allow")
prefix_rule(pattern=["quux", "a b"], decision="forbidden")
prefix_rule(pattern=["corge"], decision="allow")
"""
    found = translate_codex_rules(text)
    assert lines_of(found) == {"commands.allow": ["corge *"]}
    assert "narrows it" in reasons(found)


def test_row_permissions_settings_of_codex_are_remarks() -> None:
    text = 'model = "x"\nsandbox_mode = "workspace-write"\n[profiles.a]\napproval_policy = "never"\n'
    found = translate_codex_settings(text)
    assert found.lines == {}
    assert [one.rule for one in found.untranslated] == [
        "sandbox_mode: 'workspace-write'",
        "profiles.a.approval_policy: 'never'",
    ]
    assert "no TOML" in reasons(translate_codex_settings("= ="))


WORDS = st.sampled_from(["git", "push", "quux", "run", "--force", "a.b", "rm", "-rf", "a b", "x*"])
TOKENS = st.one_of(WORDS, st.lists(WORDS, min_size=1, max_size=2))
RULES = st.lists(
    st.tuples(st.lists(TOKENS, min_size=1, max_size=3), st.sampled_from(["allow", "prompt", "forbidden"])), max_size=4
)
RANKS = {"allow": Effect.ALLOW, "prompt": Effect.ASK, "forbidden": Effect.DENY}


def codex_effect(rules: list[tuple[list[str | list[str]], str]], argv: list[str]) -> tuple[Effect | None, bool]:
    """Codex' own decision, from its documentation, and whether a rule that says it has a line of ours."""
    matching = [
        (RANKS[decision], pattern)
        for pattern, decision in rules
        if len(argv) >= len(pattern)
        and all(
            word in token if isinstance(token, list) else word == token
            for word, token in zip(argv, pattern, strict=False)
        )
    ]
    strictest = max((effect for effect, _ in matching), key=lambda effect: effect.rank, default=None)
    said = any(
        effect is strictest and not any(char in word for word in argv[: len(pattern)] for char in " *")
        for effect, pattern in matching
    )
    return strictest, said


@given(RULES, st.lists(WORDS, min_size=1, max_size=4))
def test_row_permissions_no_codex_deny_is_weaker_and_no_allow_wider(
    rules: list[tuple[list[str | list[str]], str]], argv: list[str]
) -> None:
    text = "\n".join(f"prefix_rule(pattern={pattern!r}, decision={decision!r})" for pattern, decision in rules)
    command = CommandAct(command=" ".join(f"'{word}'" if " " in word or "*" in word else word for word in argv))
    wanted, said = codex_effect(rules, argv)
    ours, plain = effect_of(command, as_file(translate_codex_rules(text))), effect_of(command)
    if wanted is not None and said:
        assert ours.rank >= wanted.rank
    if ours is Effect.ALLOW and plain is not Effect.ALLOW:
        assert wanted is Effect.ALLOW


@given(st.text(max_size=80))
def test_row_permissions_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    for found in (translate_codex_rules(text), translate_codex_settings(text)):
        as_file(found)
