"""`run --goal`: ask the architecture designer for a plan, show it, and write it once a person has confirmed it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from aircoding.agents.loop import run_session
from aircoding.app.extensions import load_extensions
from aircoding.app.models import open_provider
from aircoding.app.policies import open_policies
from aircoding.app.project import Project
from aircoding.app.wiring import World, freeze_run, wire
from aircoding.errors import UsageError
from aircoding.fleet.engine import DirectEngine
from aircoding.graph.plan_file import parse_plan, plan_text
from aircoding.graph.task_graph import TaskGraph
from aircoding.records.events import Event
from aircoding.records.ids import RunId, TaskId, session_id
from aircoding.records.layers import Mode
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionBrief, SessionOutcome
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.sources.project_files import create_project_text, require_project_place
from aircoding.workspace.clock import SystemClock
from aircoding.workspace.locks import RunLock
from aircoding.workspace.sandbox import choose_sandbox

__all__ = ["plan_for_goal"]

_TASK = TaskId("PLAN")


def plan_for_goal(
    project: Project,
    goal: str,
    *,
    base: Path,
    report: Callable[[Event], None],
    say: Callable[[str], None],
    confirm: Callable[[str], bool | None],
) -> None:
    """Get a plan for a goal and write it to the project's plan file.

    The conversation with the designer is a run of its own, on record like any other.

    Raises:
        UsageError: there is a plan already, nobody confirmed the new one, or the designer gave none.
        ConfigError: the plan's place is a link, or lies below one that leads out of the project.
    """
    path = project.plan_path(None)
    name = path.relative_to(project.root).as_posix()
    require_project_place(project.root, name, replaced=True)
    if path.exists():
        raise _is_there(name)
    outcome = _ask(project, goal, base=base, report=report)
    plan = _plan_of(outcome)
    text = plan_text(plan)
    say(text)
    if not confirm("Write this plan and run it?"):
        raise UsageError(
            "nobody confirmed the plan, so nothing was written and nothing runs",
            hint="run on a terminal, or give --yes once you know what the designer does",
            code="plan.unconfirmed",
        )
    if not create_project_text(project.root, name, text):
        raise _is_there(name)


def _is_there(name: str) -> UsageError:
    return UsageError(
        "the project has a plan already, so --goal would not be used",
        hint=f"run without --goal, or move {name} away first",
        code="plan.exists",
    )


def _plan_of(outcome: SessionOutcome) -> Plan:
    """Read the proposed plan as strictly as a file."""
    import yaml

    proposed = outcome.result.get("plan")
    if outcome.status != "done" or not proposed:
        raise UsageError(
            f"the architecture designer gave no plan: {outcome.summary or outcome.stop}",
            hint="say more in the goal, or write a plan (docs/reference/plan.md)",
            code="plan.none",
        )
    plan = parse_plan(yaml.safe_dump(dict(proposed), sort_keys=False), "the designer's plan")
    TaskGraph.of(plan)
    return plan


def _ask(project: Project, goal: str, *, base: Path, report: Callable[[Event], None]) -> SessionOutcome:
    settings = project.settings
    provider, model = open_provider(settings.model.provider, settings, base=base)
    sandbox = choose_sandbox(settings.sandbox.backend, settings.sandbox.limits)
    confined = sandbox.report.backend != "none" or settings.sandbox.allow_unconfined
    with project.open_store(create=True) as store:
        policies = open_policies(project, confined=confined)
        world = World(
            project=project,
            policies=policies,
            provider=provider,
            sandbox=sandbox,
            store=store,
            report=report,
            extensions=load_extensions(project, policies, sandbox=sandbox),
        )
        task = TaskSpec(id=_TASK, title="Plan for a goal", description=goal, role="architecture_designer")
        run = _planning_run(world, goal, model, task)
        with RunLock(project.local / "runs" / f"{run.run_id}.lock"):
            store.runs.create(run)
            store.claim(run.run_id)
            status = "failed"
            try:
                outcome = asyncio.run(_session(world, run, task))
                status = "done" if outcome.status == "done" else "failed"
                return outcome
            finally:
                store.runs.finish(run.run_id, status)


def _planning_run(world: World, goal: str, model: str, task: TaskSpec) -> Run:
    project, store = world.project, world.store
    run_id = RunId(f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}")
    plan = Plan(goal=goal, tasks=(task,))
    return Run(
        run_id=run_id,
        goal=goal,
        status="running",
        created_at=SystemClock().now(),
        project_root=str(project.root),
        base_commit=project.repository.head(),
        target_branch=None,
        integration_branch=f"air/{run_id}/integration",
        provider=project.settings.model.provider or "",
        model=model,
        concurrency=1,
        plan_digest=store.texts.put(plan_text(plan)),
        run_revision=freeze_run(world, None),
        max_cost_usd=project.settings.run.max_cost_usd,
        sandbox=world.sandbox.report.backend,
        confined=world.policies.confined,
        profile=project.settings.identity.profile,
    )


async def _session(world: World, run: Run, task: TaskSpec) -> SessionOutcome:
    project = world.project
    deps, _ = wire(world, run, Plan(goal=run.goal, tasks=(task,)))
    root = project.repository.add_worktree(
        f"{run.run_id}/plan", branch=f"air/{run.run_id}/plan", commit=run.base_commit
    )
    brief = SessionBrief(
        session_id=session_id(RunId(run.run_id), task.id, 1, task.role, 1),
        role=task.role,
        model=run.model,
        mode=Mode.FULL,
        task=task,
        worktree=root,
        base_commit=run.base_commit,
        run_revision=run.run_revision,
        instruction=f"Propose a plan for this goal, and return it as `plan`: {run.goal}",
        max_turns=project.settings.run.max_turns,
        max_cost_usd=run.max_cost_usd,
    )
    try:
        return await run_session(replace(deps.session, engine=DirectEngine(), budget=None), brief)
    finally:
        project.repository.remove_worktree(root)
