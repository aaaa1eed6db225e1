"""Put a fleet together: which edge stands behind each port of one run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aircoding.agents.deps import SessionDeps
from aircoding.agents.touched import touched_paths
from aircoding.app.models import next_try
from aircoding.app.policies import Policies
from aircoding.app.project import Project
from aircoding.app.rulings import routed_of
from aircoding.app.screener import open_screener
from aircoding.errors import ConfigError, InternalError
from aircoding.fleet.deps import FleetDeps, Preparation
from aircoding.fleet.drive import workflows
from aircoding.fleet.engine import DurableEngine, Workflow
from aircoding.ports import EventLog, Provider, Sandbox
from aircoding.records.events import Event
from aircoding.records.runs import Run
from aircoding.records.tasks import Plan
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.sources.gather import FileGatherer
from aircoding.sources.gather import Project as Sources
from aircoding.sources.role_text import result_schema
from aircoding.sources.rule_files import RuleSwitches
from aircoding.workspace.clock import SystemClock
from aircoding.workspace.worktree import GitWorktree

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["ReportingLog", "World", "open_gatherer", "wire"]

Report = Callable[[Event], None]


class ReportingLog:
    """An event log that also tells a listener of each event that is new."""

    def __init__(self, log: EventLog, report: Report, *, seen: int) -> None:
        self._log, self._report, self._seen = log, report, seen

    def append(self, *events: Event) -> tuple[int, ...]:
        """Store events, then report those that were not there before."""
        numbers = self._log.append(*events)
        for event, number in zip(events, numbers, strict=True):
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


def open_gatherer(world: World, plan: Plan | None) -> FileGatherer:
    """Return the gatherer of a project's sources."""
    project, store = world.project, world.store
    return FileGatherer(
        project=Sources(
            root=project.root,
            home=project.home,
            trusted=project.trusted,
            switches=RuleSwitches(agents_md=project.settings.rules.agents_md),
        ),
        plan=plan,
        open_worktree=GitWorktree,
        blobs=store.texts,
        screener=open_screener(project, world.policies),
        clock=SystemClock(),
        policy_for=world.policies.for_role,
        limits_for=world.provider.limits,
        touched_by=lambda session: touched_paths(store.tools.records(session)),
        ruled_in=store.rulings.rulings,
        routed_to=routed_of(store),
    )


def wire(world: World, run: Run, plan: Plan) -> tuple[FleetDeps, DurableEngine]:
    """Return the fleet of a run, and its engine, which knows its workflows and is not launched yet."""
    project, store, policies = world.project, world.store, world.policies
    clock, screener = SystemClock(), open_screener(project, policies)
    seen = store.events.read(run.run_id)
    events = ReportingLog(store.events, world.report, seen=seen[-1].seq if seen else 0)
    holder: list[FleetDeps] = []
    database = project.settings.store.url or str(project.local / "engine.db")
    engine = DurableEngine(database, executor_id=run.run_id, workflows=_late(holder))
    session = SessionDeps(
        provider=world.provider,
        engine=engine,
        clock=clock,
        screener=screener,
        gatherer=open_gatherer(world, plan),
        sandbox=world.sandbox,
        assemblies=store.assemblies,
        sessions=store.sessions,
        ledger=store.calls,
        tool_log=store.tools,
        events=events,
        blobs=store.texts,
        open_worktree=GitWorktree,
        policy_for=policies.for_brief,
        result_schema_for=lambda role: result_schema(policies.profile(role)) or {},
        next_try=next_try(),
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
        policy_for_task=policies.for_task,
        copy_files=lambda globs, root: _copy(project.root, globs, Path(root)),
        preparation=Preparation(
            setup=settings.worktree.setup,
            copy=settings.worktree.copy_files,
            cache=settings.worktree.cache,
            env=tuple(sorted(settings.worktree.env.items())),
            network=settings.worktree.network,
        ),
        command_timeout_seconds=settings.run.command_timeout_seconds,
        max_turns=settings.run.max_turns,
    )
    holder.append(deps)
    return deps, engine


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
        ConfigError: a glob leads out of the project.
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
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, destination)
