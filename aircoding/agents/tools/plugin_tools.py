"""A plugin's tool behind the same gate as ours: judged before, limited in time, its output screened and shortened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aircoding.agents.hooks import session_facts
from aircoding.agents.tools.artifacts import shorten
from aircoding.agents.tools.outputs import screen_output, withheld
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, in_utf8, refusal
from aircoding.errors import WorkspaceError
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.hooks import MOST_REASON_CHARS, ContributedTool, PluginFailedError
from aircoding.records.layers import Trust
from aircoding.records.policy import Act, PathAct, ToolAct

__all__ = ["plugin_tool"]


def plugin_tool(given: ContributedTool, *, profile: str, project_root: str) -> Tool:
    """Return the tool that a plugin brings, for the runner.

    Args:
        given: what the plugin registered.
        profile: the user's profile, as the handler is told.
        project_root: the same.
    """
    name = given.spec.name

    async def acts(tool_input: Mapping[str, Any], bench: Workbench) -> tuple[Act, ...]:
        if given.acts is None:
            return (ToolAct(tool=name, opaque=True),)
        try:
            async with asyncio.timeout(given.timeout_seconds):
                found = await given.acts(tool_input)
        except Exception as error:  # whatever a plugin raises: what it would do cannot be told, so nothing is done
            reason = _reason(error, given.timeout_seconds, bench)
            raise WorkspaceError(f"it cannot be told what {name} would do: {reason}") from error
        return tuple(
            replace(act, path=bench.worktree.resolve(act.path)) if isinstance(act, PathAct) else act for act in found
        )

    async def prepare(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
        async def act() -> ToolResult:
            facts = session_facts(bench.brief, profile=profile, project_root=project_root)
            try:
                async with asyncio.timeout(given.timeout_seconds):
                    output = _as_text(await given.handler(call.input, facts))
            except Exception as error:  # noqa: BLE001 - whatever a plugin raises is the model's to read
                return refusal(f"{name} failed: {_reason(error, given.timeout_seconds, bench)}")
            whole = bench.screener.mask(output)
            shown, found = screen_output(bench, whole, uri=f"air:tool/{name}", trust=Trust.EXTERNAL)
            shown, artifact = shorten(shown, bench.blobs, whole=whole)
            return ToolResult(text=shown if shown.strip() else "(no output)", artifact=artifact, screened=found)

        return Deed(act=act)

    return Tool(name=name, acts=acts, prepare=prepare, brings=None)


def _as_text(value: Any) -> str:
    """Return what a handler gave as text; what is no text must be JSON.

    Raises:
        TypeError: it is neither.
        ValueError: the same.
    """
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return in_utf8(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def _reason(error: Exception, timeout_seconds: float, bench: Workbench) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer after {timeout_seconds:g} seconds"
    said = str(error) if isinstance(error, PluginFailedError) else f"{type(error).__name__}: {error}"
    return withheld(bench.screener, bench.screener.mask(in_utf8(said)), uri="air:tool/plugin")[:MOST_REASON_CHARS]
