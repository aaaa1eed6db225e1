"""Which hooks hold here: those of installed plugins, and the project's once the user trusts them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aircoding.agents.hook_process import project_hook_call
from aircoding.agents.hooks import HookDispatcher
from aircoding.app.policies import LivePolicies, Policies, open_policies
from aircoding.app.project import Project, open_project
from aircoding.app.screener import open_screener
from aircoding.errors import NotFoundError, UsageError
from aircoding.ports import Sandbox
from aircoding.records.hooks import Extensions, Hook, HookEvent, HookResult, PluginFault, ProjectHook, ProjectHooks
from aircoding.records.ids import Digest, RunId, SessionId, TaskId, session_id
from aircoding.records.layers import Layer, Mode, Trust
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import ToolSpec
from aircoding.records.tasks import TaskSpec
from aircoding.sources.installation import approve, approved
from aircoding.sources.project_hooks import HOOKS_FILE, read_project_hooks
from aircoding.sources.role_text import tool_names
from aircoding.sources.roles import TOOL_CATEGORIES
from aircoding.workspace.sandbox import choose_sandbox

__all__ = [
    "HookView",
    "HooksReport",
    "TrustedHooks",
    "dispatcher_in_memory",
    "hooks_report",
    "load_extensions",
    "load_plugins_of",
]
__all__ += ["run_hook", "tool_specs_of", "trust_hooks", "untrusted_hooks"]

_NOT_TRUSTED = "not run: you have not trusted it as it is now; see `aircoding hooks trust`"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookView:
    """One hook as `hooks list` shows it; `why` says why it is not run, or what it is trusted by."""

    event: str
    name: str
    source: str
    trusted: bool
    why: str
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksReport:
    """All hooks in the order in which they are asked, and what takes no part."""

    hooks: tuple[HookView, ...]
    faults: tuple[PluginFault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedHooks:
    """What the user trusts with a project's hooks: the hooks, and the digest of each file."""

    hooks: tuple[ProjectHook, ...]
    files: Mapping[str, Digest]
    digest: Digest
    trusted: bool


def load_plugins_of(project: Project, policies: Policies) -> Extensions:
    """Return what the installed plugins registered, without those that the settings switch off.

    A tool whose own description would be blocked in a prompt is refused.
    """
    from aircoding.plugins.loading import load_plugins

    loaded = load_plugins(
        disabled=project.settings.plugins.disabled, tool_categories=TOOL_CATEGORIES, taken_tools=tool_names()
    )
    screener = open_screener(project, policies)
    kept, faults = {}, list(loaded.faults)
    for name, tool in loaded.tools.items():
        text = f"{tool.spec.description}\n{tool.spec.input_schema}"
        blocking = [one for one in screener.findings(text, uri=tool.spec.uri, trust=Trust.USER) if one.blocks]
        if blocking or screener.mask(text) != text:
            reason = blocking[0].detail or blocking[0].code if blocking else "it holds a secret"
            faults.append(PluginFault(name=tool.spec.uri, reason=f"its description may not be sent: {reason}"))
        else:
            kept[name] = tool
    return replace(loaded, tools=kept, faults=tuple(faults))


def load_extensions(project: Project, policies: Policies, *, sandbox: Callable[[], Sandbox]) -> Extensions:
    """Return what plugins registered and the project's trusted hooks, in the order in which they are asked.

    Args:
        project: whose hooks and settings count.
        policies: judge the commands of its hooks, as their files are at that moment.
        sandbox: confines them; asked for only when there are any.
    """
    loaded = load_plugins_of(project, policies)
    found = read_project_hooks(project.root)
    if found is None:
        return loaded
    faults = [PluginFault(name=HOOKS_FILE, reason=fault) for fault in found.faults]
    if not faults and not _is_trusted(project, found):
        faults.append(PluginFault(name=HOOKS_FILE, reason=_NOT_TRUSTED))
    hooks = () if faults else _project_hooks(project, found, policies, sandbox())
    return replace(loaded, hooks=(*loaded.hooks, *hooks), faults=(*loaded.faults, *faults))


def tool_specs_of(extensions: Extensions) -> tuple[ToolSpec, ...]:
    """Return the tools of plugins as a model sees them, by name."""
    return tuple(tool.spec for _, tool in sorted(extensions.tools.items()))


def _is_trusted(project: Project, found: ProjectHooks) -> bool:
    return found.digest in approved(project.home, project.root)


def _project_hooks(project: Project, found: ProjectHooks, policies: Policies, sandbox: Sandbox) -> tuple[Hook, ...]:
    live = LivePolicies(project, policies, report=lambda _problem: None)
    return tuple(
        Hook(
            name=f"hook/{hook.name}",
            event=hook.event,
            source_uri=hook.source_uri,
            trust=Trust.PROJECT,
            call=project_hook_call(
                hook,
                trusted=found.digest,
                read=functools.partial(read_project_hooks, project.root),
                sandbox=sandbox,
                root=str(project.root),
                policy_for=lambda role: live.now().for_role(live.now().profile(role), None),
            ),
            layer=Layer.L3,
            timeout_seconds=hook.timeout_seconds,
        )
        for hook in found.hooks
    )


def hooks_report(start: Path) -> HooksReport:
    """Return every hook that is there, trusted or not.

    Raises:
        ConfigError: a policy, or what was approved, cannot be read.
    """
    project = open_project(start)
    loaded = load_plugins_of(project, open_policies(project, confined=True))
    views = [
        HookView(
            event=hook.event.value,
            name=hook.name,
            source=hook.source_uri,
            trusted=True,
            why="you installed the plugin",
            timeout_seconds=hook.timeout_seconds,
        )
        for hook in loaded.hooks
    ]
    found = read_project_hooks(project.root)
    if found is None:
        return HooksReport(hooks=tuple(views), faults=loaded.faults)
    trusted = _is_trusted(project, found)
    views += [
        HookView(
            event=hook.event.value,
            name=f"hook/{hook.name}",
            source=hook.source_uri,
            trusted=trusted,
            why=f"you trusted {found.digest[:12]}" if trusted else _NOT_TRUSTED,
            timeout_seconds=hook.timeout_seconds,
        )
        for hook in found.hooks
    ]
    faults = (PluginFault(name=HOOKS_FILE, reason=fault) for fault in found.faults)
    return HooksReport(hooks=tuple(views), faults=(*loaded.faults, *faults))


def untrusted_hooks(start: Path) -> TrustedHooks:
    """Return what `hooks trust` is about to trust.

    Raises:
        NotFoundError: the project has no hooks.
        UsageError: the file has a fault: nobody can trust what cannot be read.
    """
    project = open_project(start)
    found = read_project_hooks(project.root)
    if found is None:
        raise NotFoundError(f"there is no {HOOKS_FILE}", hint="docs/how-to/use-project-hooks.md shows one")
    if found.faults:
        raise UsageError("; ".join(found.faults), hint="correct it first", code="hooks.invalid")
    return TrustedHooks(hooks=found.hooks, files=found.files, digest=found.digest, trusted=_is_trusted(project, found))


def trust_hooks(start: Path, digest: Digest) -> None:
    """Trust the project's hooks as they were shown.

    Raises:
        UsageError: a file was changed since.
    """
    project = open_project(start)
    if untrusted_hooks(start).digest != digest:
        raise UsageError("a file was changed meanwhile", hint="look at it and trust it anew", code="hooks.changed")
    approve(project.home, project.root, [digest])


def run_hook(start: Path, name: str, *, event: str | None, facts: Mapping[str, Any]) -> tuple[HookResult, ...]:
    """Ask one hook now, with facts of a made-up session under those that are given, and return what came of it.

    Raises:
        NotFoundError: no hook that may be run has this name, or this event.
        UsageError: more than one does.
    """
    project = open_project(start)
    policies = open_policies(project, confined=True)
    extensions = load_extensions(project, policies, sandbox=lambda: choose_sandbox(project.settings.sandbox.backend))
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
