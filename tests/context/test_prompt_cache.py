"""The model of the prompt cache: its chains, why a request reads less, and how a call compares with its usage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cache_cases import M1, M5, Body, layered, result, said, t, texts, tool, use, user
from support.cache_models import block_tokens, rules_of

from aircoding.context.cache_checks import compare
from aircoding.context.prompt_cache import CacheState, begun, dropped, forecast, sent, shortfall
from aircoding.context.prompt_chain import Chain, chain_of
from aircoding.records.caching import CacheForecast, Shortfall
from aircoding.records.digests import sha256_text
from aircoding.records.manifest import CacheMark
from aircoding.records.usage import Usage

MODEL = "claude-sonnet-5-5"
RULES = rules_of(MODEL, 100)


def chain(body: dict[str, Any], before: Chain | None = None, model: str = MODEL) -> Chain:
    return chain_of(body, RULES, model=model, tokens_of=block_tokens, before=before)


def after(*chains: Chain, at: float = 0.0) -> CacheState:
    """The state after requests whose answers have begun."""
    state = CacheState()
    for number, one in enumerate(chains):
        state = sent(state, str(number), one, RULES, at_seconds=at)
        state = begun(state, str(number), at_seconds=at)
    return state


def why(state: CacheState, now: Chain, earlier: Chain, at: float = 1.0, *, shared_only: bool = False) -> Shortfall:
    found = shortfall(state, now, earlier, RULES, earlier_at_seconds=0, shared_only=shared_only, at_seconds=at)
    assert found is not None
    return found


def test_a_chain_that_reuses_another_is_the_chain_made_from_nothing() -> None:
    calls = said(t("a", 50), use("u1"))
    first = chain(Body([tool("f", 100)], [t("s", 100, M5)], [user(t("m", 100, M5))])())
    grown = Body([tool("f", 100)], [t("s", 100, M5)], [user(t("m", 100)), calls, user(result("u1", 25, M5))])()
    assert chain(grown, first) == chain(grown)


values = st.recursive(
    st.one_of(st.booleans(), st.integers(0, 1), st.sampled_from([1.0, 0.0]), st.sampled_from(["", "a"]), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=4,
)
calls = st.builds(lambda given: {"type": "tool_use", "id": "1", "name": "f", "input": given}, values)
contents = st.lists(st.one_of(calls, st.builds(lambda n: t(f"b{n}", 20), st.integers(0, 2))), min_size=1, max_size=6)


@given(contents, contents, st.booleans())
def test_reuse_never_takes_a_block_whose_bytes_differ(old: list[Any], new: list[Any], with_tools: bool) -> None:
    tools = [tool("f", 100)] if with_tools else []
    before = chain(Body(tools, [], [user(*old)])())
    body = Body([tool("f", 100)], [], [user(*new)])()
    assert chain(body, before) == chain(body)


def test_only_what_is_new_is_counted_again() -> None:
    counted: list[str] = []

    def count(pointer: str, block: Any) -> int:
        counted.append(pointer)
        return block_tokens(pointer, block)

    body = Body([tool("f", 100)], [t("s", 100)], [user(*texts(50))])()
    first = chain_of(body, RULES, model=MODEL, tokens_of=count)
    counted.clear()
    body["messages"] = [*body["messages"], said(t("more", 50, M5))]
    chain_of(body, RULES, model=MODEL, tokens_of=count, before=first)
    assert counted == ["/messages/1/content/0"]


def test_a_read_of_all_that_was_left_has_no_reason() -> None:
    one = chain(layered()())
    assert shortfall(after(one), one, one, RULES, earlier_at_seconds=0, at_seconds=1) is None


@pytest.mark.parametrize(
    ("body", "reason", "block"),
    [
        (layered("other")(), "messages_changed", "/messages/0/content/0"),
        (layered(system="other")(), "system_changed", "/system/0"),
        (layered(tools=[tool("a", 100), tool("c", 100, M5)])(), "tools_changed", "/tools/1"),
        (layered()(tool_choice={"type": "any"}), "settings_changed", None),
        (layered()(thinking={"type": "adaptive"}), "settings_changed", None),
        (layered()(speed="fast"), "settings_changed", None),
        (Body([], [], [])(), "tools_changed", "/tools/0"),
    ],
)
def test_changed_bytes_are_named_by_their_first_block(body: Any, reason: str, block: str | None) -> None:
    earlier = chain(layered()())
    found = why(after(earlier), chain(body), earlier)
    assert (found.reason, found.block, found.expected_tokens) == (reason, block, 600)


def test_where_the_thinking_setting_stands_before_the_tools_it_invalidates_all() -> None:
    rules = replace(RULES, thinking_invalidates="all")
    earlier = chain_of(layered()(), rules, model=MODEL, tokens_of=block_tokens)
    body = layered()(thinking={"type": "adaptive"})
    now = chain_of(body, rules, model=MODEL, tokens_of=block_tokens)
    assert forecast(after(earlier), now, rules, at_seconds=1).read_tokens == 0
    assert why(after(earlier), now, earlier).reason == "settings_changed"
    assert forecast(after(chain(layered()())), chain(body), RULES, at_seconds=1).read_tokens == 500


def test_another_model_is_named() -> None:
    earlier = chain(layered()())
    assert why(after(earlier), chain(layered()(), model="claude-opus-5"), earlier).reason == "model_changed"


def test_an_expired_entry_says_for_how_long_it_was_not_used() -> None:
    earlier = chain(layered()())
    found = why(after(earlier), earlier, earlier, at=400)
    assert found.reason == "expired"
    assert "400 s after its last use; it lives 300 s" in found.detail
    assert why(CacheState(), earlier, earlier, at=400).detail == found.detail, "also once it is forgotten"


def test_an_answer_that_has_not_begun_and_one_that_never_did_are_told_apart() -> None:
    earlier = chain(layered()())
    state = sent(CacheState(), "leader", earlier, RULES, at_seconds=0)
    assert why(state, earlier, earlier).reason == "not_begun"
    assert why(dropped(state, "leader"), earlier, earlier).reason == "not_sent"


def test_a_short_prefix_a_far_one_and_one_without_mark_are_named() -> None:
    short = chain(Body([], [], [user(t("m", 50, M5))])())
    assert why(after(short), short, short).reason == "below_minimum"
    near = chain(Body([], [], [user(t("b", 100, M5))])())
    far = chain(Body([], [], [user(t("b", 100), *texts(25, 2, last_mark=M5))])())
    found = why(after(near), far, near)
    assert found.reason == "look_back_exceeded"
    assert found.detail == "position 26 from the next mark; 20 are checked"
    assert why(after(near), chain(Body([], [], [user(t("b", 100))])()), near).reason == "not_marked"


def test_of_another_session_only_tools_and_system_are_expected() -> None:
    leader, follower = chain(layered("one")()), chain(layered("two")())
    assert (
        shortfall(after(leader), follower, leader, RULES, earlier_at_seconds=0, shared_only=True, at_seconds=1) is None
    )
    found = why(after(leader), chain(layered("two", system="own")()), leader, shared_only=True)
    assert (found.reason, found.expected_tokens) == ("system_changed", 500)


def test_an_old_state_is_not_changed_by_what_comes_after() -> None:
    one = chain(layered()())
    cold = CacheState()
    warm = begun(sent(cold, "1", one, RULES, at_seconds=0), "1", at_seconds=0)
    assert cold == CacheState()
    assert forecast(cold, one, RULES, at_seconds=1).read_tokens == 0
    assert forecast(warm, one, RULES, at_seconds=1).read_tokens == 600
    assert begun(warm, "1", at_seconds=2) == warm


def test_a_state_does_not_grow_without_end() -> None:
    state = CacheState()
    for number in range(5_000):
        one = chain(Body([], [], [user(t(f"{number}", 100, M1 if number % 2 else M5))])())
        state = begun(sent(state, "x", one, RULES, at_seconds=number * 10), "x", at_seconds=number * 10)
    assert len(state.entries) <= 2_049


FOUND = CacheForecast(
    read_tokens=8_000,
    write_5m_tokens=1_000,
    write_1h_tokens=0,
    uncached_tokens=1_000,
    marks=(),
    boundaries_tokens=(2_000, 5_000, 8_000),
)
SHORT = Shortfall(expected_tokens=8_000, reason="expired", detail="d")


@pytest.mark.parametrize(
    ("read", "kind", "reason"),
    [
        (8_000, "hit", ""),
        (7_700, "hit", ""),  # the estimate is a little off
        (9_500, "hit", ""),  # another process has warmed more
        (5_000, "partial", "not_found"),
        (0, "miss", "not_found"),
    ],
)
def test_what_was_measured_is_one_of_the_lengths_that_an_entry_can_have(read: int, kind: str, reason: str) -> None:
    found = compare(FOUND, Usage(cache_read_tokens=read, input_tokens=10_000 - read))
    assert (found.kind, found.reason) == (kind, reason)


def test_a_count_that_is_half_as_high_again_as_the_estimate_is_no_miss() -> None:
    found = compare(FOUND, Usage(cache_read_tokens=12_000, input_tokens=3_000))
    assert (found.kind, found.expected_tokens, found.measured_tokens) == ("hit", 12_000, 12_000)


def test_a_foreseen_miss_gives_its_reason_and_one_that_did_not_come_is_a_hit() -> None:
    cold = replace(FOUND, read_tokens=0, write_5m_tokens=9_000)
    missed = compare(cold, Usage(cache_write_5m_tokens=9_000, input_tokens=1_000), SHORT)
    assert (missed.kind, missed.reason, missed.expected_tokens) == ("miss", "expired", 8_000)
    assert compare(cold, Usage(cache_read_tokens=8_000, input_tokens=2_000), SHORT).kind == "hit"


def test_nothing_to_read_is_no_miss() -> None:
    cold = replace(FOUND, read_tokens=0, write_5m_tokens=9_000, boundaries_tokens=())
    assert compare(cold, Usage(cache_write_5m_tokens=9_000, input_tokens=1_000)).kind == "none"


def mark(place: str, tokens: int) -> CacheMark:
    return CacheMark(mark=place, after_segment=None, prefix_digest=sha256_text(place), prefix_tokens=tokens)
