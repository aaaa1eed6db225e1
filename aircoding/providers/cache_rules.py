"""The rules of the provider's prompt cache: dated rows of a data file, by API version and by model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aircoding.providers.capabilities import ModelRow
from aircoding.providers.fields import Fields
from aircoding.records.caching import CacheRules
from aircoding.rules.yaml_reader import Entry, YamlNode

__all__ = ["CacheTable", "parse_cache_rules"]

_DATE_SUFFIX = re.compile(r"-20\d{6}$")
_ANY_MODEL = "*"

_RULE_KEYS = (
    "api_version",
    "look_back_positions",
    "one_position_kinds",
    "life_5m_seconds",
    "life_1h_seconds",
    "as_of",
    "source",
)
_MODEL_KEYS = ("model", "keeps_thinking", "thinking_invalidates", "default_effort", "as_of", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTable:
    """The rows of the data file at `uri`: rules by API version, and what a model has of its own."""

    versions: Mapping[str, CacheRules]
    models: Mapping[str, Mapping[str, Any]]
    uri: str

    def rules(self, row: ModelRow) -> CacheRules:
        """Return the rules of a model; those of the newest API version when its own is not in the table."""
        base = self.versions.get(row.api_version) or self.versions[max(self.versions)]
        own = self.models.get(row.model) or self.models.get(_DATE_SUFFIX.sub("", row.model)) or {}
        given = {**self.models[_ANY_MODEL], **own}
        return replace(base, model=row.model, minimum_tokens=row.min_cache_prefix_tokens, **given)


def parse_cache_rules(text: str, *, uri: str) -> CacheTable:
    """Read the data file (`rules:` and `models:`, see its head).

    Raises:
        ConfigError: it is not in order; the diagnostics name every line.
    """
    fields = Fields(uri, "cache_rules.invalid")
    top = fields.entries(fields.top(text), "the file", known=("rules", "models"), required=("rules", "models"))
    versions = [_version(fields, node) for node in fields.items(top.get("rules"), "rules")]
    models = [_model(fields, node) for node in fields.items(top.get("models"), "models")]
    if models and models[0].get("model") != _ANY_MODEL:
        fields.fault(f'`models`: the first row must be of the model "{_ANY_MODEL}"', 1)
    fields.raise_faults()
    return CacheTable(
        versions={rules.api_version: rules for rules in versions if rules is not None},
        models={
            str(row["model"]): {key: value for key, value in row.items() if key not in {"model", "as_of", "source"}}
            for row in models
        },
        uri=uri,
    )


def _version(fields: Fields, node: YamlNode) -> CacheRules | None:
    given = fields.entries(node, "rules", known=_RULE_KEYS, required=_RULE_KEYS)
    before = len(fields.diagnostics)
    version = fields.text(given.get("api_version"), "rules.api_version")
    positions = fields.whole(given.get("look_back_positions"), "rules.look_back_positions", minimum=1)
    lives = {
        word: fields.seconds(given.get(f"life_{word}_seconds"), f"rules.life_{word}_seconds") for word in ("5m", "1h")
    }
    kinds = [
        fields.word(Entry(node=kind, line=kind.line), "rules.one_position_kinds", choices=("tool_use", "tool_result"))
        for kind in fields.items(given.get("one_position_kinds"), "rules.one_position_kinds")
    ]
    as_of, source = fields.text(given.get("as_of"), "rules.as_of"), fields.text(given.get("source"), "rules.source")
    if len(fields.diagnostics) > before or version is None or positions is None or as_of is None or source is None:
        return None
    return CacheRules(
        model="",
        api_version=version,
        minimum_tokens=0,
        look_back_positions=positions,
        one_position_kinds=frozenset(kind for kind in kinds if kind is not None),
        life_seconds={word: seconds for word, seconds in lives.items() if seconds is not None},
        keeps_thinking=True,
        thinking_invalidates="messages",
        default_effort="",
        as_of=as_of,
        source=source,
    )


def _model(fields: Fields, node: YamlNode) -> Mapping[str, str | bool | None]:
    given = fields.entries(node, "models", known=_MODEL_KEYS, required=("model", "as_of", "source"))
    return {key: _value(fields, key, entry) for key, entry in given.items()}


def _value(fields: Fields, key: str, entry: Entry) -> str | bool | None:
    where = f"models.{key}"
    if key == "keeps_thinking":
        return fields.flag(entry, where)
    if key == "thinking_invalidates":
        return fields.word(entry, where, choices=("messages", "all"))
    return fields.text(entry, where)
