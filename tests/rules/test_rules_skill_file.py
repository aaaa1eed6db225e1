"""SKILL.md: cases E01, E02, E05, E47 and the table of what is made good, given up, and a fault by the letter."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aircoding.rules.skill_checks import check_skill
from aircoding.rules.skill_file import KEPT_DESCRIPTION_CHARS, MAX_TRIGGERS, Skill, parse_skill
from aircoding.rules.skill_triggers import matching_trigger

URI = "project:.claude/skills/cooking/SKILL.md"


def skill(header: str, body: str = "Cook.") -> Skill:
    found = parse_skill(f"---\n{header}\n---\n{body}", folder="cooking", uri=URI).skill
    assert found is not None
    return found


def remarks(header: str, body: str = "Cook.") -> list[tuple[str, str, int | None]]:
    file = parse_skill(f"---\n{header}\n---\n{body}", folder="cooking", uri=URI)
    return [(one.severity, one.code, one.line) for one in file.diagnostics]


def faults(header: str, body: str = "Cook.", *, folder: str = "cooking") -> list[tuple[str, str, int | None]]:
    found = check_skill(f"---\n{header}\n---\n{body}", folder=folder, uri=URI)
    return [(one.severity, one.code, one.line) for one in found]


GOOD = "name: cooking\ndescription: Plan weeknight meals"


def test_a_skill_with_its_lines_and_every_key_kept() -> None:
    found = skill(f"{GOOD}\nlicense: MIT\nmetadata:\n  author: me\nwhatever: [1, 2]", "\n\n# Cook\n\n--- \nmore\n\n")
    assert (found.name, found.description, found.description_line) == ("cooking", "Plan weeknight meals", 3)
    assert (found.body, found.body_start_line, found.body_end_line) == ("# Cook\n\n--- \nmore", 11, 14)
    assert found.header["metadata"] == {"author": "me"}
    assert found.header["whatever"] == [1, 2]
    assert remarks(GOOD) == []


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\nname: cooking\ndescription: Plan weeknight meals\n---\nCook.\n",
        "---\r\nname: cooking\r\ndescription: Plan weeknight meals\r\n---\r\nCook.\r\n",
        "---\rname: cooking\rdescription: Plan weeknight meals\r---\rCook.\r",
    ],
    ids=["E01 byte order mark", "E02 CRLF", "E02 CR"],
)
def test_encodings_make_no_difference(text: str) -> None:
    file = parse_skill(text, folder="cooking", uri=URI)
    assert file.skill is not None
    assert (file.skill.name, file.skill.description, file.skill.body) == ("cooking", "Plan weeknight meals", "Cook.")
    assert file.diagnostics == ()
    assert check_skill(text, folder="cooking") == ()


def test_numbers_and_words_of_yaml_are_text_e47() -> None:
    assert skill("name: 3000\ndescription: yes").name == "3000"
    assert skill("name: cooking\ndescription: yes").description == "yes"
    assert skill("name: cooking\ndescription: 3.10").description == "3.10"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("name: Cooking", "lower-case"),
        ("name: -cooking", "hyphen"),
        ("name: cooking-", "hyphen"),
        ("name: cook--ing", "hyphens in a row"),
        (f"name: {'x' * 65}", "65 characters"),
        ("name: k\u00f6che", "lower-case"),
        ("name: [a]", "no `name`"),
        ("name: null", "no `name`"),
        ("license: MIT", "no `name`"),
    ],
)
def test_a_bad_or_missing_name_is_that_of_the_folder_with_a_warning(name: str, why: str) -> None:
    file = parse_skill(f"---\ndescription: Plan\n{name}\n---\n", folder="cooking", uri=URI)
    assert file.skill is not None
    assert file.skill.name == "cooking"
    assert [(one.severity, why in one.message) for one in file.diagnostics] == [("warning", True)]
    assert "error" in [severity for severity, code, _ in faults(f"description: Plan\n{name}") if code == "skill.name"]


def test_a_good_name_that_is_not_the_folders_counts_and_is_said() -> None:
    assert skill("name: baking\ndescription: Bake").name == "baking"
    assert remarks("name: baking\ndescription: Bake") == [("warning", "skill.name", 2)]
    assert faults("name: baking\ndescription: Bake") == [("error", "skill.name", 2)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nname: cooking\n---\nCook.", 1),
        ("---\nname: cooking\ndescription:\n---\nCook.", 3),
        ("---\nname: cooking\ndescription: ''\n---\nCook.", 3),
        ("---\nname: cooking\ndescription: ~\n---\nCook.", 3),
        ("---\nname: cooking\ndescription: [a, b]\n---\nCook.", 3),
        ("---\nname: cooking\ndescription: [a, b\n---\nCook.", 3),
        ("---\nname: cooking\nname: baking\ndescription: Cook\n---\nCook.", 3),
        ("---\nname: cooking\ndescription: Cook\n", 1),
        ("\n---\nname: cooking\ndescription: Cook\n---\n", 2),
        ("# Cooking\n\nCook.", 1),
        ("", 1),
    ],
)
def test_what_cannot_be_offered_is_skipped_with_its_line(text: str, line: int) -> None:
    file = parse_skill(text, folder="cooking", uri=URI)
    assert file.skill is None
    assert [(one.severity, one.line, bool(one.hint)) for one in file.diagnostics] == [("error", line, True)]
    assert any(one.severity == "error" for one in check_skill(text, folder="cooking", uri=URI))


@pytest.mark.parametrize(
    ("header", "description"),
    [
        ("description: Use when: cooking", "Use when: cooking"),
        ("description: Use when: it's late\nmetadata:\n  author: me: myself", "Use when: it's late"),
        ("description: Use when: cooking\n  and when: baking\nfoo: 1", "Use when: cooking and when: baking"),
        ("description: Cook:\nfoo: 1", "Cook:"),
    ],
)
def test_values_with_a_colon_are_retried_as_quoted_e05(header: str, description: str) -> None:
    found = skill(f"name: cooking\n{header}")
    assert found.description == description
    assert found.name == "cooking"
    if "metadata" in header:
        assert found.header["metadata"] == {"author": "me: myself"}


def test_a_lenient_reading_is_a_warning_and_by_the_letter_a_fault_e05() -> None:
    header = "name: cooking\ndescription: Use when: cooking"
    assert remarks(header) == [("warning", "front_matter.lenient", 3)]
    assert faults(header) == [("error", "front_matter.lenient", 3)]


def test_when_to_use_is_joined_and_the_whole_is_cut() -> None:
    assert skill(f"{GOOD}\nwhen_to_use: When hungry").description == "Plan weeknight meals When hungry"
    long = skill(f"name: cooking\ndescription: {'x' * 1_500}\nwhen_to_use: {'y' * 100}")
    assert len(long.description) == KEPT_DESCRIPTION_CHARS
    assert long.description.endswith("x " + "y" * 35)
    assert remarks(f"name: cooking\ndescription: {'x' * 2_000}") == [("warning", "skill.description", 3)]


@pytest.mark.parametrize(
    ("written", "triggers"),
    [
        ("[dinner, roll  out]", ("dinner", "roll out")),
        ("dinner, roll out", ("dinner", "roll out")),
        ("\n  - dinner\n  - dinner\n  - roll out", ("dinner", "roll out")),
        ("dinner", ("dinner",)),
        ("3000", ("3000",)),
        ("[' ', '...', dinner]", ("dinner",)),
        ("{a: 1}", ()),
        ("", ()),
    ],
)
def test_triggers_are_a_list_or_a_comma_string(written: str, triggers: tuple[str, ...]) -> None:
    assert skill(f"{GOOD}\ntriggers: {written}").triggers == triggers


def test_triggers_are_bounded_and_what_is_left_out_is_said() -> None:
    listed = ", ".join(f"word{number}" for number in range(60))
    assert len(skill(f"{GOOD}\ntriggers: {listed}").triggers) == MAX_TRIGGERS
    assert remarks(f"{GOOD}\ntriggers: {listed}") == [("warning", "skill.triggers", 4)]
    assert remarks(f"{GOOD}\ntriggers: [ok, {'x' * 101}]") == [("warning", "skill.triggers", 4)]


def test_the_keys_of_claude_are_understood() -> None:
    found = skill(
        f"{GOOD}\npaths: src/**/*.{{ts,tsx}}, lib/**\nallowed-tools: Bash(git:*), Read\n"
        "disable-model-invocation: yes\nuser-invocable: 'no'"
    )
    assert found.paths == ("src/**/*.{ts,tsx}", "lib/**")
    assert found.allowed_tools == ("Bash(git:*)", "Read")
    assert (found.model_invocable, found.user_invocable) == (False, False)
    assert skill(f"{GOOD}\nallowed-tools: [Read, Bash(a b)]").allowed_tools == ("Read", "Bash(a b)")
    # What is unclear is taken in the sense that offers less.
    unclear = f"{GOOD}\ndisable-model-invocation: maybe"
    assert skill(unclear).model_invocable is False
    assert remarks(unclear) == [("warning", "skill.disable_model_invocation", 4)]
    assert remarks(f"{GOOD}\npaths: ['src/[', lib/**]") == [("warning", "skill.paths", 4)]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (GOOD, []),
        ("description: Cook", [("error", "skill.name", 1)]),
        ("name: 3000\ndescription: Cook", [("error", "skill.name", 2)]),
        ("name: cooking", [("error", "skill.description", 1)]),
        ("name: cooking\ndescription: ''", [("error", "skill.description", 3)]),
        (f"name: cooking\ndescription: {'x' * 1_024}", []),
        (f"name: cooking\ndescription: {'x' * 1_025}", [("error", "skill.description", 3)]),
        (f"{GOOD}\ncompatibility: {'x' * 500}", []),
        (f"{GOOD}\ncompatibility: {'x' * 501}", [("error", "skill.compatibility", 4)]),
        (f"{GOOD}\ncompatibility: ''", [("error", "skill.compatibility", 4)]),
        (f"{GOOD}\nmetadata: {{a: '1'}}", []),
        (f"{GOOD}\nmetadata: {{a: 1, b: [x]}}", [("error", "skill.metadata", 4)] * 2),
        (f"{GOOD}\nmetadata: me", [("error", "skill.metadata", 4)]),
        (f"{GOOD}\nallowed-tools: Read Grep", []),
        (f"{GOOD}\nallowed-tools: [Read]", [("error", "skill.allowed_tools", 4)]),
        (f"{GOOD}\nlicence: MIT", [("error", "skill.unknown_key", 4)]),
        (f"{GOOD}\ntriggers: dinner", [("info", "skill.extension_key", 4)]),
        (f"{GOOD}\nuser-invocable: true", [("info", "skill.extension_key", 4)]),
        (f"{GOOD}\ntriggers: {{a: 1}}", [("info", "skill.extension_key", 4), ("warning", "skill.triggers", 4)]),
    ],
)
def test_the_specification_by_the_letter(header: str, found: list[tuple[str, str, int | None]]) -> None:
    assert faults(header) == found


def test_a_long_or_empty_body_is_a_warning() -> None:
    assert faults(GOOD, "x\n" * 500) == []
    assert faults(GOOD, "x\n" * 501) == [("warning", "skill.body", 505)]
    assert faults(GOOD, "x" * 20_001) == [("warning", "skill.body", 5)]
    assert faults(GOOD, " \n") == [("warning", "skill.body", 5)]


@pytest.mark.parametrize(
    ("trigger", "text", "found"),
    [
        ("deploy", "Deploy the site", True),
        ("deploy", "redeploy, deployment", False),
        ("deploy", "(deploy)", True),
        ("roll back", "Please ROLL\n  BACK now", True),
        ("roll back", "roll the back", False),
        ("c++", "write C++ code", True),
        ("c++", "c+ +", False),
        ("stra\u00dfe", "STRASSE", True),
        ("\u90e8\u7f72", "\u8bf7\u90e8\u7f72\u5e94\u7528", True),
        (".*", "anything", False),
    ],
)
def test_a_trigger_is_a_whole_word_or_phrase(trigger: str, text: str, found: bool) -> None:
    assert matching_trigger(("nothing here", trigger), text) == (trigger if found else None)


HEADERS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "name: cooking",
                "description: Use: x",
                "triggers: [a, b]",
                "paths: '**'",
                "  - x",
                "metadata:",
                "  a: b: c",
            ]
        ),
        st.text(max_size=40),
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(), HEADERS.map(lambda lines: "\n".join(["---", *lines, "---", "body"]))), st.text(max_size=300)
)
@example("---\ndescription: a: b\n\n---\n", "")
@example("---\n: x\n---", "")
def test_no_text_raises_and_what_comes_out_is_bounded(text: str, folder: str) -> None:
    file = parse_skill(text, folder=folder, uri=URI)
    assert (file.skill is None) <= any(one.severity == "error" for one in file.diagnostics)
    lines = text.count("\n") + text.count("\r") + 1
    for one in (*file.diagnostics, *check_skill(text, folder=folder, uri=URI)):
        assert one.line is None or 1 <= one.line <= lines + 1
    if file.skill is not None:
        assert 0 < len(file.skill.description) <= KEPT_DESCRIPTION_CHARS
        assert len(file.skill.triggers) <= MAX_TRIGGERS
        assert file.skill.name == folder or len(file.skill.name) <= 64
        assert 1 <= file.skill.body_start_line <= file.skill.body_end_line <= lines + 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=5), st.text(max_size=200))
def test_matching_never_raises_and_finds_what_stands_alone(triggers: list[str], text: str) -> None:
    found = matching_trigger(triggers, text)
    assert found is None or found in triggers
    for one in triggers:
        if one.split() and any(map(str.isalnum, one)):
            assert matching_trigger([one], f"( {one} )") == one
