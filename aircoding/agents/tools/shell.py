"""Commands: judged before, confined while they run, and checked against the write area after."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aircoding.agents.tools.artifacts import shorten
from aircoding.agents.tools.outputs import screen_output, withheld
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, digest_or_gone, in_utf8, known_digests
from aircoding.errors import WorkspaceError
from aircoding.permissions.engine import decide
from aircoding.ports import Worktree
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.digests import fingerprint
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.policy import Act, CommandAct, PathAct, Policy
from aircoding.records.work import Change, CommandOutcome, CommandRequest

__all__ = ["SHELL", "outside_write_area"]

_URI = "air:tool/shell"
_TIMEOUT_SECONDS = 600.0
"""How long a command may run when the call does not say; the tool's schema sets the most that it can ask for."""
_SHOWN_PATHS = 20
_DIGESTED_FILES = 1000
"""Most changed files that are read after a command to tell what it left."""


def outside_write_area(worktree: Worktree, base: str, policy: Policy) -> tuple[str, ...]:
    """Return the paths that differ from commit `base` though the policy does not let them be written, sorted."""
    return _outside(worktree.changes(base), policy)


def _outside(changes: Sequence[Change], policy: Policy) -> tuple[str, ...]:
    paths = [in_utf8(change.path) for change in changes]
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
        whole = bench.screener.mask(outcome.output).rstrip("\n")
        given, found = screen_output(bench, whole, uri=_URI, trust=Trust.EXTERNAL)
        shown, artifact = shorten(given, bench.blobs, whole=whole)
        parts = [shown] if shown.strip() else ["(no output)"]
        parts.append(_ending(outcome, request))
        strays, tree_digest = await _left(bench)
        parts.extend(withheld(bench.screener, bench.screener.mask(stray), uri=_URI) for stray in strays)
        failed = outcome.timed_out or outcome.exit_code != 0
        after = await asyncio.to_thread(known_digests, bench)
        changed = {path: digest for path, digest in after.items() if digest != before.get(path)}
        return ToolResult(
            text="\n".join(parts),
            is_error=failed,
            artifact=artifact,
            changed_digests=changed,
            tree_digest=tree_digest,
            screened=found,
        )

    return Deed(act=act)


def _ending(outcome: CommandOutcome, request: CommandRequest) -> str:
    cut = "; the output was cut at its size limit" if outcome.truncated else ""
    if outcome.timed_out:
        return (
            f"[stopped after {request.timeout_seconds:g} seconds, with all that it had started{cut}. "
            "Run a smaller part of it.]"
        )
    return f"[exit code {outcome.exit_code}{cut}]"


async def _left(bench: Workbench) -> tuple[list[str], Digest | None]:
    """Look once at what the command left; report what lies outside the write area, and say by a digest what it is."""
    try:
        changes = await asyncio.to_thread(bench.worktree.changes, bench.brief.base_commit)
    except WorkspaceError as error:
        return [f"[the write area could not be checked: {error.message}]"], None
    return _strays(_outside(changes, bench.policy)), await asyncio.to_thread(_tree_digest, bench, changes)


def _strays(strays: Sequence[str]) -> list[str]:
    """Tell the worker, so that it can put these right before it finishes."""
    if not strays:
        return []
    more = f" and {len(strays) - _SHOWN_PATHS} more" if len(strays) > _SHOWN_PATHS else ""
    shown = f"{', '.join(strays[:_SHOWN_PATHS])}{more}"
    advice = "Put these back as they were (remove what is new) before you finish, or the attempt fails."
    return [f"[outside your write area and changed: {shown}. {advice}]"]


def _tree_digest(bench: Workbench, changes: Sequence[Change]) -> Digest:
    """Return a digest of all changes with the files' own; beyond the first files names and status must do."""
    told = [[in_utf8(one.path), one.status] for one in changes]
    for entry, change in zip(told[:_DIGESTED_FILES], changes, strict=False):
        entry.append(digest_or_gone(bench.worktree, change.path))
    return fingerprint(told)


SHELL = Tool(name="shell", acts=_acts, prepare=_prepare, brings=None)
