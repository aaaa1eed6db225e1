"""Commands: judged before, confined while they run, and checked against the write area after."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aircoding.agents.tools.artifacts import shorten
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, in_utf8, known_digests
from aircoding.errors import WorkspaceError
from aircoding.permissions.engine import decide
from aircoding.ports import Worktree
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.policy import Act, CommandAct, PathAct, Policy
from aircoding.records.work import CommandOutcome, CommandRequest

__all__ = ["SHELL", "outside_write_area"]

_TIMEOUT_SECONDS = 600.0
"""How long a command may run when the call does not say; the tool's schema sets the most that it can ask for."""
_SHOWN_PATHS = 20


def outside_write_area(worktree: Worktree, base: str, policy: Policy) -> tuple[str, ...]:
    """Return the paths that differ from commit `base` though the policy does not let them be written, sorted."""
    paths = [in_utf8(change.path) for change in worktree.changes(base)]
    return tuple(path for path in paths if not decide(PathAct(path=path, access="write"), policy).permits)


def _acts(tool_input: Mapping[str, Any], _bench: Workbench) -> tuple[Act, ...]:
    return (CommandAct(command=str(tool_input["command"])),)


async def _prepare(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
    request = CommandRequest(
        command=str(call.input["command"]),
        timeout_seconds=float(call.input.get("timeout_seconds", _TIMEOUT_SECONDS)),
        env=tuple((name, value) for name, value in bench.command_env if name not in bench.policy.mask_env),
        writable=bench.policy.may_write,
    )

    async def act() -> ToolResult:
        before = await asyncio.to_thread(known_digests, bench)
        outcome = await bench.sandbox.run(request, root=bench.worktree.root)
        shown, artifact = shorten(bench.screener.mask(outcome.output).rstrip("\n"), bench.blobs)
        parts = [shown] if shown.strip() else ["(no output)"]
        parts.append(_ending(outcome, request))
        parts.extend(await _strays(bench))
        failed = outcome.timed_out or outcome.exit_code != 0
        after = await asyncio.to_thread(known_digests, bench)
        changed = {path: digest for path, digest in after.items() if digest != before.get(path)}
        return ToolResult(text="\n".join(parts), is_error=failed, artifact=artifact, changed_digests=changed)

    return Deed(act=act)


def _ending(outcome: CommandOutcome, request: CommandRequest) -> str:
    cut = "; the output was cut at its size limit" if outcome.truncated else ""
    if outcome.timed_out:
        return (
            f"[stopped after {request.timeout_seconds:g} seconds, with all that it had started{cut}. "
            "Run a smaller part of it.]"
        )
    return f"[exit code {outcome.exit_code}{cut}]"


async def _strays(bench: Workbench) -> list[str]:
    """Report what the worktree holds outside the write area, so that the worker can put it right before it finishes."""
    try:
        strays = await asyncio.to_thread(outside_write_area, bench.worktree, bench.brief.base_commit, bench.policy)
    except WorkspaceError as error:
        return [f"[the write area could not be checked: {error.message}]"]
    if not strays:
        return []
    more = f" and {len(strays) - _SHOWN_PATHS} more" if len(strays) > _SHOWN_PATHS else ""
    shown = f"{', '.join(strays[:_SHOWN_PATHS])}{more}"
    advice = "Put these back as they were (remove what is new) before you finish, or the attempt fails."
    return [f"[outside your write area and changed: {shown}. {advice}]"]


SHELL = Tool(name="shell", acts=_acts, prepare=_prepare)
