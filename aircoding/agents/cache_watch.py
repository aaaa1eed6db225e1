"""Watch the prompt cache over all sessions of a process: forecast each call, and say of a miss what it was due to.

The watch starts cold. A forecast counts only what this process has sent, and the last request of a session that it
resumes, whose answer is on record; so what another process left in the cache may be read on top, and is no fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from aircoding.context.cache_checks import compare, foretold_marks, segment_at
from aircoding.context.prompt_cache import CacheState, begun, dropped, forecast, sent, shortfall
from aircoding.context.prompt_chain import Chain, TokensOf, chain_of
from aircoding.records.caching import CacheCheck, CacheForecast, CacheRules, Shortfall
from aircoding.records.manifest import AssembledContext
from aircoding.records.usage import Usage

__all__ = ["CacheWatch", "Watched"]


_MOST_SESSIONS = 256
"""Sessions whose last request is kept: more than run at once on one machine."""


@dataclass(frozen=True, slots=True)
class SentChain:
    """A request that was sent, and when."""

    chain: Chain
    at_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A call under way: what was forecast for it, and what it cannot read though an earlier one left it."""

    key: str
    context: AssembledContext
    forecast: CacheForecast
    shortfall: Shortfall | None
    sent: SentChain


class CacheWatch:
    """The cache as this process knows it. `rules_for` gives the rules of a model."""

    def __init__(self, rules_for: Callable[[str], CacheRules]) -> None:
        self._rules_for = rules_for
        self._state = CacheState()
        self._by_session: dict[str, SentChain] = {}
        self._by_role: dict[tuple[str, str, str], SentChain] = {}

    def knows(self, session_id: str) -> bool:
        """Whether an answered request of that session was seen."""
        return session_id in self._by_session

    def remember(self, context: AssembledContext) -> None:
        """Take in a request that another process sent and got an answer to, as of when it was assembled."""
        at, rules = _seconds(context.manifest.created_at), self._rules_for(context.manifest.model)
        key, chain = context.manifest_id, self._chain(context, rules)
        self._state = sent(self._state, key, chain, rules, at_seconds=at)
        self._state = begun(self._state, key, at_seconds=at)
        self._keep(context.manifest.session_id, SentChain(chain, at))

    def foretold(self, context: AssembledContext, before: AssembledContext | None = None) -> AssembledContext:
        """Return an assembly with what its marks are forecast to do, as if it were sent when it was made.

        `before` is the answered request of the turn before; it is taken in where this process did not send it.
        """
        if before is not None and not self.knows(context.manifest.session_id):
            self.remember(before)
        rules = self._rules_for(context.manifest.model)
        chain = self._chain(context, rules)
        at = _seconds(context.manifest.created_at)
        found = forecast(self._state, chain, rules, at_seconds=at)
        cache = foretold_marks(context.manifest.cache, found)
        return replace(context, manifest=replace(context.manifest, cache=cache))

    def send(self, context: AssembledContext, *, key: str, at: str) -> Watched:
        """Forecast a call that is sent now; `key` names the try."""
        manifest, now = context.manifest, _seconds(at)
        rules = self._rules_for(manifest.model)
        chain = self._chain(context, rules)
        own = self._by_session.get(manifest.session_id)
        earlier = own or self._by_role.get(_family(context))
        short = None
        if earlier is not None:
            short = shortfall(
                self._state,
                chain,
                earlier.chain,
                rules,
                earlier_at_seconds=earlier.at_seconds,
                at_seconds=now,
                shared_only=own is None,
            )
        found = forecast(self._state, chain, rules, at_seconds=now)
        self._state = sent(self._state, key, chain, rules, at_seconds=now)
        under_way = SentChain(chain, now)
        self._by_role[_family(context)] = under_way
        return Watched(key=key, context=context, forecast=found, shortfall=short, sent=under_way)

    def begin(self, watched: Watched, *, at: str) -> None:
        """Say that the answer has begun; saying it again changes nothing."""
        self._state = begun(self._state, watched.key, at_seconds=_seconds(at))
        self._keep(watched.context.manifest.session_id, watched.sent)

    def fail(self, watched: Watched) -> None:
        """Say that no answer began: nothing is expected of it."""
        self._state = dropped(self._state, watched.key)
        family = _family(watched.context)
        if self._by_role.get(family) is watched.sent:
            del self._by_role[family]

    def check(self, watched: Watched, usage: Usage) -> CacheCheck:
        """Compare a call with its usage; a miss names the first segment whose bytes differ, where bytes do."""
        found = compare(watched.forecast, usage, watched.shortfall)
        segments = watched.context.manifest.segments
        return replace(found, segment_id=segment_at(segments, found.block, found.offset_bytes))

    def _keep(self, session_id: str, chain: SentChain) -> None:
        """Keep a session's last request; those that were silent longest make room."""
        self._by_session.pop(session_id, None)
        self._by_session[session_id] = chain
        if len(self._by_session) > _MOST_SESSIONS:
            del self._by_session[next(iter(self._by_session))]

    def _chain(self, context: AssembledContext, rules: CacheRules) -> Chain:
        manifest = context.manifest
        before = self._by_session.get(manifest.session_id) or self._by_role.get(_family(context))
        known = None if before is None else before.chain
        return chain_of(context.request, rules, model=manifest.model, tokens_of=_tokens_of(context), before=known)


def _family(context: AssembledContext) -> tuple[str, str, str]:
    """Return what sessions must have in common to be expected to share tools and system."""
    manifest = context.manifest
    return manifest.run_id, manifest.role, manifest.model


def _tokens_of(context: AssembledContext) -> TokensOf:
    """Return the tokens of a block as its manifest has them: the sum of the segments that stand in it."""
    tokens: dict[str, int] = {}
    for record in context.manifest.segments:
        block = record.spans[0].block.removesuffix("/text")
        tokens[block] = tokens.get(block, 0) + record.tokens

    def of(pointer: str, _block: Mapping[str, Any]) -> int:
        return tokens.get(pointer, 0)

    return of


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
