"""What a reply asks for, and the user turn that answers it; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aircoding.records.calls import Reply, ToolCall, ToolResult
from aircoding.records.ids import SessionId, tool_key

__all__ = ["CUT_CALL", "NOT_RUN", "answer", "is_cut", "tool_calls"]

CUT_CALL = (
    "Not run: your answer was cut at the output limit and this call may be incomplete. "
    "Make it again in smaller parts (fs_edit instead of fs_write, one file at a time)."
)
NOT_RUN = "Not run: the session had finished."

_CUT_REASONS = frozenset({"max_tokens", "model_context_window_exceeded"})


def tool_calls(reply: Reply, session: SessionId, turn: int) -> tuple[ToolCall, ...]:
    """Return the tool calls of a reply in order."""
    blocks = [block for block in reply.content if block["type"] == "tool_use"]
    return tuple(
        ToolCall(
            key=tool_key(session, turn, index),
            session_id=session,
            turn=turn,
            index=index,
            tool_use_id=str(block["id"]),
            name=str(block["name"]),
            input=block["input"],
        )
        for index, block in enumerate(blocks)
    )


def is_cut(reply: Reply, call: ToolCall) -> bool:
    """Whether the call is the last block of an answer that the output limit cut: its input cannot be trusted."""
    last = reply.content[-1]
    return reply.stop_reason in _CUT_REASONS and last["type"] == "tool_use" and last["id"] == call.tool_use_id


def answer(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[Mapping[str, Any]]:
    """Return the one user turn after a reply: a tool_result for each call and nothing else.

    Calls after the last result were not run, since the session had finished. Text beside results makes models end
    their turn with nothing said, so whatever else there is to say is steering.
    """
    given = [*results, *(ToolResult(text=NOT_RUN, is_error=True) for _ in calls[len(results) :])]
    return [_tool_result(call, result) for call, result in zip(calls, given, strict=True)]


def _tool_result(call: ToolCall, result: ToolResult) -> Mapping[str, Any]:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": call.tool_use_id,
        "content": [{"type": "text", "text": result.text}],
    }
    if result.is_error:
        block["is_error"] = True
    return block
