"""The bound of what caching can give, against an exhaustive search of small cases."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.cache_bound import Blocks, Prices, best_by_search, bound

PRICES = Prices(read=0.1, write=1.25, plain=1.0)


def request(words: str) -> Blocks:
    """One block a letter, 10 tokens each."""
    return tuple((letter, 10) for letter in words)


def test_an_agent_that_grows_reaches_the_bound_of_reads() -> None:
    session = [request("TSab"), request("TSabcd"), request("TSabcde")]
    most, _ = best_by_search([session], PRICES, marks=2)
    # 17 blocks are sent, 7 of them are new: 10 can be read, and are.
    limit = bound(session, PRICES)
    assert (most, limit.most_read_tokens, limit.prompt_tokens) == (100, 100, 170)


def test_two_workers_with_a_shared_prefix_reach_the_bound_of_cost() -> None:
    one, two = [request("TSa")], [request("TSb")]
    most, least = best_by_search([one, two], PRICES, marks=1)
    limit = bound([*one, *two], PRICES)
    # T and S are written once (1.25) and read once (0.1); a and b are plain: 2 x 13.5 + 2 x 10.
    assert (most, round(least, 6), round(limit.least_cost, 6)) == (20, 47.0, 47.0)


def test_a_look_back_that_is_too_short_stays_below_the_bound() -> None:
    session = [request("ab"), request("abcdefg")]
    most, _ = best_by_search([session], PRICES, marks=1, look_back=2)
    assert most == bound(session, PRICES).most_read_tokens == 20
    most, _ = best_by_search([[request("b"), request("bcd"), request("bcdefg")]], PRICES, marks=1, look_back=2)
    assert most < bound([request("b"), request("bcd"), request("bcdefg")], PRICES).most_read_tokens


words = st.text(alphabet="ab", min_size=1, max_size=4)
fleets = st.lists(st.lists(words, min_size=1, max_size=2), min_size=1, max_size=2)


@settings(max_examples=60, deadline=None)
@given(fleets, st.integers(1, 2), st.integers(1, 4))
def test_no_order_and_no_placement_beats_the_bound(fleet: list[list[str]], marks: int, look_back: int) -> None:
    sessions = [[request(one) for one in session] for session in fleet]
    limit = bound([one for session in sessions for one in session], PRICES)
    most, least = best_by_search(sessions, PRICES, marks=marks, look_back=look_back)
    assert most <= limit.most_read_tokens
    assert least >= limit.least_cost - 1e-6
