"""The two accounts of the prompt cache behind one face, so that the same cases run against both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from aircoding.context.prompt_cache import CacheState, begun, forecast, sent
from aircoding.context.prompt_chain import Chain, chain_of
from aircoding.providers.cache_rules import CacheTable, parse_cache_rules
from aircoding.providers.simulated import Asked, SimulatedCache, byte_tokens
from aircoding.records.caching import CacheRules
from support.provider_calls import capabilities

Uses = tuple[int, int, int, int]
"""Read, written for 5 minutes, written for 1 hour, paid in full."""

_TABLE = Path(__file__).parents[2] / "resources" / "providers" / "cache-rules.yaml"


@cache
def cache_table() -> CacheTable:
    """The packaged rules of the cache."""
    return parse_cache_rules(_TABLE.read_text("utf-8"), uri="resource:providers/cache-rules.yaml")


def rules_of(model: str, minimum: int) -> CacheRules:
    """The rules of a model with another minimum."""
    return replace(cache_table().rules(capabilities().row(model)), minimum_tokens=minimum)


def block_tokens(pointer: str, block: Mapping[str, Any]) -> int:
    """Tokens by the rule of the simulated provider."""
    return byte_tokens({key: value for key, value in block.items() if key != "cache_control"})


class Predicted:
    """`context/prompt_cache`: each chain takes the one before it, as a session does."""

    def __init__(self, minimum: int) -> None:
        self.state, self.minimum = CacheState(), minimum
        self.before: Chain | None = None

    def send(self, key: str, model: str, body: dict[str, Any], at: float) -> Uses:
        rules = rules_of(model, self.minimum)
        chain = chain_of(body, rules, model=model, tokens_of=block_tokens, before=self.before)
        self.before = chain
        found = forecast(self.state, chain, rules, at_seconds=at)
        self.state = sent(self.state, key, chain, rules, at_seconds=at)
        return found.read_tokens, found.write_5m_tokens, found.write_1h_tokens, found.uncached_tokens

    def begin(self, key: str, at: float) -> None:
        self.state = begun(self.state, key, at_seconds=at)


class Simulated:
    """`providers/simulated`, the account of the emulator and the scripted provider."""

    def __init__(self, minimum: int) -> None:
        self.cache, self.minimum = SimulatedCache(), minimum
        self.asked: dict[str, Asked] = {}

    def send(self, key: str, model: str, body: dict[str, Any], at: float) -> Uses:
        asked = self.cache.ask(model, body, minimum_tokens=self.minimum, now_seconds=at)
        self.asked[key] = asked
        return asked.read_tokens, asked.write_5m_tokens, asked.write_1h_tokens, asked.input_tokens

    def begin(self, key: str, at: float) -> None:
        self.asked[key].begin()
