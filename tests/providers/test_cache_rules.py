"""The table of cache rules: what a model gets, and what is said of a table that is not in order."""

from __future__ import annotations

import pytest
from support.cache_models import cache_table
from support.provider_calls import capabilities

from aircoding.errors import ConfigError
from aircoding.providers.cache_rules import parse_cache_rules

VERSION = """
- api_version: "2026-10-21"
  look_back_positions: 20
  one_position_kinds: [tool_use]
  life_5m_seconds: 300
  life_1h_seconds: 3600
  as_of: "2026-11-30"
  source: a page
"""
MODEL = '\n- {model: "*", keeps_thinking: true, as_of: "2026-11-30", source: a page}\n'


def test_a_model_has_the_common_rules_and_what_is_its_own() -> None:
    common = cache_table().rules(capabilities().row("claude-sonnet-5-5"))
    assert (common.look_back_positions, common.life_seconds) == (20, {"5m": 300.0, "1h": 3_600.0})
    assert (common.minimum_tokens, common.keeps_thinking, common.default_effort) == (1_024, True, "high")
    own = cache_table().rules(capabilities().row("claude-haiku-4-5-20251001"))
    assert (own.minimum_tokens, own.keeps_thinking, own.default_effort) == (4_096, False, "high")
    assert cache_table().rules(capabilities().row("claude-opus-5-5")).default_effort == "medium"


def test_every_model_of_the_table_is_one_that_the_product_knows() -> None:
    assert set(cache_table().models) - {"*"} <= set(capabilities().rows)


def test_every_api_version_that_a_model_uses_has_rules() -> None:
    assert {row.api_version for row in capabilities().rows.values()} <= set(cache_table().versions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"rules:{VERSION}models:{MODEL.replace('*', 'm')}", 'the first row must be of the model "*"'),
        (f"rules:{VERSION.replace('20', '0', 2)}models:{MODEL}", "at least 1"),
        (f"rules:{VERSION.replace('tool_use', 'text')}models:{MODEL}", "must be one of tool_use, tool_result"),
        (f"rules:{VERSION}models:{MODEL.replace('true', 'perhaps')}", "must be true or false"),
        (f"models:{MODEL}", "`rules` is missing"),
        ("", "the file is empty"),
    ],
)
def test_a_table_that_is_not_in_order_names_file_and_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"cache\.yaml, line \d+") as caught:
        parse_cache_rules(text, uri="cache.yaml")
    assert message in caught.value.message
