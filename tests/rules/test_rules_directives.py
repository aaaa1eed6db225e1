"""Directives, code spans and commands of rule texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.rules.directives import Verb, directives_in
from aircoding.rules.markdown_lines import code_spans
from aircoding.rules.named_commands import commands_in


@pytest.mark.parametrize(
    ("line", "verb", "subject", "value", "over"),
    [
        ("Always use tabs for indentation.", Verb.ALWAYS, "indentation", "tabs", None),
        ("- Never use floats for money", Verb.NEVER, "money", "floats", None),
        ("1. **Do not** push to main!", Verb.DO_NOT, "main", "push", None),
        ("Prefer `pathlib` over `os.path`.", Verb.PREFER, "pathlib", None, "os.path"),
        ("* [ ] Use the standard library", Verb.USE, "standard library", None, None),
        ("Don\u2019t skip tests", Verb.DO_NOT, "skip tests", None, None),
        ("You must never `git push --force`", Verb.NEVER, "git push --force", None, None),
        ("Use `a for b` in tests", Verb.USE, "tests", "a for b", None),
        ("Max line length: 88", Verb.USE, "line length", "88", None),
        ("Semicolons are forbidden.", Verb.NEVER, "semicolons", None, None),
        ("Tabs, not spaces.", Verb.USE, "tabs", None, "spaces"),
        ("Indent with tabs", Verb.USE, "indentation", "tabs", None),
    ],
)
def test_directives(line, verb, subject, value, over):
    (found,) = directives_in(line)
    assert (found.verb, found.subject, found.value, found.over, found.line) == (verb, subject, value, over, 1)


def test_what_is_no_directive():
    assert directives_in("The tests use pytest.\n\n## Never\n```\nNever run this\n```\nNevertheless, run it.\n") == ()


@pytest.mark.parametrize(
    ("line", "condition"),
    [
        ("Limit lines to 79 characters for docstrings", "for docstrings"),
        ("Wrap lines at 72 in commit messages.", "in commit messages"),
        ("Keep lines under 80 characters long (PEP 8).", ""),
        ("Python: max line length 88", "python"),
        ("The markdown line length is 100", "markdown"),
        ("Use tabs for indentation in Makefiles.", "in makefiles"),
        ("Indent Makefiles with tabs.", "in makefiles"),
    ],
)
def test_what_a_rule_is_said_of_is_its_condition(line, condition):
    (found,) = directives_in(line)
    assert found.condition == condition


@pytest.mark.parametrize("line", ["This is forbidden.", "Fixtures, not mocks.", "Does not use tabs."])
def test_words_that_only_look_like_a_rule_are_none(line):
    assert directives_in(line) == ()


def test_several_sentences_of_a_line():
    found = directives_in("Intro.\nUse ruff; do not use black. It is slow.")
    assert [(one.verb, one.subject, one.line) for one in found] == [
        (Verb.USE, "ruff", 2),
        (Verb.DO_NOT, "black", 2),
    ]
    assert [one.verb.wants for one in found] == [True, False]


def test_code_spans():
    text = "a `b` ``c ` d`` `e\n~~~\n`no`\n~~~\n`f`"
    assert code_spans(text) == ((1, "b"), (1, "c ` d"), (5, "f"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `make test`.", [("make test", 1, False)]),
        ("Never run `rm -rf /`.", [("rm -rf /", 1, True)]),
        ("Don't skip them. Run `pytest`.", [("pytest", 1, False)]),
        ("Run `a` instead of `b`.", [("a", 1, False), ("b", 1, True)]),
        ("Never do this:\n\n```sh\n$ ls\n```", [("ls", 4, True)]),
        ("Do not wait. Run:\n```\n# note\nls \\\n  -l\npwd\n```", [("ls -l", 4, False), ("pwd", 6, False)]),
        ("- like so:\n  ```bash\n  ls\n  ```\n- `pwd`", [("ls", 3, False), ("pwd", 5, False)]),
        ("```python\nimport os\n```", []),
        ("```\nls", [("ls", 2, False)]),
        ("- Don't:\n  - `rm a`\n- Do:\n  - `rm b`", [("rm a", 2, True), ("rm b", 4, False)]),
        ("Bad: `rm a`\n\nGood: `rm b`", [("rm a", 1, True), ("rm b", 3, False)]),
        ("## Never\n\n| `rm a` | x |\n\n## Run\n\n`rm b`", [("rm a", 3, True), ("rm b", 7, False)]),
        ("Never run:\n\n- `rm a`\n\nThen run `rm b`.", [("rm a", 3, True), ("rm b", 5, False)]),
    ],
)
def test_commands(text, expected):
    assert [(one.command, one.line, one.forbidden) for one in commands_in(text)] == expected


@given(st.text(st.sampled_from("`~ \n#$\\.-*use never forx>"), max_size=80))
@settings(max_examples=300, deadline=None)
def test_no_text_raises(text):
    lines = text.split("\n")
    for directive in directives_in(text):
        assert 1 <= directive.line <= len(lines)
    for command in commands_in(text):
        assert 1 <= command.line <= len(lines)
    for number, span in code_spans(text):
        assert span in lines[number - 1]


def test_long_lines_end():
    for piece in (" ", "`", "``` ", "use ", "a. ", "* ", "> ", "**"):
        text = "## " + piece * 100_000
        directives_in(text)
        commands_in(text + "\n" + piece * 100_000 + "x")
