"""Whose a call's price is: what each layer of its prompt cost, and its answer. Pure.

A provider bills a prompt in three stretches: what it read from its cache stands at the beginning, what it wrote into
the cache follows, and the rest is paid in full. So a layer has the part of each stretch in which its text lies. Where
it lies is known by estimate only: the estimated tokens of the prompt are scaled to those that were billed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import floor

from aircoding.records.accounting import PaidCall
from aircoding.records.layers import Layer
from aircoding.records.usage import UnitPrices, Usage

__all__ = ["OUTPUT", "UNATTRIBUTED", "LayerCost", "layer_costs", "split_call"]

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
    """A layer's part of one call or of several, before it is rounded."""

    read: float = 0.0
    written: float = 0.0
    full: float = 0.0
    usd: float = 0.0

    def add(self, other: Share) -> None:
        """Take another part in."""
        self.read += other.read
        self.written += other.written
        self.full += other.full
        self.usd += other.usd


@dataclass(slots=True)
class _Sums:
    by_layer: dict[str, Share] = field(default_factory=dict)
    priced: bool = False
    output_tokens: int = 0
    usage: Usage = field(default_factory=Usage)


def split_call(call: PaidCall) -> dict[str, Share]:
    """Return what each layer has of a call; money sums up to its recorded cost, tokens to its usage.

    Where the prices of a call are not known, its cost is split by tokens alone.
    """
    usage = call.usage
    written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
    parts = call.parts or ((UNATTRIBUTED, 1),)
    whole = sum(tokens for _, tokens in parts) or 1
    scale = usage.prompt_tokens / whole
    read_end, written_end = float(usage.cache_read_tokens), float(usage.cache_read_tokens + written)
    shares: dict[str, Share] = {}
    at = 0.0
    for layer, tokens in parts:
        end = at + tokens * scale
        share = shares.get(layer)
        if share is None:
            share = shares[layer] = Share()
        read = max(0.0, min(end, read_end) - at)
        fresh = max(0.0, min(end, written_end) - max(at, read_end))
        share.read += read
        share.written += fresh
        share.full += end - at - read - fresh
        at = end
    _price(call, shares, written)
    return shares


def _price(call: PaidCall, shares: dict[str, Share], written: int) -> None:
    """Set the money of each share, the answer's too."""
    usage, output = call.usage, Share()
    shares[OUTPUT] = output
    if call.cost_usd is None:
        return
    read_price, write_price, full_price, output_price = _prices(call.prices, usage, written)
    for share in shares.values():
        share.usd = share.read * read_price + share.written * write_price + share.full * full_price
    output.usd = usage.output_tokens * output_price
    total = sum(share.usd for share in shares.values())
    if total > 0:
        factor = call.cost_usd / total
        for share in shares.values():
            share.usd *= factor
    else:
        output.usd = call.cost_usd


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
    sums = _Sums()
    for call in calls:
        for layer, share in split_call(call).items():
            sums.by_layer.setdefault(layer, Share()).add(share)
        sums.priced = sums.priced or call.cost_usd is not None
        sums.output_tokens += call.usage.output_tokens
        sums.usage += call.usage
    if not sums.by_layer:
        return ()
    names = [name for name in (*Layer, UNATTRIBUTED) if name in sums.by_layer]
    usage = sums.usage
    written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
    columns = [
        _whole({name: getattr(sums.by_layer[name], column) for name in names}, total)
        for column, total in (("read", usage.cache_read_tokens), ("written", written), ("full", usage.input_tokens))
    ]
    rows = [
        LayerCost(
            layer=str(name),
            tokens=sum(column[name] for column in columns),
            read_tokens=columns[0][name],
            written_tokens=columns[1][name],
            full_tokens=columns[2][name],
            cost_usd=sums.by_layer[name].usd if sums.priced else None,
        )
        for name in names
    ]
    usd = sums.by_layer[OUTPUT].usd if sums.priced else None
    answers = LayerCost(
        layer=OUTPUT, tokens=sums.output_tokens, read_tokens=0, written_tokens=0, full_tokens=0, cost_usd=usd
    )
    return (*rows, answers)


def _whole(values: Mapping[str, float], total: int) -> dict[str, int]:
    """Return whole numbers that sum up to `total`, each next to its value: the largest remainders are rounded up."""
    whole = {name: floor(value) for name, value in values.items()}
    missing = total - sum(whole.values())
    order = sorted(values, key=lambda name: whole[name] - values[name])
    for name in order[: max(0, missing)]:
        whole[name] += 1
    return whole
