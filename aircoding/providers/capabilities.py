"""What each model can take: dated rows of a data file, and careful defaults for a model that has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from aircoding.providers.fields import Fields
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.snapshot import ModelLimits
from aircoding.rules.yaml_reader import Entry, YamlNode

__all__ = ["THINKING", "Capabilities", "ModelRow", "parse_capabilities"]

THINKING = ("none", "manual", "adaptive", "always")
"""Thinking that a model offers: none; with a token budget; adaptive, can be off; adaptive, cannot be off."""

_DATE_SUFFIX = re.compile(r"-20\d{6}$")

_ROW_KEYS = (
    "model",
    "window_tokens",
    "max_output_tokens",
    "min_cache_prefix_tokens",
    "cache_marks",
    "system_turns",
    "prefill",
    "thinking",
    "bound_thinking",
    "sampling",
    "forced_tools",
    "tools",
    "images",
    "api_version",
    "as_of",
    "source",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model. The defaults are what is assumed of a model that the data file does not know.

    They are on the safe side for every model of the last generations: a small window and output, no system turns,
    no prefill. The prefix minimum is a middle one: a mark below the true minimum is ignored and costs nothing.
    `prefill` says whether a request may end with an assistant message, `bound_thinking` whether a thinking block is
    refused when what stands before it has changed, `sampling` whether `temperature`, `top_p` and `top_k` may be given,
    `forced_tools` whether `tool_choice` may demand a tool. `as_of` is the day on which `source` was read.
    """

    model: str
    window_tokens: int = 200_000
    max_output_tokens: int = 32_000
    min_cache_prefix_tokens: int = 1_024
    cache_marks: bool = True
    system_turns: bool = False
    prefill: bool = False
    thinking: str = "adaptive"
    bound_thinking: bool = False
    sampling: bool = True
    forced_tools: bool = False
    tools: bool = True
    images: bool = True
    api_version: str = "2026-10-21"
    as_of: str = ""
    source: str = ""

    def limits(self, *, max_output_tokens: int) -> ModelLimits:
        """Return what the assembler must know; `max_output_tokens` is the most that one answer is to reserve."""
        return ModelLimits(
            model=self.model,
            window_tokens=self.window_tokens,
            max_output_tokens=min(self.max_output_tokens, max_output_tokens),
            min_cache_prefix_tokens=self.min_cache_prefix_tokens,
            cache_marks=self.cache_marks,
            system_turns=self.system_turns,
            tools=self.tools,
            images=self.images,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The rows of the data file at `uri`, by model id."""

    rows: Mapping[str, ModelRow]
    uri: str

    def row(self, model: str) -> ModelRow:
        """Return the row of a model (a trailing date such as `-20261001` is not part of the name), or the defaults."""
        known = self._known(model)
        return ModelRow(model=model) if known is None else replace(known, model=model)

    def remarks(self, model: str) -> tuple[Diagnostic, ...]:
        """Return what a person should know about the row that `row` gives: a warning when it is assumed."""
        if self._known(model) is not None:
            return ()
        assumed = ModelRow(model=model)
        message = (
            f"nothing is known of the model {model}; assumed are a window of {assumed.window_tokens} tokens and "
            f"{assumed.max_output_tokens} tokens of output"
        )
        hint = f"check the name; known are {', '.join(sorted(self.rows))}"
        return (Diagnostic(severity="warning", code="model.unknown", message=message, uri=self.uri, hint=hint),)

    def _known(self, model: str) -> ModelRow | None:
        return self.rows.get(model) or self.rows.get(_DATE_SUFFIX.sub("", model))


def parse_capabilities(text: str, *, uri: str) -> Capabilities:
    """Read the data file (`models:`, a list of rows with the fields of `ModelRow`).

    Raises:
        ConfigError: it is not in order; the diagnostics name every line.
    """
    fields = Fields(uri, "models.invalid")
    rows: dict[str, ModelRow] = {}
    top = fields.entries(fields.top(text), "the file", known=("models",), required=("models",))
    for node in fields.items(top.get("models"), "models"):
        row = _row(fields, node)
        if row is not None and row.model in rows:
            fields.fault(f"`models`: {row.model} has a row already", node.line)
        elif row is not None:
            rows[row.model] = row
    fields.raise_faults()
    return Capabilities(rows=rows, uri=uri)


def _row(fields: Fields, node: YamlNode) -> ModelRow | None:
    before = len(fields.diagnostics)
    given = fields.entries(node, "models", known=_ROW_KEYS, required=("model", "as_of", "source"))
    values: dict[str, str | int | bool | None] = {key: _value(fields, key, entry) for key, entry in given.items()}
    if len(fields.diagnostics) > before:
        return None
    return replace(ModelRow(model=""), **{key: value for key, value in values.items() if value is not None})  # type: ignore[arg-type]


def _value(fields: Fields, key: str, entry: Entry) -> str | int | bool | None:
    where = f"models.{key}"
    if key.endswith("_tokens"):
        return fields.whole(entry, where, minimum=1)
    if key == "thinking":
        return fields.word(entry, where, choices=THINKING)
    if key in {"model", "api_version", "as_of", "source"}:
        return fields.text(entry, where)
    return fields.flag(entry, where)
