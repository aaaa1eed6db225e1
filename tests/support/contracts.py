"""JSON Schemas of the values that leave the program, made from the dataclasses that they are."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from aircoding.records.bundles import BundleManifest
from aircoding.records.conflicts import Conflict
from aircoding.records.events import Event
from aircoding.records.manifest import AssembledContext, Manifest, Overflow
from aircoding.records.policy import Decision
from aircoding.records.profiles import Profile
from aircoding.records.runs import Run, TaskState
from aircoding.records.sessions import SessionBrief, SessionOutcome
from aircoding.records.snapshot import Snapshot

CONTRACTS: dict[str, type] = {
    "assembled-context": AssembledContext,
    "bundle-manifest": BundleManifest,
    "conflict": Conflict,
    "decision": Decision,
    "manifest": Manifest,
    "overflow": Overflow,
    "profile": Profile,
    "run": Run,
    "session-brief": SessionBrief,
    "session-outcome": SessionOutcome,
    "snapshot": Snapshot,
    "task-event": Event,
    "task-state": TaskState,
}
"""File name to the value whose `jsonable` form it describes."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Written(GenerateJsonSchema):
    """Schemas of what `jsonable` writes: without fields whose metadata keeps them out."""

    def dataclass_schema(self, schema: Any) -> Any:
        made = super().dataclass_schema(schema)
        for field in dataclasses.fields(schema["cls"]):
            if not field.metadata.get("json", True):
                del made["properties"][field.name]
        return made


def contract_schema(name: str) -> dict[str, Any]:
    """Return the schema of one contract: every field is written, and there are no others."""
    kind = CONTRACTS[name]
    return schema_of(name, kind, kind.__name__, _first_line(kind))


def schema_of(name: str, kind: type, title: str, description: str) -> dict[str, Any]:
    """Return the schema of what `jsonable` writes of a dataclass."""
    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=_Written)
    schema = _closed(made)
    head = {"$schema": DIALECT, "$id": f"urn:aircoding:schema:{name}:1", "title": title}
    return {**head, "description": description, **{key: schema[key] for key in schema if key not in head}}


def contract_text(name: str) -> str:
    """Return the schema as its file holds it."""
    return json.dumps(contract_schema(name), indent=2, ensure_ascii=False) + "\n"


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n")[0]


def _closed(node: Any) -> Any:
    """Close objects, ask for all of their fields, and take out what repeats the name or is a default."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    fields = node.get("properties")
    done = {
        key: _closed(value)
        if key not in ("properties", "$defs")
        else {name: _closed(part) for name, part in value.items()}
        for key, value in sorted(node.items())
        if key not in ("title", "default") and not (key == "description" and "enum" in node)
    }
    if "description" in done:
        done["description"] = done["description"].split("\n")[0]
    if isinstance(fields, dict):
        done["required"] = list(fields)
        done["additionalProperties"] = False
        done["properties"] = {name: done["properties"][name] for name in fields}
    return done
