"""Money in words: what a run has spent, what it would have spent without the cache, and what nobody knows."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.ports import Provider
from aircoding.records.usage import Spending, Usage

__all__ = ["spending_line", "unpriced_models"]


def spending_line(spending: Spending) -> str:
    """Return calls, tokens, the share that came from the cache, and money in one line."""
    line = (
        f"{spending.calls} model calls, {spending.prompt_tokens} prompt tokens"
        f" ({spending.cached_share:.0%} from the cache), {spending.output_tokens} output tokens, {_money(spending)}"
    )
    return f"{line} (simulated)" if spending.simulated_calls else line


def _money(spending: Spending) -> str:
    if spending.unpriced_calls:
        unknown = f"{spending.unpriced_calls} calls of unknown price ({', '.join(spending.unpriced_models)})"
        return unknown if spending.cost_usd is None else f"${spending.cost_usd:.4f} and {unknown}"
    money = f"${spending.cost_usd or 0.0:.4f}"
    if spending.cost_without_cache_usd is None:
        return money
    return f"{money}, without the cache ${spending.cost_without_cache_usd:.4f}"


def unpriced_models(provider: Provider, models: Iterable[str]) -> tuple[str, ...]:
    """Return the models whose price is not known."""
    return tuple(model for model in sorted(set(models)) if provider.cost(model, Usage(input_tokens=1)).usd is None)
