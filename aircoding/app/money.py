"""Money in words: what a run has spent, what it would have spent without the cache, and what nobody knows."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.ports import Provider
from aircoding.records.usage import Spending, Usage
from aircoding.records.words import counted, dollars

__all__ = ["cost_in_brief", "spending_line", "unpriced_models"]


def spending_line(spending: Spending) -> str:
    """Return calls, tokens, the share that came from the cache, and money in one line."""
    line = (
        f"{counted(spending.calls, 'model call')}, {spending.prompt_tokens} prompt tokens"
        f" ({spending.cached_share:.0%} from the cache), {spending.output_tokens} output tokens, {_money(spending)}"
    )
    return f"{line} (simulated)" if spending.simulated_calls else line


def cost_in_brief(spending: Spending) -> str:
    """Return money for a column: what was paid, and whether it is simulated or not all of it."""
    money = dollars(spending.cost_usd or 0.0)
    if spending.unpriced_calls:
        money = "unknown" if spending.cost_usd is None else f"{money} and more"
    return f"{money} (simulated)" if spending.simulated_calls else money


def _money(spending: Spending) -> str:
    if spending.unpriced_calls:
        unknown = f"{counted(spending.unpriced_calls, 'call')} of unknown price ({', '.join(spending.unpriced_models)})"
        return unknown if spending.cost_usd is None else f"{dollars(spending.cost_usd)} and {unknown}"
    known = dollars(spending.cost_usd or 0.0)
    if spending.cost_without_cache_usd is None:
        return known
    return f"{known}, without the cache {dollars(spending.cost_without_cache_usd)}"


def unpriced_models(provider: Provider, models: Iterable[str]) -> tuple[str, ...]:
    """Return the models whose price is not known."""
    return tuple(model for model in sorted(set(models)) if provider.cost(model, Usage(input_tokens=1)).usd is None)
