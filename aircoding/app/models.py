"""Turn `--provider` into a provider: `anthropic:MODEL`, `scripted:FILE`."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from aircoding.agents.deps import NextTry
from aircoding.errors import ConfigError, UsageError
from aircoding.ports import Provider
from aircoding.providers.cache_rules import parse_cache_rules
from aircoding.providers.capabilities import Capabilities, parse_capabilities
from aircoding.providers.prices import PriceTable
from aircoding.providers.retry import RetryPolicy, retries
from aircoding.providers.script import ScriptFile, parse_script
from aircoding.records.caching import CacheRules
from aircoding.records.snapshot import ModelLimits
from aircoding.records.usage import UnitPrices
from aircoding.settings import Settings
from aircoding.sources.files import read_text_file
from aircoding.sources.resources import read_resource

__all__ = ["cache_rules_for", "capabilities", "estimated_model", "limits_for", "next_try", "open_provider"]
__all__ += ["own_prices", "read_script", "split_provider"]

_MODELS = "providers/models.yaml"
_CACHE_RULES = "providers/cache-rules.yaml"
_DEFAULT_MODEL = "claude-sonnet-5-5"
_MAX_SCRIPT_BYTES = 64_000_000
"""A larger script file is taken for a mistake."""


def capabilities() -> Capabilities:
    """Return the packaged table of models."""
    return parse_capabilities(read_resource(_MODELS), uri=f"resource:{_MODELS}")


def cache_rules_for(provider: Provider) -> Callable[[str], CacheRules]:
    """Return how the prompt cache of each of a provider's models works, by the packaged tables."""
    table, models = parse_cache_rules(read_resource(_CACHE_RULES), uri=f"resource:{_CACHE_RULES}"), capabilities()

    @cache
    def rules(model: str) -> CacheRules:
        found = table.rules(models.row(model))
        return replace(found, minimum_tokens=provider.limits(model).min_cache_prefix_tokens)

    return rules


def split_provider(text: str | None) -> tuple[str, str]:
    """Return kind and argument of a provider.

    Raises:
        UsageError: none was named, or its kind is not known.
    """
    if not text:
        raise UsageError(
            "no provider is named",
            hint="give --provider anthropic:MODEL or scripted:FILE, or set it in ~/.air/config.toml under [model]",
            code="provider.missing",
        )
    kind, _, rest = text.partition(":")
    if kind == "litellm":
        raise UsageError(
            "litellm is not there yet", hint="use anthropic:MODEL or scripted:FILE", code="provider.not_yet"
        )
    if kind not in {"anthropic", "scripted"} or not rest:
        raise UsageError(
            f"{text!r} is no provider", hint="write anthropic:MODEL or scripted:FILE", code="provider.unknown"
        )
    return kind, rest


def open_provider(text: str | None, settings: Settings, *, base: Path) -> tuple[Provider, str]:
    """Return the provider and the name of its model. A script's path is relative to `base`.

    Raises:
        UsageError: see `split_provider`.
        ConfigError: the script cannot be read.
        CredentialsError: the key is missing.
    """
    kind, rest = split_provider(text)
    if kind == "anthropic":
        from aircoding.providers.anthropic_messages import AnthropicProvider

        provider = AnthropicProvider(
            capabilities(), max_output_tokens=settings.model.max_output_tokens, prices=own_prices(settings)
        )
        return provider, rest
    from aircoding.providers.scripted import ScriptedProvider

    scripted = ScriptedProvider(
        read_script(base / rest),
        capabilities(),
        max_output_tokens=settings.model.max_output_tokens,
        prices=own_prices(settings),
    )
    return scripted, "scripted"


def read_script(path: Path) -> ScriptFile:
    """Return the script in a file.

    Raises:
        ConfigError: it cannot be read, or is not in order.
    """
    read = read_text_file(path.parent, path.name, inside=False, max_bytes=_MAX_SCRIPT_BYTES)
    if read.problem is not None or read.lossy:
        why = read.problem or "it is no UTF-8 text"
        raise ConfigError(f"{os.path.relpath(path)}: cannot be read: {why}", hint="name a script file")
    return parse_script(read.text, uri=f"file:{path.name}")


def estimated_model(settings: Settings, *, base: Path) -> tuple[str, bool]:
    """Return the model that an estimate is for, and whether it only stands in for a scripted one.

    No key is needed. Without a provider in the settings it is a common model.

    Raises:
        UsageError: see `split_provider`.
        ConfigError: the script cannot be read.
    """
    if not settings.model.provider:
        return _DEFAULT_MODEL, False
    kind, rest = split_provider(settings.model.provider)
    return (read_script(base / rest).model, True) if kind == "scripted" else (rest, False)


def own_prices(settings: Settings) -> PriceTable:
    """Return the prices of the settings; a kind that is not given costs what it would without it."""
    table: dict[str, UnitPrices] = {}
    for model, given in settings.prices.items():
        write = given.input if given.cache_write_5m is None else given.cache_write_5m
        table[model] = UnitPrices(
            input=given.input,
            output=given.output,
            cache_read=given.input if given.cache_read is None else given.cache_read,
            cache_write_5m=write,
            cache_write_1h=write if given.cache_write_1h is None else given.cache_write_1h,
        )
    return table


def limits_for(model: str | None, settings: Settings) -> ModelLimits:
    """Return what a model takes, by the packaged table; none: that of the settings, else of a common one."""
    name = model
    if name is None and settings.model.provider:
        kind, rest = split_provider(settings.model.provider)
        name = rest if kind == "anthropic" else None
    row = capabilities().row(name or _DEFAULT_MODEL)
    return row.limits(max_output_tokens=settings.model.max_output_tokens)


def next_try() -> NextTry:
    """Return when a failed call is tried again; chance spreads the waits of many sessions."""
    return retries(RetryPolicy(), random.random)
