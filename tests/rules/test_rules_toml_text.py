"""A key is set in a settings file, and nothing else in it changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.errors import ConfigError
from aircoding.rules.toml_text import with_flag
from aircoding.sources.resources import read_resource


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[rules]\nclaude = true\n"),
        ("[run]\nconcurrency = 2", "[run]\nconcurrency = 2\n\n[rules]\nclaude = true\n"),
        ("[rules]\n# kept\nagents_md = false\n", "[rules]\nclaude = true\n# kept\nagents_md = false\n"),
        ("[rules]\n# why\nclaude = false # not yet\n", "[rules]\n# why\nclaude = true\n"),
        ("[rules]  # mine\n\n[run]\n", "[rules]  # mine\nclaude = true\n\n[run]\n"),
        ("[run]\nclaude = 1\n", "[run]\nclaude = 1\n\n[rules]\nclaude = true\n"),
        ("[rules]\nclaude = true\n", "[rules]\nclaude = true\n"),
        ("rules.claude = true\n", "rules.claude = true\n"),
    ],
)
def test_the_key_gets_its_line_and_the_others_stay(before: str, after: str) -> None:
    assert with_flag(before, "rules", "claude", value=True) == after


@pytest.mark.parametrize("text", ["rules = {agents_md = true}\n", "rules.agents_md = true\n", "[rules", "rules = 3\n"])
def test_what_cannot_be_changed_line_by_line_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        with_flag(text, "rules", "claude", value=True)


def test_the_packaged_settings_take_a_key() -> None:
    text = read_resource("init/config.toml")
    changed = with_flag(text, "rules", "claude", value=True)
    assert tomllib.loads(changed)["rules"] == {"claude": True}
    assert set(text.split("\n")) <= set(changed.split("\n"))


NAMES = st.sampled_from(["rules", "run", "claude", "x"])
LINES = st.one_of(
    NAMES.map(lambda name: f"[{name}]"),
    st.tuples(NAMES, st.sampled_from(["true", "false", "3", '"[rules]"', '"""\n[rules]\n"""'])).map(" = ".join),
    st.sampled_from(["", "# claude = true", "  # [rules]"]),
)


@given(st.lists(LINES, max_size=8).map("\n".join), NAMES, NAMES, st.booleans())
def test_the_file_says_what_it_said_and_the_key(text: str, section: str, key: str, value: bool) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(ConfigError):
            with_flag(text, section, key, value=value)
        return
    try:
        changed = with_flag(text, section, key, value=value)
    except ConfigError:
        return
    after = tomllib.loads(changed)
    assert after[section].pop(key) is value
    kept = before.get(section)
    if isinstance(kept, dict):
        kept.pop(key, None)
    assert {name: part for name, part in after.items() if part != {}} == {
        name: part for name, part in before.items() if part != {}
    }
    assert with_flag(changed, section, key, value=value) == changed
