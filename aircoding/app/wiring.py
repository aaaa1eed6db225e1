"""Put a fleet together: which edge stands behind each port of one run."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aircoding.agents.cache_watch import CacheWatch
from aircoding.agents.deps import SessionDeps
from aircoding.agents.hooks import HookDispatcher
from aircoding.agents.prefix_gate import PrefixGate
from aircoding.agents.run_budget import RunBudget
from aircoding.agents.tools.plugin_tools import plugin_tool
from aircoding.agents.touched import baselines, touched_paths
from aircoding.app.estimators import estimators_of
from aircoding.app.extensions import tool_specs_of
from aircoding.app.models import cache_rules_for, next_try
from aircoding.app.policies import LivePolicies, Policies
from aircoding.app.project import Project
from aircoding.app.rule_sources import rule_homes, rule_switches
from aircoding.app.rulings import routed_of, suspicions_of
from aircoding.app.screener import open_screener
from aircoding.app.skills import skill_switches
from aircoding.audit.redaction import Mask, masked_value
from aircoding.errors import ConfigError, InternalError
from aircoding.fleet.deps import FleetDeps, Preparation
from aircoding.fleet.drive import workflows
from aircoding.fleet.engine import DurableEngine, Workflow
from aircoding.ports import EventLog, Provider, Sandbox
from aircoding.records.digests import sha256_text
from aircoding.records.events import Event
from aircoding.records.hooks import Extensions
from aircoding.records.ids import RunId
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import ModelLimits
from aircoding.records.tasks import Plan
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.sources.gather import FileGatherer
from aircoding.sources.gather import Project as Sources
from aircoding.sources.memory_files import AgentMemories
from aircoding.sources.project_files import project_folder
from aircoding.sources.role_text import reminders, result_schema
from aircoding.sources.skill_shelf import FileShelf
from aircoding.workspace.clock import SystemClock
from aircoding.workspace.repository import main_root
from aircoding.workspace.room import is_full
from aircoding.workspace.worktree import GitWorktree

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["ReportingLog", "World", "freeze_run", "open_gatherer", "sources_of", "wire"]

Report = Callable[[Event], None]


class ReportingLog:
    """An event log that masks what it is given, and also tells a listener of each event that is new."""

    def __init__(self, log: EventLog, report: Report, mask: Mask, *, seen: int) -> None:
        self._log, self._report, self._mask, self._seen = log, report, mask, seen

    def append(self, *events: Event) -> tuple[int, ...]:
        """Store events without their secrets, then report those that were not there before."""
        masked = [replace(event, payload=masked_value(event.payload, self._mask)) for event in events]
        numbers = self._log.append(*masked)
        for event, number in zip(masked, numbers, strict=True):
            if number > self._seen:
                self._seen = number
                self._report(replace(event, seq=number))
        return numbers

    def read(self, run_id: str, *, after: int = 0, limit: int | None = None) -> tuple[Event, ...]:
        """Read from the log."""
        return self._log.read(run_id, after=after, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a run stands on."""

    project: Project
    policies: Policies
    provider: Provider
    sandbox: Sandbox
    store: Store
    report: Report
    extensions: Extensions = field(default_factory=Extensions)


_NO_EXTENSIONS = Extensions()


def sources_of(project: Project, extensions: Extensions) -> Sources:
    """Return where a project's sources lie, and what plugins add to them."""
    return Sources(
        root=project.root,
        home=project.home,
        trusted=project.trusted,
        switches=rule_switches(project.settings.rules),
        homes=rule_homes(),
        profile=project.settings.identity.profile,
        skills=skill_switches(project.settings.skills),
        plugin_skills=extensions.skills,
        skill_triggers=extensions.triggers,
        memory_root=Path(main_root(project.root)),
    )


def open_gatherer(
    project: Project,
    policies: Policies,
    store: Store,
    plan: Plan | None,
    *,
    limits_for: Callable[[str], ModelLimits],
    live: LivePolicies | None = None,
    extensions: Extensions = _NO_EXTENSIONS,
) -> FileGatherer:
    """Return the gatherer of a project's sources; with `live`, policies are those that hold at each request."""
    return FileGatherer(
        project=sources_of(project, extensions),
        plan=plan,
        open_worktree=GitWorktree,
        blobs=store.texts,
        estimator_for=estimators_of(store),
        screener=open_screener(project, policies),
        clock=SystemClock(),
        policy_for=policies.for_role if live is None else lambda *asked: live.now().for_role(*asked),
        limits_for=limits_for,
        touched_by=lambda session: touched_paths(store.tools.records(session)),
        baselines_of=lambda session: baselines(store.tools.records(session)),
        ruled_in=store.rulings.rulings,
        suspected_in=suspicions_of(store),
        routed_to=routed_of(store),
        plugin_tools=tool_specs_of(extensions),
    )


def freeze_run(world: World, plan: Plan | None) -> str:
    """Freeze the shared text of a run that is about to start and return its revision."""
    gatherer = open_gatherer(
        world.project,
        world.policies,
        world.store,
        plan,
        limits_for=world.provider.limits,
        extensions=world.extensions,
    )
    return gatherer.freeze_run()


def wire(world: World, run: Run, plan: Plan) -> tuple[FleetDeps, DurableEngine]:
    """Return the fleet of a run, and its engine, which knows its workflows and is not launched yet."""
    project, store = world.project, world.store
    policies = replace(world.policies, plugin_tools=tool_specs_of(world.extensions))
    told = {"profile": project.settings.identity.profile, "project_root": str(project.root)}
    clock, screener = SystemClock(), open_screener(project, policies)
    seen = store.events.read(run.run_id)
    events = ReportingLog(store.events, world.report, screener.mask, seen=seen[-1].seq if seen else 0)
    live = LivePolicies(project, policies, report=lambda problem: _report_policy(events, run, clock.now(), problem))
    holder: list[FleetDeps] = []
    database = project.settings.store.url or str(project.local / "engine.db")
    engine = DurableEngine(database, executor_id=run.run_id, workflows=_late(holder))
    session = SessionDeps(
        provider=world.provider,
        engine=engine,
        clock=clock,
        screener=screener,
        gatherer=open_gatherer(
            project,
            policies,
            store,
            plan,
            limits_for=world.provider.limits,
            live=live,
            extensions=world.extensions,
        ),
        sandbox=world.sandbox,
        assemblies=store.assemblies,
        sessions=store.sessions,
        ledger=store.calls,
        tool_log=store.tools,
        events=events,
        blobs=store.texts,
        open_worktree=GitWorktree,
        policy_for=lambda brief: live.now().for_brief(brief),
        result_schema_for=lambda role: result_schema(policies.profile(role)) or {},
        next_try=next_try(),
        reminders=reminders(),
        skills=lambda: FileShelf(sources_of(project, world.extensions).read_skills),
        revision_for=lambda brief: _revision(holder, brief),
        budget=RunBudget(run.max_cost_usd, lambda: store.calls.spent_usd(run.run_id)),
        gate=PrefixGate(time.monotonic),
        cache_watch=CacheWatch(cache_rules_for(world.provider)),
        hooks=HookDispatcher(world.extensions.hooks, store.hooks, screener, **told),
        plugin_tools={name: plugin_tool(tool, **told) for name, tool in world.extensions.tools.items()},
        memories=AgentMemories(
            Path(main_root(project.root)),
            project.home,
            project.settings.identity.profile,
            trusted=lambda: project.trusted,
        ),
        is_trusted=lambda: project.trusted,
    )
    settings = project.settings
    deps = FleetDeps(
        run=run,
        plan=plan,
        session=session,
        engine=engine,
        clock=clock,
        events=events,
        blobs=store.texts,
        runs=store.runs,
        sessions=store.sessions,
        ledger=store.calls,
        repository=project.repository,
        sandbox=world.sandbox,
        policy_for_task=lambda task: live.now().for_task(task),
        copy_files=lambda globs, root: _copy(project.root, globs, Path(root)),
        is_full=lambda: is_full(project.local) or is_full(project.root),
        preparation=Preparation(
            setup=settings.worktree.setup,
            copy=settings.worktree.copy_files,
            cache=settings.worktree.cache,
            env=tuple(sorted(settings.worktree.env.items())),
            network=settings.worktree.network,
        ),
        command_timeout_seconds=settings.run.command_timeout_seconds,
        max_turns=settings.run.max_turns,
        max_idle_turns=settings.run.max_idle_turns,
    )
    holder.append(deps)
    return deps, engine


def _report_policy(events: EventLog, run: Run, at: str, problem: str) -> None:
    payload = {"problem": problem, "holds": "the policy as it was before this change"}
    key = f"policy.invalid:{sha256_text(problem + at)}"
    events.append(Event(run_id=RunId(run.run_id), type="policy.invalid", at=at, payload=payload, key=key))


def _revision(holder: list[FleetDeps], brief: SessionBrief) -> str:
    """Return the revision of the run's frozen text that holds now: that of the brief until somebody reloads."""
    return (holder[0].journal.state.run_revision if holder else None) or brief.run_revision


def _late(holder: list[FleetDeps]) -> dict[str, Workflow]:
    """Return workflows that find the fleet when they run: engine and fleet need each other."""

    def of(name: str) -> Workflow:
        async def workflow(*arguments: str) -> Any:
            if not holder:
                raise InternalError("a workflow ran before its fleet was there")
            return await workflows(holder[0])[name](*arguments)

        return workflow

    return {name: of(name) for name in ("attempt", "session")}


def _copy(root: Path, globs: tuple[str, ...], target: Path) -> None:
    """Copy files that git ignores into a new worktree.

    Raises:
        ConfigError: a glob leads out of the project, or a folder of the worktree is a link that leads out of it.
    """
    matcher = compile_globs(globs, Dialect.ROOT_ANCHORED)
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in {".git", ".air", "node_modules"})
        for name in sorted(names):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if not matcher.matches(relative):
                continue
            if not path.resolve().is_relative_to(root.resolve()):
                raise ConfigError(
                    f"[worktree] copy: {relative} leads out of the project", hint="copy only its own files"
                )
            destination = target / relative
            if destination.is_symlink():
                continue  # it is git's, and is there already
            project_folder(target, relative)
            shutil.copy2(path, destination)
