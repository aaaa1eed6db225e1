"""Characters that crash the parser's native scanner are never given to it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.permissions.shell_parse import Doubt, parse_line

_ODD = st.text(
    st.one_of(
        st.sampled_from("{}[]()$<>|&;`'\"\\ \n#=*~!@a1.-"),
        st.characters(min_codepoint=0x100, exclude_categories=("Cs",)),
    ),
    max_size=25,
)


@pytest.mark.parametrize("text", ["{\U000f93e6;ls", "echo {1..\U000f93e6}", "{1.日 ls"])
def test_a_brace_before_such_a_character_is_a_doubt(text: str) -> None:
    events = list(parse_line(text))

    assert any(isinstance(event, Doubt) and event.unparsed for event in events)


def test_other_scripts_are_parsed() -> None:
    events = list(parse_line("grep 日本 src && echo “déjà” ✅ > out/日本.txt"))

    assert not any(isinstance(event, Doubt) for event in events)


@given(_ODD, st.sampled_from([" ", "\n", "<<E\n", "$(", "`", "${", "{1..", "{", "${a[", "$((", "[[ a =~ "]), _ODD)
@settings(max_examples=400, deadline=None)
def test_no_text_ends_the_process(before: str, opening: str, after: str) -> None:
    assert list(parse_line(before + opening + after + " ls"))
