"""What `aircoding hooks list` and `trust` do: show every hook with its files, and take the user's word for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.extensions import NOT_TRUSTED, are_trusted, load_plugins_of
from aircoding.app.policies import open_policies
from aircoding.app.project import open_project
from aircoding.errors import NotFoundError, UsageError
from aircoding.records.hooks import PluginFault, ProjectHook
from aircoding.records.ids import Digest
from aircoding.sources.installation import approve
from aircoding.sources.project_hooks import HOOKS_FILE, read_project_hooks

__all__ = ["HookView", "HooksReport", "TrustedHooks", "hooks_report", "trust_hooks", "untrusted_hooks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookView:
    """One hook as `hooks list` shows it; `why` says why it is not run, or what it is trusted by.

    `files` are those of the project that the trust in it covers, beside `hooks.yaml`.
    """

    event: str
    name: str
    source: str
    trusted: bool
    why: str
    timeout_seconds: float
    files: tuple[str, ...] = ()


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
    trusted = are_trusted(project, found)
    views += [
        HookView(
            event=hook.event.value,
            name=f"hook/{hook.name}",
            source=hook.source_uri,
            trusted=trusted,
            why=f"you trusted {found.digest[:12]}" if trusted else NOT_TRUSTED,
            timeout_seconds=hook.timeout_seconds,
            files=found.covered.get(hook.name, ()),
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
    return TrustedHooks(hooks=found.hooks, files=found.files, digest=found.digest, trusted=are_trusted(project, found))


def trust_hooks(start: Path, digest: Digest) -> None:
    """Trust the project's hooks as they were shown.

    Raises:
        UsageError: a file was changed since.
    """
    project = open_project(start)
    if untrusted_hooks(start).digest != digest:
        raise UsageError("a file was changed meanwhile", hint="look at it and trust it anew", code="hooks.changed")
    approve(project.home, project.root, [digest])
