"""Ask hooks outside of a run, on no record: `aircoding hooks run`, and a prompt that is only built."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aircoding.agents.hooks import HookDispatcher
from aircoding.app.extensions import load_extensions
from aircoding.app.policies import Policies, open_policies
from aircoding.app.project import Project, open_project
from aircoding.app.screener import open_screener
from aircoding.errors import NotFoundError, UsageError
from aircoding.records.hooks import Extensions, HookEvent, HookResult
from aircoding.records.ids import RunId, SessionId, TaskId, session_id
from aircoding.records.layers import Mode
from aircoding.records.sessions import SessionBrief
from aircoding.records.tasks import TaskSpec

__all__ = ["dispatcher_in_memory", "run_hook"]


def run_hook(start: Path, name: str, *, event: str | None, facts: Mapping[str, Any]) -> tuple[HookResult, ...]:
    """Ask one hook now, with facts of a made-up session under those that are given, and return what came of it.

    Raises:
        NotFoundError: no hook that may be run has this name, or this event.
        UsageError: more than one does.
    """
    project = open_project(start)
    policies = open_policies(project, confined=True)
    extensions = load_extensions(project, policies)
    named = [one for one in extensions.hooks if name in {one.name, one.name.removeprefix("hook/")}]
    found = [one for one in named if event in {None, one.event.value}]
    if not found:
        faults = "; ".join(f"{fault.name}: {fault.reason}" for fault in extensions.faults)
        raise NotFoundError(
            f"no hook {name} can be run" + (f" on {event}" if event else "") + (f" ({faults})" if faults else ""),
            hint="`aircoding hooks list` shows them, and why one is not run",
        )
    if len(found) > 1:
        events = ", ".join(one.event.value for one in found)
        raise UsageError(f"{name} is more than one hook: {events}", hint="name one with --event")
    one = found[0]
    dispatcher = dispatcher_in_memory(project, policies, replace(extensions, hooks=(one,)))
    told = {**_MADE_UP.get(one.event, {}), **facts}
    results, _ = asyncio.run(dispatcher.ask(_made_up_brief(project), one.event, "try", turn=1, facts=told))
    return results


def dispatcher_in_memory(project: Project, policies: Policies, extensions: Extensions) -> HookDispatcher:
    """Return a dispatcher that records nothing."""
    return HookDispatcher(
        extensions.hooks,
        _MemoryHooks(),
        open_screener(project, policies),
        profile=project.settings.identity.profile,
        project_root=str(project.root),
    )


class _MemoryHooks:
    """What hooks said in one command; nothing is recorded."""

    def record(self, session_id: SessionId, results: Sequence[HookResult]) -> None:
        """Keep nothing: the dispatcher has it."""

    def results(self, session_id: SessionId) -> tuple[HookResult, ...]:  # noqa: ARG002 - nothing is kept
        """Return nothing."""
        return ()


_MADE_UP: Mapping[HookEvent, Mapping[str, Any]] = {
    HookEvent.BEFORE_PROMPT_BUILD: {"epoch": 1},
    HookEvent.INSTRUCTIONS_LOADED: {"reason": "session_start", "uris": []},
    HookEvent.PRE_TOOL_USE: {"tool_name": "fs_read", "tool_input": {"path": "README.md"}},
    HookEvent.POST_TOOL_USE: {
        "tool_name": "fs_read",
        "tool_input": {"path": "README.md"},
        "tool_result": "",
        "is_error": False,
    },
}
"""What a hook that is tried is told of its event where nobody says it."""


def _made_up_brief(project: Project) -> SessionBrief:
    return SessionBrief(
        session_id=session_id(RunId("try"), TaskId("none"), 1, "executor", 1),
        role="executor",
        model="none",
        mode=Mode.MINIMAL,
        task=TaskSpec(id=TaskId("none"), title="No task"),
        worktree=str(project.root),
        base_commit=project.repository.head(),
        run_revision="",
        instruction="",
    )
