"""Start a run, or go on with one."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.extensions import load_extensions
from aircoding.app.garbage import settle
from aircoding.app.models import open_provider
from aircoding.app.money import unpriced_models
from aircoding.app.plan_conflicts import find_conflicts
from aircoding.app.plans import load_plan, trust_command
from aircoding.app.policies import Policies, open_policies
from aircoding.app.project import Project, as_profile, open_project
from aircoding.app.pruning import let_go_of_texts
from aircoding.app.run_results import RunResult, lock_of, result_of
from aircoding.app.screener import require_without_secret
from aircoding.app.trusting import untrusted_in_words
from aircoding.app.wiring import World, freeze_run, wire
from aircoding.errors import NotFoundError, ProjectError, StoreError, UsageError
from aircoding.fleet.approvals import commands_to_approve
from aircoding.fleet.deps import FleetDeps, append
from aircoding.fleet.drive import drive
from aircoding.fleet.engine import DurableEngine
from aircoding.fleet.rule_judge import judge_rules
from aircoding.graph.plan_file import parse_plan
from aircoding.records.digests import sha256_text
from aircoding.records.events import Event
from aircoding.records.hooks import Extensions
from aircoding.records.ids import RunId
from aircoding.records.jsonable import jsonable
from aircoding.records.runs import Run
from aircoding.records.tasks import Plan
from aircoding.records.words import counted, dollars
from aircoding.settings import Settings
from aircoding.sources.installation import approve
from aircoding.workspace.clock import SystemClock
from aircoding.workspace.sandbox import choose_sandbox

if TYPE_CHECKING:
    from aircoding.ports import Sandbox
    from aircoding.store import Store

__all__ = ["RunRequest", "confinement", "resume_run", "start_run", "unfinished_run"]

Report = Callable[[Event], None]
Say = Callable[[str], None]
Confirm = Callable[[str], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What `run` was asked for; None: as the settings say."""

    start: Path
    plan_file: Path | None = None
    goal: str | None = None
    provider: str | None = None
    concurrency: int | None = None
    max_cost_usd: float | None = None
    profile: str | None = None
    sandbox: str | None = None
    allow_dirty: bool = False
    allow_unconfined: bool | None = None


def start_run(request: RunRequest, *, report: Report, say: Say, confirm: Confirm) -> RunResult:
    """Drive a plan from the start.

    Raises:
        UsageError: something about the call, the project, the plan or its commands is not in order.
        CredentialsError: the provider's key is missing.
    """
    project = as_profile(open_project(request.start, flags=_flags(request)), request.profile)
    if request.goal is not None:
        from aircoding.app.goals import plan_for_goal

        require_without_secret(project, request.goal, what="the goal")
        plan_for_goal(project, request.goal, base=request.start, report=report, say=say, confirm=confirm)
    _require_clean(project, request)
    provider, model = open_provider(project.settings.model.provider, project.settings, base=request.start)
    plan = load_plan(project, request.plan_file)
    require_without_secret(project, project.read_plan(request.plan_file)[0], what="the plan")
    sandbox, policies = confinement(project, say)
    _approve_commands(project, plan, policies, confirm=confirm, plan_file=request.plan_file)
    policies = replace(policies, approvals=open_policies(project, confined=policies.confined).approvals)
    known = find_conflicts(project, plan)
    extensions = load_extensions(project, policies, sandbox=sandbox)
    with project.open_store(create=True) as store:
        world = World(
            project=project,
            policies=policies,
            provider=provider,
            sandbox=sandbox,
            store=store,
            report=report,
            extensions=extensions,
        )
        run = _new_run(world, plan, model, request)
        with lock_of(project, run.run_id):
            store.runs.create(run)
            store.claim(run.run_id)
            deps, engine = wire(world, run, plan)
            say(_header(run, plan, project.settings))
            _say_untrusted(project, say)
            for model in unpriced_models(provider, {run.model, *(task.model or run.model for task in plan.tasks)}):
                say(
                    f"the price of {model} is not known, so no limit of money holds it back;"
                    f' add [prices."{model}"] to ~/.air/config.toml'
                )
            tasks = [{"id": task.id, "title": task.title} for task in plan.tasks]
            started = {"goal": run.goal, "base_commit": run.base_commit, "tasks": tasks}
            append(deps, "run.started", started, key="start")
            for fault in known.faults:
                append(deps, "source.invalid", jsonable(fault), key=f"{fault.uri}:{fault.line}:{fault.code}")
            for conflict in known.conflicts:
                append(deps, "conflict.found", jsonable(conflict), key=conflict.conflict_id)
            _tell_faults(deps, extensions)
            result = _drive(deps, engine, store, say, judge=project.settings.conflicts.judge)
        return _settled(project, store, result, say)


def resume_run(
    start: Path,
    run_id: str | None,
    *,
    max_cost_usd: float | None,
    report: Report,
    say: Say,
    allow_unconfined: bool | None = None,
    profile: str | None = None,
) -> RunResult:
    """Go on with a run; none named: the newest one that has not ended.

    `max_cost_usd` is the run's limit from now on, also for later resumes; None: the one that it has.

    Raises:
        NotFoundError: there is no such run, or none that could go on.
        UsageError: another process drives it, it has ended, or it was started with another profile.
    """
    flags = {"sandbox": {"allow_unconfined": allow_unconfined}}
    project = open_project(start, flags=flags)
    with project.open_store(write=True) as store:
        run = unfinished_run(store, run_id)
        project = as_profile(project, _kept_profile(run, profile))
        with lock_of(project, run.run_id):
            store.claim(run.run_id)
            if max_cost_usd is not None:
                store.runs.set_limit(run.run_id, max_cost_usd)
                run = replace(run, max_cost_usd=max_cost_usd)
            text = store.texts.get(run.plan_digest)
            if text is None:
                raise NotFoundError(f"the plan of run {run.run_id} is not kept", hint="start a new run")
            plan = parse_plan(text, f"air:run/{run.run_id}/plan")
            provider, _ = open_provider(run.provider, project.settings, base=Path(run.project_root))
            sandbox, policies = confinement(project, say, run)
            world = World(
                project=project,
                policies=policies,
                provider=provider,
                sandbox=sandbox,
                store=store,
                report=report,
                extensions=load_extensions(project, policies, sandbox=sandbox),
            )
            deps, engine = wire(world, run, plan)
            store.runs.finish(run.run_id, "running")
            _say_untrusted(project, say)
            append(deps, "run.resumed", {}, key=SystemClock().now())
            _tell_faults(deps, world.extensions)
            result = _drive(deps, engine, store, say, judge=project.settings.conflicts.judge)
        return _settled(project, store, result, say)


def _say_untrusted(project: Project, say: Say) -> None:
    """Say once that the project's own files do not instruct: what a worker then does looks as if it ignored them."""
    if said := untrusted_in_words(project):
        say(said)


def _settled(project: Project, store: Store, result: RunResult, say: Say) -> RunResult:
    """Let the texts of ended runs go whose settings asked for it; what was done stands whatever comes of that."""
    try:
        let_go_of_texts(project, store)
    except StoreError as error:
        say(f"the texts of run {result.run_id} are still kept: {error.message}; try `aircoding db prune --bodies-only`")
    return result


def _tell_faults(deps: FleetDeps, extensions: Extensions) -> None:
    """Put on record which plugins and hooks take no part in this run, each time that it begins or goes on."""
    for fault in extensions.faults:
        key = f"{fault.name}:{sha256_text(fault.reason)}:{deps.journal.state.resumptions}"
        append(deps, "plugin.left_out", {"name": fault.name, "reason": fault.reason}, key=key)


def _kept_profile(run: Run, asked: str | None) -> str | None:
    """Return the profile that a run goes on with: the one that it was started with."""
    if asked is not None and run.profile is not None and asked != run.profile:
        raise UsageError(
            f"run {run.run_id} was started with the profile `{run.profile}`, and keeps it",
            hint="leave out --profile, or start a new run with it",
            code="run.profile",
        )
    return run.profile or asked


def _flags(request: RunRequest) -> dict[str, dict[str, object]]:
    return {
        "model": {"provider": request.provider},
        "run": {"concurrency": request.concurrency, "max_cost_usd": request.max_cost_usd},
        "sandbox": {"backend": request.sandbox, "allow_unconfined": request.allow_unconfined},
    }


def _require_clean(project: Project, request: RunRequest) -> None:
    dirty = project.repository.dirty_paths()
    if dirty and not request.allow_dirty:
        more = f" and {len(dirty) - 3} more" if len(dirty) > 3 else ""
        raise ProjectError(
            f"there are uncommitted changes: {', '.join(dirty[:3])}{more}",
            hint="commit or stash them: workers start from HEAD and would not see them; or give --allow-dirty",
            code="project.dirty",
        )


def confinement(project: Project, say: Say, run: Run | None = None) -> tuple[Sandbox, Policies]:
    """Choose the sandbox once, and let the policy know whether it confines; a run keeps what it was started with.

    Raises:
        ConfigError: the run was started with a sandbox that cannot be used now.
    """
    settings = project.settings.sandbox
    kept = run.sandbox if run is not None else None
    sandbox = choose_sandbox(kept or settings.backend, settings.limits)
    confined = sandbox.report.backend != "none" or settings.allow_unconfined
    if run is not None and run.confined is not None:
        confined = run.confined
    if sandbox.report.backend == "none":
        reasons = "the run was started so" if kept else "; ".join(sandbox.report.reasons)
        say(f"no sandbox confines commands ({reasons})" + ("" if confined else ": what is allowed asks"))
    return sandbox, open_policies(project, confined=confined)


def _approve_commands(
    project: Project, plan: Plan, policies: Policies, *, confirm: Confirm, plan_file: Path | None
) -> None:
    """List the commands that would ask, and approve them together or refuse to start (DESIGN section 6)."""
    asked = commands_to_approve(plan, project.settings.worktree.setup, policies.for_task)
    if not asked:
        return
    lines = "\n".join(f"  {one.command}  ({one.where}): {one.reason}" for one in asked)
    denied = [one for one in asked if one.denied]
    if denied:
        raise UsageError(
            f"the policy denies commands of the plan:\n{lines}",
            hint="change the plan, or the policy line that is named",
            code="plan.denied",
        )
    answer = confirm(f"These commands need your approval:\n{lines}\nApprove them for this project?")
    if not answer:
        raise UsageError(
            f"commands of the plan need approval:\n{lines}",
            hint=f"run on a terminal, or type `{trust_command(plan_file)}` first, or give --yes",
            code="plan.approval",
        )
    approve(project.home, project.root, [one.fingerprint for one in asked])


def _new_run(world: World, plan: Plan, model: str, request: RunRequest) -> Run:
    project, settings, store = world.project, world.project.settings, world.store
    now = datetime.now(UTC)
    run_id = RunId(f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}")
    text, _ = project.read_plan(request.plan_file)
    kind, _, rest = (settings.model.provider or "").partition(":")
    script = str((request.start / rest).resolve()) if kind == "scripted" else rest
    return Run(
        run_id=run_id,
        goal=plan.goal,
        status="running",
        created_at=SystemClock().now(),
        project_root=str(project.root),
        base_commit=project.repository.head(),
        target_branch=project.repository.head_branch(),
        integration_branch=f"air/{run_id}/integration",
        provider=f"{kind}:{script}",
        model=model,
        concurrency=settings.run.concurrency,
        plan_digest=store.texts.put(text),
        run_revision=freeze_run(world, plan),
        max_cost_usd=settings.run.max_cost_usd,
        sandbox=world.sandbox.report.backend,
        confined=world.policies.confined,
        profile=settings.identity.profile,
        bodies=settings.store.bodies,
    )


def _header(run: Run, plan: Plan, settings: Settings) -> str:
    limit = dollars(run.max_cost_usd) if run.max_cost_usd is not None else "no limit"
    return (
        f"{counted(len(plan.tasks), 'task')}, {run.concurrency} at once, {run.provider.partition(':')[0]} model,"
        f" at most {limit}, {counted(settings.run.max_turns, 'turn')} a session"
    )


def unfinished_run(store: Store, run_id: str | None) -> Run:
    """Return a run that has not ended; none named: the newest.

    Raises:
        NotFoundError: there is none.
        UsageError: it has ended.
    """
    if run_id is not None:
        run = store.runs.get(run_id)
        if run.imported_at is not None:
            raise UsageError(
                f"run {run_id} was imported: its work is not on this machine",
                hint="resume it where it was started; here it can be asked about (`aircoding context list`)",
                code="run.imported",
            )
        if run.status in {"done", "failed"}:
            raise UsageError(f"run {run_id} has ended: {run.status}", hint="start a new one with `aircoding run`")
        return run
    for run in store.runs.runs():
        if run.status not in {"done", "failed"} and run.imported_at is None:
            return run
    raise NotFoundError("no run could go on", hint="start one with `aircoding run`")


def _drive(deps: FleetDeps, engine: DurableEngine, store: Store, say: Say, *, judge: bool) -> RunResult:
    """Launch the engine and drive; one Ctrl-C stops cleanly, and what is under way goes on at the next resume."""
    status = asyncio.run(_driven(deps, engine, judge=judge))
    run = deps.run
    if status in {"interrupted", "budget"}:
        more = " --max-cost MORE" if status == "budget" else ""
        say(f"The run is not over. Go on with: aircoding resume {run.run_id}{more}")
    return result_of(store, run, status)


async def _driven(deps: FleetDeps, engine: DurableEngine, *, judge: bool) -> str:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    engine.launch()
    settle()
    try:
        if judge:
            await judge_rules(deps, stop=stop)
        return await drive(deps, stop=stop)
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
        await _end_work()
        engine.close()


async def _end_work() -> None:
    """Cancel what is under way: commands end with it, and their rows say how far they came."""
    own = asyncio.current_task()
    tasks = [task for task in asyncio.all_tasks() if task is not own]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
