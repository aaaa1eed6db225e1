"""Reading mentions and comments of hostile Markdown: time grows with the text, whatever it holds."""

from __future__ import annotations

import time

import pytest

from aircoding.rules.comments import without_block_comments
from aircoding.rules.mentions import mentions

pytestmark = pytest.mark.bench

FEW, MANY = 2_000, 20_000


@pytest.mark.parametrize("piece", ["<!--\n", "@a ", "`@", '@"', "<!-- -->\n", "@\\ ", "```\n@a\n", "`` ` "])
def test_time_grows_with_the_text_only(piece: str) -> None:
    few, many = (min(_seconds(piece * times) for _ in range(3)) for times in (FEW, MANY))
    print(f"{piece!r}: {few * 1_000:.1f} ms for {FEW}, {many * 1_000:.1f} ms for {MANY}")
    assert many < few * MANY / FEW * 4 + 0.05


def _seconds(text: str) -> float:
    began = time.process_time()
    mentions(text)
    without_block_comments(text)
    return time.process_time() - began
