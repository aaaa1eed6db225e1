"""A model of the provider's prompt cache: what the next request will read, write and pay in full (DESIGN section 2).

Pure: a state goes in, a state comes out. The rules follow Anthropic's prompt caching page (see
`docs/explanation/prompt-cache.md`); their numbers come in as `CacheRules`. Tokens are those of the chain, so an
estimate before the call. A forecast is a floor: it knows what this process has sent, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aircoding.context.prompt_chain import TIERS, Chain, Link
from aircoding.records.caching import CacheForecast, CacheRules, MarkForecast, Shortfall

__all__ = ["CacheState", "begun", "dropped", "forecast", "sent", "shortfall"]

_FORGET_AFTER_SECONDS = 600.0
"""How long a dead entry is remembered, so that a miss can say when it was last used."""

_PRUNE_ABOVE = 2_048
"""Entries above which a new one makes room: the copy of a state stays in microseconds."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A prefix that the provider keeps: for how long after its last use, and until when."""

    life_seconds: float
    expires_at_seconds: float

    def lives(self, at_seconds: float) -> bool:
        """Whether it can be read at that moment."""
        return at_seconds < self.expires_at_seconds

    def later(self, other: Entry | None) -> Entry:
        """Return which of two entries for the same prefix counts: the one that lives longer."""
        if other is None:
            return self
        return max(self, other, key=lambda entry: (entry.expires_at_seconds, entry.life_seconds))


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheState:
    """What was sent so far: `entries` that can be read, by the digest of their prefix, and for each request whose
    answer has not begun what will be there when it does.
    """

    entries: Mapping[bytes, Entry] = field(default_factory=dict)
    in_flight: Mapping[str, Mapping[bytes, Entry]] = field(default_factory=dict)


def forecast(state: CacheState, chain: Chain, rules: CacheRules, *, at_seconds: float) -> CacheForecast:
    """Return what a request that is sent now will use."""
    marks = [link for link in chain.links if link.ttl is not None]
    hit = _longest_hit(state, chain, rules, at_seconds)
    read = 0 if hit is None else chain.links[hit].prefix_tokens
    kept = [link for link in marks if link.prefix_tokens >= rules.minimum_tokens]
    hours = [link.prefix_tokens for link in kept if link.ttl == "1h" and link.prefix_tokens > read]
    end_1h = max(hours, default=read)
    end = max([end_1h, *(link.prefix_tokens for link in kept)])
    known = state.entries
    return CacheForecast(
        read_tokens=read,
        write_5m_tokens=end - end_1h,
        write_1h_tokens=end_1h - read,
        uncached_tokens=chain.prompt_tokens - end,
        marks=tuple(
            MarkForecast(mark=link.pointer, prefix_tokens=link.prefix_tokens, state=_mark_state(link, read, rules))
            for link in marks
        ),
        boundaries_tokens=tuple(link.prefix_tokens for link in chain.links if link.digest in known),
    )


def sent(state: CacheState, key: str, chain: Chain, rules: CacheRules, *, at_seconds: float) -> CacheState:
    """Return the state once a request is under way; `key` names the try. Nothing of it can be read yet."""
    touched: dict[bytes, Entry] = {}
    hit = _longest_hit(state, chain, rules, at_seconds)
    for index, link in enumerate(chain.links):
        if link.ttl is None and index != hit:
            continue
        old = state.entries.get(link.digest)
        if old is not None and old.lives(at_seconds):
            life = old.life_seconds
        elif link.ttl is not None and link.ttl in rules.life_seconds and link.prefix_tokens >= rules.minimum_tokens:
            life = rules.life_seconds[link.ttl]
        else:
            continue
        touched[link.digest] = Entry(life, at_seconds + life)
    return replace(state, in_flight={**state.in_flight, key: touched})


def begun(state: CacheState, key: str, *, at_seconds: float) -> CacheState:
    """Return the state once the answer has begun: what the request marked can be read from now on."""
    touched = state.in_flight.get(key)
    if touched is None:
        return state
    entries = dict(state.entries)
    if len(entries) > _PRUNE_ABOVE:
        old = at_seconds - _FORGET_AFTER_SECONDS
        entries = {digest: entry for digest, entry in entries.items() if entry.expires_at_seconds > old}
    for digest, entry in touched.items():
        entries[digest] = entry.later(entries.get(digest))
    return CacheState(entries=entries, in_flight=_without(state, key))


def dropped(state: CacheState, key: str) -> CacheState:
    """Return the state once a request has failed before an answer began: it left nothing."""
    return replace(state, in_flight=_without(state, key)) if key in state.in_flight else state


def shortfall(
    state: CacheState,
    chain: Chain,
    earlier: Chain,
    rules: CacheRules,
    *,
    earlier_at_seconds: float,
    at_seconds: float,
    shared_only: bool = False,
) -> Shortfall | None:
    """Return why a request reads less than `earlier` left for it, or None when it reads all of it.

    Args:
        state: before the request is sent.
        chain: the request.
        earlier: the session's last request, or with `shared_only` one of another session, of which only tools and
            system are expected to be the same.
        rules: of the request's model.
        earlier_at_seconds: when that was sent.
        at_seconds: now.
        shared_only: see there.
    """
    index = _expected_end(earlier, shared_only=shared_only)
    if index is None:
        return None
    end = earlier.links[index]
    found = forecast(state, chain, rules, at_seconds=at_seconds)
    if found.read_tokens >= end.prefix_tokens:
        return None
    different = _difference(chain, earlier, index)
    if different is not None:
        return different
    idle_seconds = at_seconds - earlier_at_seconds
    reason, detail = _not_readable(state, chain, index, end, rules, at_seconds, idle_seconds)
    return Shortfall(expected_tokens=end.prefix_tokens, reason=reason, detail=detail)


def _longest_hit(state: CacheState, chain: Chain, rules: CacheRules, at_seconds: float) -> int | None:
    """Return the index of the block whose prefix is read: the first that a lookup from the last mark finds, else
    from the mark before it, and so on.
    """
    links = chain.links
    for mark in range(len(links) - 1, -1, -1):
        if links[mark].ttl is None:
            continue
        last = links[mark].position - rules.look_back_positions
        for index in range(mark, -1, -1):
            if links[index].position <= last:
                break
            entry = state.entries.get(links[index].digest)
            if entry is not None and entry.lives(at_seconds):
                return index
    return None


def _mark_state(link: Link, read_tokens: int, rules: CacheRules) -> str:
    if link.prefix_tokens <= read_tokens:
        return "read"
    return "written" if link.prefix_tokens >= rules.minimum_tokens else "none"


def _without(state: CacheState, key: str) -> Mapping[str, Mapping[bytes, Entry]]:
    return {other: touched for other, touched in state.in_flight.items() if other != key}


def _expected_end(earlier: Chain, *, shared_only: bool) -> int | None:
    """Return the index of the last mark of an earlier request that the next one should read."""
    for index in range(len(earlier.links) - 1, -1, -1):
        link = earlier.links[index]
        if link.ttl is not None and not (shared_only and link.tier == TIERS[-1]):
            return index
    return None


def _difference(chain: Chain, earlier: Chain, end: int) -> Shortfall | None:
    """Return what differs within the prefix that ends at `end`, if anything does."""
    expected = earlier.links[end].prefix_tokens
    if chain.model != earlier.model:
        detail = f"from {earlier.model} to {chain.model}"
        return Shortfall(expected_tokens=expected, reason="model_changed", detail=detail)
    for tier in TIERS[: TIERS.index(earlier.links[end].tier) + 1]:
        if chain.settings[tier] != earlier.settings[tier]:
            old, new = earlier.settings[tier].decode("utf-8"), chain.settings[tier].decode("utf-8")
            detail = f"settings of {tier} and after: from {old} to {new}"
            return Shortfall(expected_tokens=expected, reason="settings_changed", detail=detail)
    for index in range(end + 1):
        before = earlier.links[index]
        now = chain.links[index] if index < len(chain.links) else None
        if now is None or now.digest != before.digest:
            block = (now or before).pointer
            return Shortfall(
                expected_tokens=expected,
                reason=f"{before.tier}_changed",
                detail=f"first other bytes at {block}",
                block=block,
                offset_bytes=None if now is None else _first_other_byte(before, now),
            )
    return None


def _first_other_byte(before: Link, now: Link) -> int | None:
    """Return where the texts of two blocks begin to differ, in bytes of UTF-8; None where they are no texts."""
    old, new = before.block.get("text"), now.block.get("text")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return len(new[:same].encode("utf-8", "surrogatepass"))


def _not_readable(
    state: CacheState,
    chain: Chain,
    index: int,
    end: Link,
    rules: CacheRules,
    at_seconds: float,
    idle_seconds: float,
) -> tuple[str, str]:
    """Return why the prefix that ends at block `index` is not read though its bytes are the same."""
    entry = state.entries.get(end.digest)
    if entry is not None and entry.lives(at_seconds):
        marks = [link.position for link in chain.links[index:] if link.ttl is not None]
        if not marks:
            return "not_marked", "the request has no mark at or after it"
        away = min(marks) - chain.links[index].position + 1
        return "look_back_exceeded", f"position {away} from the next mark; {rules.look_back_positions} are checked"
    if any(end.digest in touched for touched in state.in_flight.values()):
        return "not_begun", "the answer to the request that writes it had not begun"
    if end.prefix_tokens < rules.minimum_tokens:
        return "below_minimum", f"{end.prefix_tokens} tokens; the least is {rules.minimum_tokens}"
    life = rules.life_seconds.get(end.ttl or "", 0.0) if entry is None else entry.life_seconds
    if entry is not None:
        idle_seconds = at_seconds - (entry.expires_at_seconds - entry.life_seconds)
    if idle_seconds >= life:
        return "expired", f"{idle_seconds:.0f} s after its last use; it lives {life:.0f} s"
    return "not_sent", "no answer to a request that writes it has begun in this process"
