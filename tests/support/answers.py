"""JSON Schemas of what the question commands print with `--json`, made from the values that they print."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from aircoding.app.conflicts import Conflicts
from aircoding.app.context_checks import CheckReport
from aircoding.app.impact import Impact
from aircoding.app.questions.assemblies import Assemblies
from aircoding.app.questions.cache_reports import CacheReport
from aircoding.app.questions.costs import Costs
from aircoding.app.questions.expansions import Expansion
from aircoding.app.questions.omissions import MetConflicts, Omissions
from aircoding.app.questions.replays import Replay
from aircoding.app.questions.what_if import WhatIf
from aircoding.app.questions.why import WhoSaw, Why, WhyNot
from aircoding.audit.differences import Difference
from aircoding.cli.context.blame_answers import ToldLine
from aircoding.cli.context.diff_answers import ToldText
from aircoding.cli.output import SCHEMA_VERSION
from support.contracts import schema_of

__all__ = ["ANSWERS", "answer_text"]

ANSWERS: dict[str, tuple[str, type | dict[str, Any]]] = {
    "blame": ("context blame", {"blame": tuple[ToldLine, ...]}),
    "cache": ("context cache", {"cache": CacheReport}),
    "check": ("context check", {"check": CheckReport, "failed": int}),
    "conflicts": ("context conflicts", MetConflicts),
    "conflicts-list": ("conflicts list", Conflicts),
    "costs": ("context costs", Costs),
    "diff": (
        "context diff",
        {"difference": Difference, "before": str, "after": str, "texts": tuple[ToldText, ...]},
    ),
    "expand": ("context expand", {"expansions": tuple[Expansion, ...]}),
    "impact": ("context impact", {"impact": Impact}),
    "list": ("context list", Assemblies),
    "omissions": ("context omissions", Omissions),
    "replay": ("context replay", {"replays": tuple[Replay, ...]}),
    "what-if": ("context replay --without, --with, --window or --model", {"what_if": WhatIf}),
    "who-saw": ("context who-saw", WhoSaw),
    "why": ("context why", Why),
    "why-not": ("context why-not", WhyNot),
}
"""File name to the command and its document: a page (its fields are the document), or what stands below each key."""


def answer_text(name: str) -> str:
    """Return the schema of an answer as its file holds it."""
    command, shape = ANSWERS[name]
    kind = shape if isinstance(shape, type) else dataclasses.make_dataclass("Answer", list(shape.items()))
    schema = schema_of(
        f"answer-{name}", kind, f"aircoding {command}", f"What `aircoding {command}` prints with `--json`."
    )
    schema["properties"] = {"schema_version": {"const": SCHEMA_VERSION}, **schema["properties"]}
    schema["required"] = ["schema_version", *schema["required"]]
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
