"""Whose a call's price is: what each layer of its prompt cost, and its answer. Pure.

A provider bills a prompt in three stretches: what it read from its cache stands at the beginning, what it wrote into
the cache follows, and the rest is paid in full. So a layer has the part of each stretch in which its text lies. Where
it lies is known by estimate only: the estimated tokens of the prompt are scaled to those that were billed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    return _split([call])


_Sums = list[float]
"""A share while it is summed up: read, written, in full, US dollars. There are millions of additions."""


class _Prompt:
    """A prompt as it grew, with what was billed for it: each call adds to the prompt of the one before.

    A call of 40 parts says in three places only that another price begins there. So what a token of the prompt has
    cost up to a part is kept at that part, and the parts are gone through once for all calls, from the last one back.
    """

    def __init__(self, parts: Sequence[tuple[str, int]]) -> None:
        self._parts = parts
        self._ends: list[int] = []
        self._weights: dict[int, _Sums] = {}

    def add(self, call: PaidCall, shares: dict[str, _Sums]) -> None:
        """Take a call of the prompt as it is now; of a part in which a stretch ends, add its share to `shares`."""
        ends, usage = self._ends, call.usage
        end = ends[-1] if ends else 0
        for _, tokens in self._parts[len(ends) :]:
            end += tokens
            ends.append(end)
        read = usage.cache_read_tokens
        written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
        read_usd, write_usd, full_usd, output_usd = _billed(call, written)
        shares[OUTPUT][3] += output_usd
        scale = usage.prompt_tokens / end
        if scale:
            self._until(min(read / scale, end), (scale, -scale, 0.0, scale * (read_usd - write_usd)), shares)
            self._until(
                min((read + written) / scale, end), (0.0, scale, -scale, scale * (write_usd - full_usd)), shares
            )
            self._until(end, (0.0, 0.0, scale, scale * full_usd), shares)

    def _until(self, place: float, weight: tuple[float, float, float, float], shares: dict[str, _Sums]) -> None:
        """Let each token from the beginning up to a place have a weight."""
        ends = self._ends
        count = bisect_right(ends, place)
        before = ends[count - 1] if count else 0
        if count:
            kept = self._weights.get(count - 1)
            if kept is None:
                self._weights[count - 1] = list(weight)
            else:
                _add(kept, weight, 1)
        if place > before and count < len(ends):
            _add(shares[self._parts[count][0]], weight, place - before)

    def spread(self, shares: dict[str, _Sums]) -> None:
        """Add to `shares` what the whole parts have of all calls."""
        weight = [0.0] * 4
        tokens_of: dict[str, int] = {}
        for number in range(len(self._ends) - 1, -1, -1):
            if (more := self._weights.get(number)) is not None:
                for layer, tokens in tokens_of.items():
                    _add(shares[layer], weight, tokens)
                tokens_of.clear()
                _add(weight, more, 1)
            layer, tokens = self._parts[number]
            tokens_of[layer] = tokens_of.get(layer, 0) + tokens
        for layer, tokens in tokens_of.items():
            _add(shares[layer], weight, tokens)


def _add(sums: _Sums, more: Sequence[float], times: float) -> None:
    sums[0] += more[0] * times
    sums[1] += more[1] * times
    sums[2] += more[2] * times
    sums[3] += more[3] * times


_OF_NONE = ((UNATTRIBUTED, 1),)


def _split(calls: Iterable[PaidCall]) -> dict[str, Share]:
    """Return what each layer has of all calls; those of one session share the list of their parts, which grows."""
    shares: defaultdict[str, _Sums] = defaultdict(lambda: [0.0] * 4)
    prompts: dict[int, tuple[object, _Prompt]] = {}
    for call in calls:
        parts = call.parts
        if (known := prompts.get(id(parts))) is None:
            told = parts if any(tokens for _, tokens in parts) else _OF_NONE
            known = prompts[id(parts)] = (parts, _Prompt(told))
        known[1].add(call, shares)
    for _, prompt in prompts.values():
        prompt.spread(shares)
    # What is left over of differences of floats is no amount.
    return {layer: Share(*(max(0.0, each) for each in sums)) for layer, sums in shares.items()}


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
    priced, output = False, 0
    read = written = full = 0

    def counted() -> Iterator[PaidCall]:
        nonlocal priced, output, read, written, full
        for call in calls:
            usage = call.usage
            priced = priced or call.cost_usd is not None
            output += usage.output_tokens
            read += usage.cache_read_tokens
            written += usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
            full += usage.input_tokens
            yield call

    shares = _split(counted())
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
