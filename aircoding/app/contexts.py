"""Prompts: build one now, load a recorded one, and put questions to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.agents.hooks import HookDispatcher
from aircoding.agents.moments import contributions_of
from aircoding.app.estimators import estimator_now
from aircoding.app.extensions import load_extensions, tool_specs_of
from aircoding.app.hook_trials import dispatcher_in_memory
from aircoding.app.models import limits_for
from aircoding.app.overflows import overflow_error
from aircoding.app.plans import load_plan
from aircoding.app.policies import Policies, open_policies
from aircoding.app.project import Project, as_profile, open_project
from aircoding.app.rulings import recorded_rulings, recorded_suspicions, routed_of, suspicions_of
from aircoding.app.screener import open_screener
from aircoding.app.wiring import sources_of
from aircoding.context.assembler import assemble
from aircoding.context.profiles import default_mode
from aircoding.errors import NotFoundError
from aircoding.graph.plan_file import parse_plan
from aircoding.ports import Screener, Worktree
from aircoding.records.conflicts import Ruling, Suspicion
from aircoding.records.digests import sha256_text
from aircoding.records.hooks import Contribution, Extensions, HookEvent
from aircoding.records.ids import Digest, RunId, TaskId, session_id
from aircoding.records.layers import Mode
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import Estimator, ModelLimits
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.sources.gather import FileGatherer
from aircoding.sources.routed import Routed
from aircoding.sources.rule_tree import RuleHomes
from aircoding.workspace.worktree import GitWorktree

__all__ = ["BuildRequest", "Told", "build_context", "gatherer_in_memory", "told_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What to build: a role's prompt for a task of the plan, or for paths that a task would write.

    Without `mode`, a role that speaks with the user gets the full one, any other the minimal one of a sub-agent.
    Without `hooks` neither plugins nor the project's hooks are asked, and no plugin is loaded.
    With `run_id` plan, conflicts, rulings and profile are those of a recorded run; the other sources are as they are
    now. `profile` is the user's profile in place of the one that is set.
    """

    start: Path
    role: str
    task_id: str | None = None
    paths: tuple[str, ...] = ()
    plan_file: Path | None = None
    mode: str | None = None
    model: str | None = None
    at: str | None = None
    run_id: str | None = None
    hooks: bool = True
    profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the record tells a gatherer of a run: rulings, suspicions, and what goes to a role."""

    ruled_in: Callable[[str], tuple[Ruling, ...]] = lambda _run: ()
    suspected_in: Callable[[str], tuple[Suspicion, ...]] = lambda _run: ()
    routed_to: Callable[[str, str], Routed] = lambda _run, _role: Routed()


class _MemoryTexts:
    """Texts of one build; nothing is recorded."""

    def __init__(self) -> None:
        self._texts: dict[Digest, str] = {}

    def put(self, text: str) -> Digest:
        digest = sha256_text(text)
        self._texts[digest] = text
        return digest

    def get(self, digest: Digest) -> str | None:
        return self._texts.get(digest)


class _StoppedClock:
    """The time that was asked for, so that a build repeats."""

    def __init__(self, at: str) -> None:
        self._at = at

    def now(self) -> str:
        return self._at

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError(seconds)


_NO_EXTENSIONS = Extensions()


def build_context(request: BuildRequest, *, say: Callable[[str], None] = lambda _text: None) -> AssembledContext:
    """Assemble what a worker would see now; the clock is HEAD's commit time unless one is given.

    `say` is told which plugins and hooks gave nothing though they should.

    Raises:
        NotFoundError: the plan has no such task.
        UsageError: what must be kept does not fit the model's window.
    """
    project = open_project(request.start)
    if request.run_id is None:
        project = as_profile(project, request.profile)
        plan = None if request.task_id is None and request.plan_file is None else load_plan(project, request.plan_file)
        return _built(project, request, *_task(plan, request), told_of(project), say)
    with project.open_store() as store:
        run = store.runs.get(request.run_id)
        project = as_profile(project, request.profile or run.profile)
        plan = parse_plan(store.texts.get(run.plan_digest) or "", f"air:run/{run.run_id}/plan")
        told = Told(ruled_in=store.rulings.rulings, suspected_in=suspicions_of(store), routed_to=routed_of(store))
        return _built(project, request, *_task(plan, request), told, say)


def told_of(project: Project) -> Told:
    """Return what counts for a run that is still to come."""
    rulings, suspicions = recorded_rulings(project), recorded_suspicions(project)
    return Told(ruled_in=lambda _: rulings, suspected_in=lambda _: suspicions)


def _built(
    project: Project,
    request: BuildRequest,
    plan: Plan | None,
    task: TaskSpec,
    told: Told,
    say: Callable[[str], None],
) -> AssembledContext:
    policies = open_policies(project, confined=True)
    extensions = _extensions(project, policies, say) if request.hooks else Extensions()
    policies = replace(policies, plugin_tools=tool_specs_of(extensions))
    profile = policies.profile(request.role)
    limits = limits_for(request.model, project.settings)
    gatherer = gatherer_in_memory(
        project, plan, policies, lambda _: limits, at=request.at, told=told, extensions=extensions
    )
    brief = SessionBrief(
        session_id=session_id(RunId(request.run_id or "build"), task.id, 1, request.role, 1),
        role=request.role,
        model=limits.model,
        mode=Mode(request.mode) if request.mode else default_mode(profile),
        task=task,
        worktree=str(project.root),
        base_commit=project.repository.head(),
        run_revision=gatherer.freeze_run(),
        instruction=f"Carry out task {task.id}: {task.title}.",
    )
    contributed = asyncio.run(_contributed(dispatcher_in_memory(project, policies, extensions), brief, say))
    built = assemble(gatherer.gather(brief, turn=1, messages=(), frozen=None, contributed=contributed))
    if isinstance(built, Overflow):
        raise overflow_error(built)
    return built


def _extensions(project: Project, policies: Policies, say: Callable[[str], None]) -> Extensions:
    extensions = load_extensions(project, policies)
    for fault in extensions.faults:
        say(f"{fault.name} takes no part: {fault.reason}")
    return extensions


async def _contributed(
    dispatcher: HookDispatcher, brief: SessionBrief, say: Callable[[str], None]
) -> tuple[Contribution, ...]:
    """Ask what a session's first epoch would ask."""
    results = [*(await dispatcher.ask(brief, HookEvent.CONTEXT, "context", turn=1))[0]]
    event = HookEvent.BEFORE_PROMPT_BUILD
    results += (await dispatcher.ask(brief, event, f"{event.value}/1", turn=1, facts={"epoch": 1}))[0]
    for one in results:
        if one.state == "failed":
            say(f"{one.hook} failed on {one.event.value}: {one.reason}")
        if one.cut_chars:
            say(f"{one.hook}: {one.cut_chars} characters of its text on {one.event.value} were left out")
    return contributions_of(results)


def gatherer_in_memory(
    project: Project,
    plan: Plan | None,
    policies: Policies,
    limits_of: Callable[[str], ModelLimits],
    *,
    at: str | None = None,
    told: Told | None = None,
    extensions: Extensions = _NO_EXTENSIONS,
    open_worktree: Callable[[str], Worktree] = GitWorktree,
    screener: Screener | None = None,
    estimator: Estimator | None = None,
    homes: RuleHomes | None = None,
    known_as: Path | None = None,
    kind: type[FileGatherer] = FileGatherer,
) -> FileGatherer:
    """Return a gatherer that records nothing; its clock stands at `at`, else at HEAD's commit time.

    Args:
        project: whose sources are read.
        plan: the task graph.
        policies: what roles may do.
        limits_of: what a model can take.
        at: the clock.
        told: what the record tells.
        extensions: what plugins bring.
        open_worktree: opens the files at a path of this machine.
        screener: in place of the installation's own.
        estimator: in place of the one that the record calibrates.
        homes: where the user's rule files of other tools lie, in place of the real ones.
        known_as: see `sources.gather.Project`.
        kind: the gatherer's class.
    """
    record = told or Told()
    sources = sources_of(project, extensions)
    return kind(
        project=replace(sources, homes=homes if homes is not None else sources.homes, known_as=known_as),
        plan=plan,
        open_worktree=open_worktree,
        blobs=_MemoryTexts(),
        estimator_for=lambda model: estimator if estimator is not None else estimator_now(project, model),
        screener=screener if screener is not None else open_screener(project, policies),
        clock=_StoppedClock(at or project.repository.commit_at()),
        policy_for=policies.for_role,
        limits_for=limits_of,
        ruled_in=record.ruled_in,
        suspected_in=record.suspected_in,
        routed_to=record.routed_to,
        plugin_tools=tool_specs_of(extensions),
    )


def _task(plan: Plan | None, request: BuildRequest) -> tuple[Plan | None, TaskSpec]:
    if plan is None or (request.task_id is None and request.run_id is not None):
        title = f"Work on {', '.join(request.paths)}" if request.paths else "No task"
        return plan, TaskSpec(id=TaskId("none"), title=title, write_area=request.paths)
    task = plan.task(request.task_id or "")
    if task is None:
        names = ", ".join(task.id for task in plan.tasks[:20])
        raise NotFoundError(f"the plan has no task {request.task_id}", hint=f"it has {names}")
    return plan, task
