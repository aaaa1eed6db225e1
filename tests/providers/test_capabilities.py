"""The table of models: dated rows, careful defaults, faults with their line."""

from __future__ import annotations

import re

import pytest
from support.provider_calls import capabilities

from aircoding.errors import ConfigError
from aircoding.providers.capabilities import parse_capabilities
from aircoding.providers.prices import cost_of
from aircoding.providers.script import DEFAULT_MODEL
from aircoding.records.usage import Usage


@pytest.mark.parametrize("row", capabilities().rows.values(), ids=lambda row: row.model)
def test_every_row_is_dated_and_has_a_source_and_a_price(row: object) -> None:
    assert re.fullmatch(r"2026-\d\d-\d\d", row.as_of)
    assert row.source
    assert row.max_output_tokens < row.window_tokens
    assert cost_of(row.model, Usage(input_tokens=1)).usd


def test_a_date_is_no_part_of_a_model_s_name() -> None:
    row = capabilities().row("claude-haiku-4-5-20251001")
    assert (row.model, row.window_tokens) == ("claude-haiku-4-5-20251001", 200_000)
    assert capabilities().remarks("claude-haiku-4-5-20251001") == ()


def test_an_unknown_model_gets_careful_limits_and_a_warning() -> None:
    limits = capabilities().row("claude-none-9").limits(max_output_tokens=64_000)
    assert (limits.window_tokens, limits.max_output_tokens, limits.system_turns) == (200_000, 32_000, False)
    (warning,) = capabilities().remarks("claude-none-9")
    assert (warning.severity, warning.code) == ("warning", "model.unknown")
    assert "claude-opus-5-5" in warning.hint


def test_an_answer_reserves_no_more_than_it_is_told() -> None:
    assert capabilities().row("claude-opus-5-5").limits(max_output_tokens=16_000).max_output_tokens == 16_000


def test_the_stand_in_of_scripts_is_in_the_table() -> None:
    assert DEFAULT_MODEL in capabilities().rows


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("models: []\n", 1, "at least one"),
        ("models:\n- model: a\n  as_of: x\n", 2, "`source` is missing"),
        ("models:\n- {model: a, as_of: x, source: y}\n- {model: a, as_of: x, source: y}\n", 3, "has a row already"),
        ("models:\n- {model: b, as_of: x, source: y, window: 3}\n", 2, "unknown key"),
        ("models:\n- model: a\n  as_of: x\n  source: y\n  window_tokens: 0\n", 5, "at least 1"),
        ("models:\n- model: a\n  as_of: x\n  source: y\n  tools: maybe\n", 5, "true or false"),
        ("models:\n- model: a\n  as_of: x\n  source: y\n  thinking: deep\n", 5, "must be one of"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_capabilities(text, uri="resource:providers/models.yaml")
    assert [diagnostic.line for diagnostic in caught.value.diagnostics] == [line]
    assert words in caught.value.message
