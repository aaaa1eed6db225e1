import asyncio

import pytest

from aircoding.agents.tools.patterns import RegexError, match_lines


async def test_lines_that_match_are_named_in_order() -> None:
    texts = ["import os\nx = 1\r\n", "", "def f():\n    import re\n"]

    assert await match_lines(r"import \w+$", texts, limit=10) == [(0, 1), (2, 2)]
    assert await match_lines(r"^x = \d$", texts, limit=10) == [(0, 2)]
    assert await match_lines("import", texts, limit=1) == [(0, 1)]
    assert await match_lines("nothing", texts, limit=5) == []


async def test_an_invalid_expression_is_named() -> None:
    with pytest.raises(RegexError, match="no regular expression: missing"):
        await match_lines("(a", ["a"], limit=1)


async def test_an_expression_that_explodes_is_stopped() -> None:
    with pytest.raises(RegexError, match=r"took over 0\.5 seconds"):
        await match_lines("(a+)+$", ["a" * 60 + "!"], limit=1, seconds=0.5)


async def test_a_cancelled_match_leaves_no_process() -> None:
    task = asyncio.create_task(match_lines("(a+)+$", ["a" * 60 + "!"], limit=1, seconds=60))
    await asyncio.sleep(0.3)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_large_input_reaches_the_matcher_whole() -> None:
    texts = ["filler line\n" * 50_000 + "the last ünique line\n"]

    assert await match_lines("ünique", texts, limit=5) == [(0, 50_001)]
