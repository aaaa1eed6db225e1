"""Whose a call's price is: what each layer of its prompt cost, and its answer. Pure.

A provider bills a prompt in three stretches: what it read from its cache stands at the beginning, what it wrote into
the cache follows, and the rest is paid in full. So a layer has the part of each stretch in which its text lies. Where
it lies is known by estimate only: the estimated tokens of the prompt are scaled to those that were billed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor

from aircoding.records.accounting import PaidCall
from aircoding.records.layers import Layer
from aircoding.records.usage import UnitPrices, Usage

__all__ = ["OUTPUT", "UNATTRIBUTED", "LayerCost", "Share", "layer_costs", "split_call"]

OUTPUT = "output"
"""The row of what the model answered: it is of no layer."""
UNATTRIBUTED = "unattributed"
"""The row of prompts whose assembly is not on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCost:
    """What one layer took of all calls. `tokens` is of the prompt, or for the row `output` of the answers.

    `read_tokens`, `written_tokens` and `full_tokens` say at which price: read from the cache, written into it, or paid
    in full. `cost_usd` is None where no price of any call is known.
    """

    layer: str
    tokens: int
    read_tokens: int
    written_tokens: int
    full_tokens: int
    cost_usd: float | None


@dataclass(slots=True)
class Share:
    """A layer's part of one call or of several, before it is rounded: tokens of each stretch, and US dollars."""

    read: float = 0.0
    written: float = 0.0
    full: float = 0.0
    usd: float = 0.0


def split_call(call: PaidCall) -> dict[str, Share]:
    """Return what each layer has of a call; money sums up to its recorded cost, tokens to its usage.

    Where the prices of a call do not explain its cost, it is split by tokens alone.
    """
    shares: dict[str, Share] = {}
    _add(call, shares)
    return shares


def _add(call: PaidCall, shares: dict[str, Share]) -> None:
    """Add the parts of a call to what the layers have so far: a record has 100,000 calls of 40 parts, so no detours."""
    usage = call.usage
    written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
    parts = call.parts
    whole = sum([tokens for _, tokens in parts])
    if not whole:
        parts, whole = ((UNATTRIBUTED, 1),), 1
    scale = usage.prompt_tokens / whole
    read_end, written_end = usage.cache_read_tokens, usage.cache_read_tokens + written
    read_usd, write_usd, full_usd, output_usd = _billed(call, written)
    at = 0.0
    for layer, tokens in parts:
        size = tokens * scale
        end = at + size
        share = shares.get(layer)
        if share is None:
            share = shares[layer] = Share()
        if end <= read_end:
            share.read += size
            share.usd += size * read_usd
        elif at >= written_end:
            share.full += size
            share.usd += size * full_usd
        else:
            read = max(0.0, read_end - at)
            fresh = max(0.0, min(end, written_end) - max(at, read_end))
            rest = size - read - fresh
            share.read += read
            share.written += fresh
            share.full += rest
            share.usd += read * read_usd + fresh * write_usd + rest * full_usd
        at = end
    answer = shares.setdefault(OUTPUT, Share())
    answer.usd += output_usd


def _billed(call: PaidCall, written: int) -> tuple[float, float, float, float]:
    """Return what a token of each of the three stretches cost of what was billed, and what the whole answer cost."""
    usage, cost = call.usage, call.cost_usd
    if cost is None:
        return 0.0, 0.0, 0.0, 0.0
    read, write, full, output = _prices(call.prices, usage, written)
    total = usage.cache_read_tokens * read + written * write + usage.input_tokens * full + usage.output_tokens * output
    if total <= 0:
        return 0.0, 0.0, 0.0, cost
    factor = cost / total
    return read * factor, write * factor, full * factor, usage.output_tokens * output * factor


def _prices(prices: UnitPrices, usage: Usage, written: int) -> tuple[float, float, float, float]:
    """Return the prices of the three stretches and of the answer; all the same where they do not explain the cost."""
    if prices.usd(usage):
        write = (prices.cache_write_5m or 0.0) * usage.cache_write_5m_tokens
        write += (prices.cache_write_1h or 0.0) * usage.cache_write_1h_tokens
        return prices.cache_read or 0.0, write / written if written else 0.0, prices.input or 0.0, prices.output or 0.0
    return 1.0, 1.0, 1.0, 1.0


def layer_costs(calls: Iterable[PaidCall]) -> tuple[LayerCost, ...]:
    """Return what each layer took of all calls, in the order of the layers, the answers last.

    Whole tokens of a column sum up to what was billed.
    """
    shares: dict[str, Share] = {}
    priced, output = False, 0
    read = written = full = 0
    for call in calls:
        usage = call.usage
        _add(call, shares)
        priced = priced or call.cost_usd is not None
        output += usage.output_tokens
        read += usage.cache_read_tokens
        written += usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
        full += usage.input_tokens
    if not shares:
        return ()
    names = [str(name) for name in (*Layer, UNATTRIBUTED) if name in shares]
    columns = [
        _whole({name: getattr(shares[name], column) for name in names}, total)
        for column, total in (("read", read), ("written", written), ("full", full))
    ]
    rows = [
        LayerCost(
            layer=name,
            tokens=sum(column[name] for column in columns),
            read_tokens=columns[0][name],
            written_tokens=columns[1][name],
            full_tokens=columns[2][name],
            cost_usd=shares[name].usd if priced else None,
        )
        for name in names
    ]
    usd = shares[OUTPUT].usd if priced else None
    answers = LayerCost(layer=OUTPUT, tokens=output, read_tokens=0, written_tokens=0, full_tokens=0, cost_usd=usd)
    return (*rows, answers)


def _whole(values: Mapping[str, float], total: int) -> dict[str, int]:
    """Return whole numbers that sum up to `total`, each next to its value: the largest remainders are rounded up."""
    whole = {name: floor(value) for name, value in values.items()}
    missing = total - sum(whole.values())
    order = sorted(values, key=lambda name: whole[name] - values[name])
    for name in order[: max(0, missing)]:
        whole[name] += 1
    return whole
