"""Agents of Claude Code (compatibility table, row Subagents): read leniently, unknown keys kept, roles made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.errors import ConfigError
from aircoding.rules.agent_file import Agent, parse_agent
from aircoding.rules.agent_role import role_id, role_of_agent
from aircoding.sources.roles import parse_role

HEAD = "---\nname: helper\ndescription: Helps.\n"


def agent(text: str) -> Agent:
    found = parse_agent(text, "a.md")
    assert found.agent is not None, found.diagnostics
    return found.agent


def test_row_subagents_every_key_is_kept_known_or_not() -> None:
    one = agent(
        HEAD + "tools: Read, Bash(git *), mcp__x__y\ndisallowedTools: [Write]\nmodel: opus\nhooks:\n  Stop: []\n"
        "zebra: 3\n---\n\nYou help.\n\nAlways.\n"
    )
    assert (one.name, one.description, one.prompt) == ("helper", "Helps.", "You help.\n\nAlways.")
    assert one.tools == ("Read", "Bash(git *)", "mcp__x__y")
    assert one.disallowed_tools == ("Write",)
    assert one.prompt_start_line == 12
    assert one.unknown_keys == ("zebra",)
    assert one.header["zebra"] == 3
    assert one.header["hooks"] == {"Stop": []}


@pytest.mark.parametrize("tools", ["", "tools:\n", 'tools: "*"\n', "tools: null\n"])
def test_row_subagents_without_a_list_an_agent_has_all_tools(tools: str) -> None:
    assert agent(f"{HEAD}{tools}---\nx\n").tools is None


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEAD + "---\nYou help.\n",
        (HEAD + "---\nYou help.\n").replace("\n", "\r\n"),
        (HEAD + "---\nYou help.\n").replace("\n", "\r"),
        HEAD + "---  \nYou help.",
    ],
    ids=["E01 mark", "E02 CRLF", "E02 CR", "blanks behind the fence"],
)
def test_row_subagents_marks_and_line_ends_change_nothing(text: str) -> None:
    assert agent(text).prompt == "You help."


def test_row_subagents_a_description_with_colons_is_read_and_said() -> None:
    """E05: what YAML refuses is read as it was meant."""
    found = parse_agent("---\nname: a\ndescription: Use it: user: hi\n---\nx\n", "a.md")
    assert found.agent is not None
    assert found.agent.description == "Use it: user: hi"
    assert [one.code for one in found.diagnostics] == ["front_matter.lenient"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("You help.\n", "`name` is missing"),
        ("---\nname: a\n---\nx\n", "`description` is missing"),
        ("---\nname: a\ndescription: b\n---\n \n", "no prompt"),
        ("---\nname: a:b\ndescription: b\n---\nx\n", "holds a colon"),
        ("---\nname: a\ndescription: b\ntools: {a: b}\n---\nx\n", "no list of tools"),
        ("---\nname: a\ndescription: b\n", "no closing"),
        ("---\nname: [a\n---\nx\n", "no YAML"),
        ("---\nname: a\nname: b\ndescription: c\n---\nx\n", "given twice"),
        ("", "`name` is missing"),
    ],
)
def test_row_subagents_what_cannot_be_used_is_said_with_its_line(text: str, why: str) -> None:
    found = parse_agent(text, "a.md")
    assert found.agent is None
    assert any(why in one.message and one.line is not None for one in found.diagnostics)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("code-reviewer", "code_reviewer"),
        ("CodeReviewer", "code_reviewer"),
        ("a  b--c", "a_b_c"),
        ("executor", "executor_project"),
        ("3d", None),
        ("--", None),
        ("\u00e4", None),
    ],
)
def test_row_subagents_a_role_id_is_made_of_the_name(name: str, role: str | None) -> None:
    assert role_id(name, {"executor"}) == role


@pytest.mark.parametrize(
    ("header", "categories", "writes", "left"),
    [
        ("", ("read", "edit", "execute"), "area", ()),
        ("tools: Read, Grep, Glob, LS, NotebookRead\n", ("read",), "none", ()),
        ("tools: MultiEdit, Task, WebSearch, Bash\n", ("edit", "execute", "network", "delegate"), "area", ()),
        ("tools: Read, mcp__x__y, Juggle\n", ("read",), "none", ("tools: mcp__x__y", "tools: Juggle")),
        ("tools: Read, Bash(git *)\n", ("read", "execute"), "none", ("tools: Bash(git *)",)),
        ("disallowedTools: Write, Bash\n", ("read",), "none", ("disallowedTools: Write", "disallowedTools: Bash")),
        ("disallowedTools: Bash(rm *)\n", ("read", "edit", "execute"), "area", ("disallowedTools: Bash(rm *)",)),
        ("tools: []\n", (), "none", ()),
        ("model: opus\nzebra: 1\n", ("read", "edit", "execute"), "area", ("model", "zebra")),
    ],
)
def test_row_subagents_tools_become_categories_and_the_rest_is_said(
    header: str, categories: tuple[str, ...], writes: str, left: tuple[str, ...]
) -> None:
    draft = role_of_agent(agent(f"{HEAD}{header}---\nYou help.\n"), role="helper", source="a.md")
    profile = parse_role(draft.text, "helper.md")
    assert (profile.role, profile.title, profile.prompt) == ("helper", "helper", "You help.")
    assert (profile.tool_categories, profile.writes) == (categories, writes)
    assert [one[: len(key)] for one, key in zip(draft.left, left, strict=True)] == list(left)
    assert all(f"# Not carried over: {one[:5]}" in draft.text.replace('"', "") for one in draft.left)


@given(st.text(max_size=60), st.text(min_size=1, max_size=60), st.text(max_size=40))
def test_row_subagents_any_agent_is_a_role_that_loads_or_refused(name: str, prompt: str, key: str) -> None:
    found = parse_agent(f"---\nname: {name}\ndescription: {key}\n{key}: 1\n---\n{prompt}", "a.md")
    if found.agent is None:
        assert any(one.severity == "error" for one in found.diagnostics)
        return
    role = role_id(found.agent.name, {"executor"})
    if role is None:
        return
    draft = role_of_agent(found.agent, role=role, source="a.md")
    try:
        assert parse_role(draft.text, "a.md").role == role
    except ConfigError as error:
        assert "no prompt" in error.message or "discipline" in found.agent.prompt.lower()  # noqa: PT017 - either is right
