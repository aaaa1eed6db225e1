"""The simulated prompt cache: what is counted as read and written."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.provider_calls import assistant, request, text, user

from aircoding.providers.simulated import SimulatedCache, prompt_tokens
from aircoding.records.usage import Usage

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
LONG = "word " * 1_000


def send(
    cache: SimulatedCache, body: dict[str, Any], *, model: str = "m", minimum: int = 100, now: float = 0.0
) -> Usage:
    asked = cache.ask(model, body, minimum_tokens=minimum, now_seconds=now)
    asked.begin()
    return asked.usage([text("answer")])


def marked(words: str = LONG, mark: dict[str, Any] = MARK) -> dict[str, Any]:
    return request(user(text(words, cache_control=mark)))


def test_a_marked_prefix_is_written_once_and_read_after() -> None:
    cache = SimulatedCache()
    first, second = send(cache, marked()), send(cache, marked())
    assert (first.cache_read_tokens, first.input_tokens) == (0, 0)
    assert second == Usage(cache_read_tokens=first.cache_write_5m_tokens, output_tokens=first.output_tokens)


def test_what_follows_the_last_mark_is_plain_input() -> None:
    body = request(user(text(LONG, cache_control=MARK)), assistant(text("a")), user(text(LONG)))
    usage = send(SimulatedCache(), body)
    assert usage.cache_write_5m_tokens > 1_000
    assert usage.input_tokens > 1_000


def test_a_prefix_that_grew_is_read_up_to_where_it_was_marked() -> None:
    cache = SimulatedCache()
    first = send(cache, marked())
    grown = request(user(text(LONG)), assistant(text("a")), user(text("b", cache_control=MARK)))
    second = send(cache, grown)
    assert second.cache_read_tokens == first.cache_write_5m_tokens
    assert 0 < second.cache_write_5m_tokens < 100


def test_an_entry_more_than_twenty_blocks_before_the_mark_is_not_found() -> None:
    def grown(blocks: int) -> dict[str, Any]:
        return request(user(text(LONG), *[text(f"{n}") for n in range(blocks - 1)], text("end", cache_control=MARK)))

    for blocks, hit in ((19, True), (20, False)):
        cache = SimulatedCache()
        send(cache, marked())
        assert (send(cache, grown(blocks)).cache_read_tokens > 0) is hit, blocks


def test_another_model_another_text_and_a_changed_tool_miss() -> None:
    cache = SimulatedCache()
    send(cache, marked())
    assert send(cache, marked(), model="other").cache_read_tokens == 0
    assert send(cache, marked("x" + LONG)).cache_read_tokens == 0
    assert send(cache, marked() | {"tools": []}).cache_read_tokens == 0


def test_a_prefix_below_the_minimum_is_not_cached() -> None:
    cache = SimulatedCache()
    assert send(cache, marked("short")).cache_write_5m_tokens == 0
    assert send(cache, marked("short")).cache_read_tokens == 0


def test_entries_live_five_minutes_or_an_hour_after_their_last_use() -> None:
    cache = SimulatedCache()
    send(cache, marked())
    assert send(cache, marked(), now=299).cache_read_tokens > 0
    assert send(cache, marked(), now=597).cache_read_tokens > 0
    assert send(cache, marked(), now=898).cache_read_tokens == 0
    long_lived = SimulatedCache()
    assert send(long_lived, marked(mark=HOUR)).cache_write_1h_tokens > 0
    assert send(long_lived, marked(mark=HOUR), now=3_599).cache_read_tokens > 0


def test_caches_are_isolated_by_workspace() -> None:
    cache = SimulatedCache()
    for workspace, read in (("one", False), ("two", False), ("one", True)):
        asked = cache.ask("m", marked(), minimum_tokens=100, now_seconds=0, workspace=workspace)
        asked.begin()
        assert (asked.read_tokens > 0) is read


blocks = st.lists(st.tuples(st.text(max_size=40), st.sampled_from([None, MARK])), min_size=1, max_size=30)


@given(st.lists(blocks, min_size=1, max_size=4), st.integers(0, 60))
def test_every_token_of_a_prompt_is_counted_exactly_once(requests: list[Any], minimum: int) -> None:
    cache = SimulatedCache()
    for parts in requests:
        content = [text(words, **({"cache_control": mark} if mark else {})) for words, mark in parts]
        body = request(user(*content))
        usage = send(cache, body, minimum=minimum)
        assert usage.prompt_tokens == prompt_tokens(body)
        assert min(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens) >= 0
