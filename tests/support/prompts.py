"""The packaged prompt of a role as one readable text: what stands in front of every task."""

from __future__ import annotations

import json
import textwrap

from aircoding.records.ids import TaskId
from aircoding.records.layers import Layer, Trust
from aircoding.records.tasks import TaskSpec
from support.projects import Desk

SHOWN = (Layer.L0, Layer.L1, Layer.L9)


def prompt_text(desk: Desk, role: str) -> str:
    """Return tools, L0, L1 and L9 of a role, each segment under its source."""
    task = TaskSpec(id=TaskId("T7"), title="Read amounts", write_area=("src/**",))
    snapshot = desk.snapshot(desk.brief(role, task=task))
    order = [segment for layer in SHOWN for segment in snapshot.segments if segment.layer is layer]
    parts = [
        f"tool {tool.name} ({tool.category})\n"
        + textwrap.fill(tool.description, 116, initial_indent="  ", subsequent_indent="  ")
        + "\n"
        + textwrap.indent(json.dumps(tool.input_schema, indent=1, ensure_ascii=False), "  ")
        for tool in snapshot.tools
    ]
    parts += [f"{one.layer} {one.kind.value} <- {one.source.uri}\n\n{one.text}" for one in order]
    assert all(one.trust is Trust.BUILTIN for one in order)
    return f"\n\n{'-' * 116}\n".join(parts) + "\n"
