"""What a forecast of the prompt cache costs on the hot path: a request of 100k tokens that grew by one turn."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import pytest
from support.cache_cases import M5, Body, result, said, t, use, user
from support.cache_models import block_tokens, rules_of

from aircoding.context.prompt_cache import CacheState, begun, forecast, sent, shortfall
from aircoding.context.prompt_chain import chain_of

pytestmark = pytest.mark.bench

MODEL = "claude-sonnet-5-5"
MOST_MILLISECONDS = 5.0


def grown(turns: int) -> dict[str, Any]:
    """A request of 20 system blocks and some turns, 300 blocks and 100k tokens at 93 of them."""
    system = [t(f"s{n}", 500, M5 if n == 19 else None) for n in range(20)]
    messages = [user(t("task", 2_000, M5))]
    for n in range(turns):
        messages.append(said(t(f"a{n}", 150), use(f"u{n}", 50)))
        messages.append(user(result(f"u{n}", 760, M5 if n == turns - 1 else None)))
    return Body([], system, messages)()


def test_a_forecast_of_100k_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    rules, state = rules_of(MODEL, 1_024), CacheState()
    before = chain_of(grown(92), rules, model=MODEL, tokens_of=block_tokens)
    state = begun(sent(state, "1", before, rules, at_seconds=0), "1", at_seconds=0)
    cold, warm = [], []
    for _ in range(50):
        body = grown(93)
        start = time.process_time()
        chain_of(body, rules, model=MODEL, tokens_of=block_tokens)
        cold.append(time.process_time() - start)
        start = time.process_time()
        chain = chain_of(body, rules, model=MODEL, tokens_of=block_tokens, before=before)
        found = forecast(state, chain, rules, at_seconds=1)
        assert shortfall(state, chain, before, rules, earlier_at_seconds=0, at_seconds=1) is None
        sent(state, "2", chain, rules, at_seconds=1)
        warm.append(time.process_time() - start)
    with capsys.disabled():
        print(
            f"\n{len(chain.links)} blocks, {chain.prompt_tokens} tokens, {found.read_tokens} forecast to be read:"
            f" {median(warm) * 1_000:.2f} ms of CPU a turn; all digests anew: {median(cold) * 1_000:.2f} ms"
        )
    assert found.read_tokens == before.prompt_tokens
    assert median(warm) * 1_000 < MOST_MILLISECONDS
