"""Imports by `@path` (E23, E24, E26) and comments (E29): found where a tool would find them, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.rules.comments import without_block_comments
from aircoding.rules.mentions import bare_file_name, mentions


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("See @docs/style.md for more.", ["docs/style.md"]),
        ("@README.md", ["README.md"]),
        ("as in @a.md.", ["a.md.", "a.md"]),
        ("- @~/.claude/mine.md", ["~/.claude/mine.md"]),
        ('@"my notes/a b.md" and @c\\ d.md', ["my notes/a b.md", "c d.md"]),
        ("@../shared/x.md @/etc/y.md", ["../shared/x.md", "/etc/y.md"]),
        ("@a.md @a.md", ["a.md"]),
    ],
)
def test_e26_a_mention_begins_a_word_and_ends_at_a_blank_unless_quoted(text, targets):
    assert [target for mention in mentions(text) for target in mention.targets] == targets


@pytest.mark.parametrize(
    "text",
    ["user@example.com", "`@a.md`", "```\n@a.md\n```", "~~~\n@a.md\n~~~", "@", "@...", "x@a.md", "``@a.md ` ``"],
)
def test_e23_e24_no_mention_in_code_or_within_a_word(text):
    assert mentions(text) == ()


def test_e24_a_decorator_or_package_may_be_a_path_which_the_reader_has_to_look_up():
    assert [one.targets[0] for one in mentions("use @scope/pkg with @decorator")] == ["scope/pkg", "decorator"]


def test_e20_a_link_that_became_text():
    assert bare_file_name("AGENTS.md\n") == "AGENTS.md"
    assert bare_file_name("../AGENTS.md") == "../AGENTS.md"
    assert bare_file_name("See AGENTS.md") is None
    assert bare_file_name("# AGENTS.md") is None


def test_e29_block_comments_go_inline_ones_and_those_in_fences_stay():
    text = "one\n<!-- a\nb -->\ntwo <!-- kept -->\n```\n<!-- kept -->\n```\n<!-- c --> rest\n<!-- open"
    stripped = without_block_comments(text)
    assert stripped.text == "one\n\n\ntwo <!-- kept -->\n```\n<!-- kept -->\n```\nrest\n<!-- open"
    assert stripped.emptied == {2, 3}
    assert stripped.lines(1, 4) == "one\ntwo <!-- kept -->"


def test_e29_a_fence_inside_a_comment_is_none():
    assert without_block_comments("<!--\n```\n-->\n<!-- x -->\nend").text == "\n\n\n\nend"


@given(st.text(alphabet='@`~<!->\n a./\\"', max_size=200))
def test_any_text_is_read_and_keeps_its_lines(text):
    assert without_block_comments(text).text.count("\n") == text.count("\n")
    assert all(one.targets for one in mentions(text))
