"""The end of a session: its result, checked against the schema of its role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aircoding.agents.tools.schemas import schema_faults
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, refusal
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.policy import Act

__all__ = ["FINISH"]


def _acts(_input: Mapping[str, Any], _bench: Workbench) -> tuple[Act, ...]:
    return ()


async def _prepare(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
    faults = schema_faults(call.input, bench.result_schema)
    if faults:
        listed = "\n".join(f"- {fault}" for fault in faults)
        return refusal(
            f"The result is not in order for the role {bench.brief.role}:\n{listed}\nMend this and call finish again."
        )
    return ToolResult(text="Accepted.", finished=dict(call.input))


FINISH = Tool(name="finish", acts=_acts, prepare=_prepare)
