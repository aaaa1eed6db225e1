"""The keys of a plan: for each how it is read and its JSON Schema, in one table, so that the two cannot part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.graph import plan_values as values
from aircoding.graph.plan_values import FieldFault, each, kind_of, one
from aircoding.records.tasks import Retry
from aircoding.rules.yaml_reader import YamlMap, YamlNode

__all__ = ["PLAN_FIELDS", "RETRY_FIELDS", "TASK_FIELDS", "Field", "plan_schema"]

_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "pattern": r"\S"}
_ID: Mapping[str, Any] = {"type": "string", "pattern": values.ID_PATTERN}
_ROLE: Mapping[str, Any] = {"type": "string", "pattern": values.ROLE_PATTERN}
_INSIDE = r"^(?![/~\\!])(?![A-Za-z]:[/\\])(?!(.*[/\\])?\.\.([/\\]|$))[^\n\u0000]*\S[^\n\u0000]*$"
_INSIDE_OR_ANCHORED = _INSIDE.replace("(?![/~", "/?(?![/~", 1)
_PATH: Mapping[str, Any] = {"type": "string", "maxLength": 4096, "pattern": _INSIDE}


@dataclass(frozen=True, slots=True)
class Field:
    """One key: `read` returns its value or raises FieldFault; `schema` says the same as JSON Schema."""

    read: Callable[[YamlNode], object]
    schema: Mapping[str, Any]
    required: bool = False


def _list(schema: Mapping[str, Any], about: str) -> Mapping[str, Any]:
    return {"type": "array", "items": schema, "default": [], "description": about}


def _read_retry(node: YamlNode) -> Retry:
    if not isinstance(node, YamlMap):
        hint = "write `retry: {max_attempts: 2, escalate: [debugger]}`"
        raise FieldFault(f"is {kind_of(node)}, not a mapping", node.line, hint)
    if node.repeated:
        key, line, _ = node.repeated[0]
        raise FieldFault(f"gives `{key}` twice", line, "keep one of them")
    found: dict[str, Any] = {}
    for key, entry in node.entries.items():
        field = RETRY_FIELDS.get(key)
        if field is None:
            raise FieldFault(f"has a key `{values.cut(key)}`", entry.line, f"known: {', '.join(RETRY_FIELDS)}")
        try:
            found[key] = field.read(entry.node)
        except FieldFault as fault:
            raise FieldFault(f"has a fault: `{key}` {fault.message}", fault.line, fault.hint) from None
    return Retry(**found)


RETRY_FIELDS: Mapping[str, Field] = {
    "max_attempts": Field(
        values.read_attempts, {"type": "integer", "minimum": 1, "maximum": values.MAX_ATTEMPTS, "default": 2}
    ),
    "escalate": Field(
        each(values.as_role),
        {"type": "array", "items": _ROLE, "default": ["debugger"], "description": "Roles asked in turn on failure."},
    ),
}

TASK_FIELDS: Mapping[str, Field] = {
    "id": Field(
        one(values.as_id), {**_ID, "description": "Stands in branch, folder and session names."}, required=True
    ),
    "title": Field(
        one(values.as_title),
        {"type": "string", "pattern": r"^[^\n]*\S[^\n]*$", "description": "One line."},
        required=True,
    ),
    "description": Field(
        values.read_any_text,
        {"type": "string", "default": "", "description": "What to do, in as many lines as needed."},
    ),
    "role": Field(one(values.as_role), {**_ROLE, "default": "executor"}),
    "worker": Field(
        one(values.as_worker),
        {"type": "string", "pattern": values.WORKER_PATTERN, "default": "native", "description": "Who does the work."},
    ),
    "depends_on": Field(each(values.as_id), _list(_ID, "Ids of tasks that must be done before.")),
    "write_area": Field(
        each(values.as_write_glob), _list(_PATH, "Globs from the project root that the task may write; none: nothing.")
    ),
    "denied_paths": Field(
        each(values.as_denied_glob),
        _list({**_PATH, "pattern": _INSIDE_OR_ANCHORED}, "Gitignore-style globs that the task may not touch."),
    ),
    "reads": Field(each(values.as_line_range), _list(_PATH, "Files to show the worker: `path` or `path:10-40`.")),
    "acceptance": Field(each(values.as_text), _list(_TEXT, "What must be true when the task is done.")),
    "verify": Field(each(values.as_text), _list(_TEXT, "Shell commands that must succeed; they decide.")),
    "priority": Field(
        values.read_priority,
        {"type": "integer", "minimum": -1_000_000, "maximum": 1_000_000, "default": 0, "description": "Higher first."},
    ),
    "tags": Field(each(values.as_text), _list(_TEXT, "Words that let tag-scoped rules in.")),
    "retry": Field(
        _read_retry,
        {
            "type": "object",
            "properties": {key: dict(field.schema) for key, field in RETRY_FIELDS.items()},
            "additionalProperties": False,
        },
    ),
    "model": Field(one(values.as_text), {**_TEXT, "description": "Another model than the run's."}),
    "max_cost_usd": Field(
        values.read_cost, {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "description": "US dollars."}
    ),
    "adr": Field(each(values.as_text), _list(_TEXT, "Ids of decisions whose interfaces the task may change.")),
    "roles": Field(each(values.as_role), _list(_ROLE, "Roles that take part besides its own, such as reviewer.")),
}


def _read_version(node: YamlNode) -> int:
    version = values.read_whole(node)
    if version != 1:
        raise FieldFault(f"is {version}", node.line, "this version of the program reads `version: 1`")
    return version


PLAN_FIELDS: Mapping[str, Field] = {
    "version": Field(_read_version, {"const": 1, "default": 1}),
    "goal": Field(one(values.as_text), {**_TEXT, "description": "What the whole plan reaches."}, required=True),
}
"""The keys beside `tasks`."""


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan file; `resources/schemas/plan.json` holds the same."""
    task = {
        "type": "object",
        "properties": {key: dict(field.schema) for key, field in TASK_FIELDS.items()},
        "required": [key for key, field in TASK_FIELDS.items() if field.required],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plan",
        "description": "A task graph: .air/shared/plan/tasks.yaml",
        "type": "object",
        "properties": {
            **{key: dict(field.schema) for key, field in PLAN_FIELDS.items()},
            "tasks": {"type": "array", "minItems": 1, "items": task},
        },
        "required": [*(key for key, field in PLAN_FIELDS.items() if field.required), "tasks"],
        "additionalProperties": False,
    }
