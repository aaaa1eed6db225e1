"""What tokens cost: by a user's own prices, else by those of genai-prices; unknown stays unknown, never 0."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Mapping
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING, Any

from aircoding.records.usage import Cost, UnitPrices, Usage

if TYPE_CHECKING:
    import genai_prices

__all__ = ["PriceTable", "cost_of"]

PriceTable = Mapping[str, UnitPrices]
"""A user's own prices by model; they hold in place of the shipped ones."""

_VENDOR = "anthropic"
_DATE_SUFFIX = re.compile(r"-20\d{6}$")

# Each kind of token, and the package's keys for its price: the first one that a model has is what is billed, since
# tokens of a kind without a price of its own are counted to the kind above it.
_KEYS = {
    "input": ("input_mtok",),
    "output": ("output_mtok",),
    "cache_read": ("cache_read_mtok", "input_mtok"),
    "cache_write_5m": ("cache_write_mtok", "input_mtok"),
    "cache_write_1h": ("cache_write_1h_mtok", "cache_write_mtok", "input_mtok"),
}


def cost_of(model: str, usage: Usage, own: PriceTable | None = None) -> Cost:
    """Return the cost of a call and the unit prices that it comes from.

    `price_source` names the table with its version and the model in it, or says what is missing.
    """
    mine = own and (own.get(model) or own.get(_DATE_SUFFIX.sub("", model)))
    if mine:
        source = f'config.toml [prices."{model}"]'
        return Cost(usd=mine.usd(usage), price_source=source, unit_prices=mine)
    package = _prices()
    table = f"genai-prices {package.__version__}"
    try:
        found = package.calc_price(_billed(usage), model_ref=model, provider_id=_VENDOR)
    except LookupError:
        return Cost(usd=None, price_source=f"{table}: no price for {_VENDOR}/{model}")
    return Cost(
        usd=float(found.total_price),
        price_source=f"{table} {_VENDOR}/{found.model.id}",
        unit_prices=_unit_prices(found.model_price, usage.prompt_tokens),
    )


def _unit_prices(price: Any, prompt_tokens: int) -> UnitPrices:
    """Return the prices of the tier that a prompt of this size falls into."""
    found = {}
    for kind, keys in _KEYS.items():
        values = (getattr(price, key, None) for key in keys)
        found[kind] = _in_tier(next((value for value in values if value is not None), None), prompt_tokens)
    return UnitPrices(**found)


def _in_tier(price: Any, prompt_tokens: int) -> float | None:
    """Above the start of a tier all tokens of the call are billed by it, not only those beyond."""
    if price is None or isinstance(price, Decimal):
        return None if price is None else float(price)
    applied = price.base
    for tier in price.tiers:  # in ascending order
        if prompt_tokens > tier.start:
            applied = tier.price
    return float(applied)


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
