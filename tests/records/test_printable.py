"""What a source is called where a person or an agent reads of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.records.printable import shown_path


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("project:docs/AGENTS.md", "docs/AGENTS.md"),
        ("project:a:b.md", "a:b.md"),
        ("user:rules/mine.md", "~/.air/rules/mine.md"),
        ("resource:rules/defaults.md", "Default defaults.md"),
        ("plugin:jira/skills/ticket", "plugin:jira/skills/ticket"),
        ("~/.claude/CLAUDE.md", "~/.claude/CLAUDE.md"),
        ("/etc/codex/a:b.md", "/etc/codex/a:b.md"),
        ("AGENTS.md", "AGENTS.md"),
        ("", ""),
    ],
)
def test_a_source_is_called_what_a_person_would_write(uri: str, shown: str) -> None:
    assert shown_path(uri) == shown


@given(st.text())
def test_every_text_has_a_name_and_a_path_of_the_project_its_own(text: str) -> None:
    assert isinstance(shown_path(text), str)
    assert shown_path(f"project:{text}") == text
    assert shown_path(f"user:{text}") == f"~/.air/{text}"
