"""What tokens cost, from the prices that genai-prices ships; an unknown price stays unknown, never 0."""

from __future__ import annotations

import functools
import warnings
from types import ModuleType
from typing import TYPE_CHECKING

from aircoding.records.usage import Cost, Usage

if TYPE_CHECKING:
    import genai_prices

__all__ = ["cost_of"]

_VENDOR = "anthropic"


def cost_of(model: str, usage: Usage) -> Cost:
    """Return the cost of a call; `price_source` names package, version, model and unit prices, or what is missing."""
    prices = _prices()
    try:
        found = prices.calc_price(_billed(usage), model_ref=model, provider_id=_VENDOR)
    except LookupError:
        return Cost(usd=None, price_source=f"genai-prices {prices.__version__}: no price for {_VENDOR}/{model}")
    unit_prices = f"{_VENDOR}/{found.model.id}: {found.model_price}"
    return Cost(usd=float(found.total_price), price_source=f"genai-prices {prices.__version__} {unit_prices}")


def _billed(usage: Usage) -> genai_prices.Usage:
    """The package counts cached tokens into the input, and both kinds of writes into the writes."""
    counted: genai_prices.Usage = _prices().Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
    )
    return counted


@functools.cache
def _prices() -> ModuleType:
    """Load the package once (0.3 s of CPU), and make sure that it still knows every key that we report.

    It only warns of a key that it does not know and prices the rest, which would be a silent undercharge.
    """
    import genai_prices

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        genai_prices.Usage(
            input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, cache_write_1h_tokens=0
        )
    return genai_prices
