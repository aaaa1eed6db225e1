"""What takes part in a run beside our own code: installed plugins, and a project's hooks once the user trusts them."""

from __future__ import annotations

import functools
from dataclasses import replace

from aircoding.agents.hook_process import project_hook_call
from aircoding.app.policies import LivePolicies, Policies
from aircoding.app.project import Project
from aircoding.app.screener import open_screener
from aircoding.ports import Sandbox
from aircoding.records.hooks import Extensions, Hook, PluginFault, ProjectHooks
from aircoding.records.layers import Layer, Trust
from aircoding.records.snapshot import ToolSpec
from aircoding.sources.installation import approved
from aircoding.sources.project_hooks import HOOKS_FILE, read_project_hooks
from aircoding.sources.role_text import tool_names
from aircoding.sources.roles import TOOL_CATEGORIES
from aircoding.workspace.sandbox import choose_sandbox

__all__ = ["NOT_TRUSTED", "are_trusted", "load_extensions", "load_plugins_of", "tool_specs_of"]

NOT_TRUSTED = "not run: you have not trusted it as it is now; see `aircoding hooks trust`"


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


def load_extensions(project: Project, policies: Policies, *, sandbox: Sandbox | None = None) -> Extensions:
    """Return what plugins registered and the project's trusted hooks, in the order in which they are asked.

    Args:
        project: whose hooks and settings count.
        policies: judge the commands of its hooks, as their files are at that moment.
        sandbox: confines them in a run, as `policies` know. None: outside of a run, where what the settings say is
            chosen once there are any.
    """
    loaded = load_plugins_of(project, policies)
    found = read_project_hooks(project.root)
    if found is None:
        return loaded
    faults = [PluginFault(name=HOOKS_FILE, reason=fault) for fault in found.faults]
    if not faults and not are_trusted(project, found):
        faults.append(PluginFault(name=HOOKS_FILE, reason=NOT_TRUSTED))
    hooks = () if faults else _project_hooks(project, found, *_confinement(project, policies, sandbox))
    return replace(loaded, hooks=(*loaded.hooks, *hooks), faults=(*loaded.faults, *faults))


def tool_specs_of(extensions: Extensions) -> tuple[ToolSpec, ...]:
    """Return the tools of plugins as a model sees them, by name."""
    return tuple(tool.spec for _, tool in sorted(extensions.tools.items()))


def are_trusted(project: Project, found: ProjectHooks) -> bool:
    """Whether the user trusts the project's hooks as they are now."""
    return found.digest in approved(project.home, project.root)


def _confinement(project: Project, policies: Policies, sandbox: Sandbox | None) -> tuple[Policies, Sandbox]:
    """Return the policies that know whether a sandbox stands behind the hooks, and the sandbox."""
    if sandbox is not None:
        return policies, sandbox
    settings = project.settings.sandbox
    chosen = choose_sandbox(settings.backend, settings.limits)
    return replace(policies, confined=chosen.report.backend != "none" or settings.allow_unconfined), chosen


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
