"""Money in words: what a run has spent, what it would have spent without the cache, and what nobody knows."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.ports import Provider
from aircoding.records.usage import Spending, Usage
from aircoding.records.words import counted, dollars

__all__ = ["money", "spending_line", "unpriced_models"]


def spending_line(spending: Spending) -> str:
    """Return calls, tokens, the share that came from the cache, and money in one line."""
    line = (
        f"{counted(spending.calls, 'model call')}, {spending.prompt_tokens} prompt tokens"
        f" ({spending.cached_share:.0%} from the cache), {spending.output_tokens} output tokens, {money(spending)}"
    )
    return f"{line} (simulated)" if spending.simulated_calls else line


def money(spending: Spending) -> str:
    """Return what was paid, what it would have been without the cache, and what has no known price."""
    if spending.unpriced_calls:
        unknown = f"{counted(spending.unpriced_calls, 'call')} of unknown price ({', '.join(spending.unpriced_models)})"
        return unknown if spending.cost_usd is None else f"{dollars(spending.cost_usd)} and {unknown}"
    paid = dollars(spending.cost_usd or 0.0)
    if spending.cost_without_cache_usd is None:
        return paid
    return f"{paid}, without the cache {dollars(spending.cost_without_cache_usd)}"


def unpriced_models(provider: Provider, models: Iterable[str]) -> tuple[str, ...]:
    """Return the models whose price is not known."""
    return tuple(model for model in sorted(set(models)) if provider.cost(model, Usage(input_tokens=1)).usd is None)
