"""The page of a run: its tasks, attempts, prompts, costs, what was left out and what contradicts; it stands alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aircoding.pages.drawing import environment, inline_asset, inline_source

__all__ = ["run_report_page"]


def run_report_page(facts: Mapping[str, Any]) -> str:
    """Return the whole page; its policy lets in the style that stands in it, and neither a script nor a request.

    Args:
        facts: JSON values: `run`, `spending` (in words), and the rows of `tasks`, `prompts`, `costs`, `left_out`,
            `conflicts`.
    """
    style = inline_asset("inspector.css")
    policy = f"default-src 'none'; style-src {inline_source(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    template = environment().get_template("run-report.html.jinja")
    return template.render(facts=facts, style=style, policy=policy, parts=[_part(facts, *part) for part in _PARTS])


_PARTS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "tasks",
        "Tasks",
        (("task_id", "Task"), ("title", "Title"), ("state", "State"), ("attempt", "Attempts"), ("reason", "Reason")),
    ),
    (
        "costs",
        "Costs",
        (
            ("task_id", "Task"),
            ("role", "Role"),
            ("model", "Model"),
            ("committed", "Calls"),
            ("input_tokens", "New tokens"),
            ("cache_read_tokens", "Cached tokens"),
            ("output_tokens", "Tokens out"),
            ("cost_usd", "US dollars"),
        ),
    ),
    (
        "left_out",
        "Left out for want of space",
        (("task_id", "Task"), ("role", "Role"), ("uri", "Source"), ("tokens", "Tokens")),
    ),
    (
        "conflicts",
        "Contradictions",
        (("kind", "Kind"), ("subject", "Subject"), ("detail", "Detail"), ("state", "State"), ("ruling", "Ruling")),
    ),
    (
        "prompts",
        "Prompts",
        (
            ("manifest_id", "Prompt"),
            ("task_id", "Task"),
            ("role", "Role"),
            ("attempt", "Attempt"),
            ("turn", "Turn"),
            ("tokens", "Tokens (estimated)"),
            ("created_at", "Made"),
        ),
    ),
)
"""Each part with its key, its heading, and its columns: key and heading."""


def _part(
    facts: Mapping[str, Any], key: str, heading: str, columns: Sequence[tuple[str, str]]
) -> tuple[str, str, list[str], list[list[str]]]:
    rows = [[_cell(row.get(name)) for name, _ in columns] for row in facts[key]]
    return key, heading, [title for _, title in columns], rows


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
