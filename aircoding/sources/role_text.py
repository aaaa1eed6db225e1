"""What a role is told before anything else: L0, L1 and L9, and the tools that it has. All of it is packaged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from string import Template
from typing import Any

import yaml

from aircoding.errors import InternalError
from aircoding.records.ids import session_parts
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.records.sessions import SessionBrief, SteeringEntry
from aircoding.records.snapshot import ToolSpec
from aircoding.sources.resources import list_resources, read_resource
from aircoding.sources.roles import TOOL_CATEGORIES
from aircoding.sources.segments import Intake

__all__ = ["SKILL_TOOL", "instruction_segments", "reminders", "result_schema", "role_segments", "steering_segments"]
__all__ += ["tool_names", "tool_specs"]

_INVARIANT = "prompts/runtime-invariant.md"
_INSTRUCTIONS = "prompts/instructions"
_STEERING = "prompts/steering"
_FINISH = "finish"
SKILL_TOOL = "skill_read"
_FRACTION = re.compile(r"\.\d+")


@cache
def _packaged_tools() -> tuple[ToolSpec, ...]:
    tools = (yaml.safe_load(read_resource(path)) for path in list_resources("tools", ".yaml"))
    return tuple(
        ToolSpec(
            name=tool["name"],
            category=tool["category"],
            description=tool["description"],
            input_schema=tool["input_schema"],
        )
        for tool in tools
    )


def result_schema(profile: Profile) -> Mapping[str, Any] | None:
    """Return the JSON Schema of a role's result, or None for a role that ends with plain text."""
    if not profile.result_schema:
        return None
    schema: dict[str, Any] = json.loads(read_resource(f"prompts/output-schemas/{profile.result_schema}.json"))
    return schema


def tool_names() -> frozenset[str]:
    """Return the names of all packaged tools: no plugin's tool can have one of them."""
    return frozenset(tool.name for tool in _packaged_tools())


def tool_specs(profile: Profile, more: Sequence[ToolSpec] = (), *, skills: bool = True) -> tuple[ToolSpec, ...]:
    """Return the tools of a role by name: those of its categories, and `finish` with its result schema.

    `more` are tools that plugins bring. Without `skills` there is no tool that reads them.
    """
    schema = result_schema(profile)
    own = (
        tool
        for tool in (*_packaged_tools(), *more)
        if tool.category in profile.tool_categories and (skills or tool.name != SKILL_TOOL)
    )
    finish = (
        replace(tool, input_schema={key: value for key, value in schema.items() if key != "$schema"})
        for tool in _packaged_tools()
        if tool.category == _FINISH and schema is not None
    )
    return tuple(sorted((*own, *finish), key=lambda tool: tool.name))


def role_segments(
    profile: Profile, tools: tuple[ToolSpec, ...], *, intake: Intake, trusted: bool
) -> tuple[Segment, ...]:
    """Return L0 and L1 of a role: the invariant, its discipline, its prompt, and guidance for the tools it has.

    A role that a project adds has the trust of the project's files, and stands after what is built in.
    """
    present = {tool.category for tool in tools}
    discipline = _own_text(profile, profile.discipline, Layer.L0, SegmentKind.INVARIANT, intake, trusted=trusted)
    return (
        _builtin(_INVARIANT, Layer.L0, SegmentKind.INVARIANT, intake),
        *((replace(discipline, title="Discipline of this role"),) if profile.discipline else ()),
        _own_text(profile, profile.prompt, Layer.L1, SegmentKind.ROLE, intake, trusted=trusted),
        *(
            _builtin(f"prompts/guidance/{category}.md", Layer.L1, SegmentKind.GUIDANCE, intake)
            for category in TOOL_CATEGORIES
            if category in present
        ),
    )


def _own_text(
    profile: Profile, text: str, layer: Layer, kind: SegmentKind, intake: Intake, *, trusted: bool
) -> Segment:
    packaged = profile.uri.startswith("resource:")
    return intake.segment(
        text,
        layer=layer,
        scope=Scope.FLEET,
        kind=kind,
        trust=Trust.BUILTIN if packaged else Trust.PROJECT if trusted else Trust.EXTERNAL,
        uri=profile.uri,
        fragment=kind.value,
        shortened=False,
    )


def _builtin(path: str, layer: Layer, kind: SegmentKind, intake: Intake) -> Segment:
    return intake.segment(
        read_resource(path).strip(),
        layer=layer,
        scope=Scope.FLEET,
        kind=kind,
        trust=Trust.BUILTIN,
        uri=f"resource:{path}",
        shortened=False,
    )


def instruction_segments(brief: SessionBrief, profile: Profile, *, now: str, intake: Intake) -> tuple[Segment, ...]:
    """Return L9: what to do now, what was asked in particular, the form of the answer, and the time."""
    _, task_id, attempt, _, _ = session_parts(brief.session_id)
    own = f"{_INSTRUCTIONS}/{profile.role}.md"
    path = own if own in list_resources(_INSTRUCTIONS) else f"{_INSTRUCTIONS}/default.md"
    start = _turn(_filled(path, task_id=task_id, attempt=attempt), SegmentKind.INSTRUCTION, f"resource:{path}", intake)
    asked = (
        intake.segment(
            brief.instruction.strip(),
            layer=Layer.L9,
            scope=Scope.TURN,
            kind=SegmentKind.INSTRUCTION,
            trust=Trust.USER,
            uri=f"air:session/{brief.session_id}/instruction",
            shortened=False,
        ),
    )
    time = f"Current time: {_FRACTION.sub('', now)}"
    return (
        start,
        *(asked if brief.instruction.strip() else ()),
        _output_format(profile, intake),
        _turn(time, SegmentKind.TIME, "air:clock", intake),
    )


def reminders() -> Mapping[str, str]:
    """Return the packaged texts of steering by their uri (`resource:prompts/steering/NAME.md`)."""
    return {f"resource:{path}": read_resource(path).strip() for path in list_resources(_STEERING, ".md")}


def steering_segments(entries: Iterable[SteeringEntry], *, intake: Intake) -> tuple[Segment, ...]:
    """Return what is due in a turn as L9. What is packaged is ours; what no hook gave is an agent's word."""
    return tuple(
        intake.segment(
            entry.text,
            layer=Layer.L9,
            scope=Scope.TURN,
            kind=SegmentKind.STEERING,
            trust=Trust.BUILTIN if entry.source_uri.startswith("resource:") else entry.trust or Trust.AGENT,
            uri=entry.source_uri,
            fragment=f"turn-{entry.turn}-{entry.position}",
            shortened=False,
        )
        for entry in entries
    )


def _output_format(profile: Profile, intake: Intake) -> Segment:
    schema = result_schema(profile)
    if schema is None:
        path = f"{_INSTRUCTIONS}/output-text.md"
        return _turn(_filled(path), SegmentKind.OUTPUT_FORMAT, f"resource:{path}", intake)
    path = f"{_INSTRUCTIONS}/output-format.md"
    required = schema["required"]
    others = [name for name in schema["properties"] if name not in required]
    text = _filled(
        path,
        schema=schema["title"],
        required=", ".join(f"`{name}`" for name in required),
        optional=f" Where it applies: {', '.join(f'`{name}`' for name in others)}." if others else "",
    )
    return _turn(text, SegmentKind.OUTPUT_FORMAT, f"resource:{path}", intake)


def _turn(text: str, kind: SegmentKind, uri: str, intake: Intake) -> Segment:
    return intake.segment(
        text, layer=Layer.L9, scope=Scope.TURN, kind=kind, trust=Trust.BUILTIN, uri=uri, shortened=False
    )


def _filled(path: str, **values: object) -> str:
    """Fill the placeholders of a packaged text; every one of them, or it is our fault."""
    try:
        return Template(read_resource(path).strip()).substitute(values)
    except (KeyError, ValueError) as error:
        raise InternalError(f"{path}: placeholder {error} is not filled", code="resources.template") from error
