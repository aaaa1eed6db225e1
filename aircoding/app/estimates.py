"""`plan estimate`: assemble first prompts for real, count them, and say what the plan may cost. No model is called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.contexts import gatherer_in_memory
from aircoding.app.extensions import load_plugins_of
from aircoding.app.models import capabilities, estimated_model, limits_for, own_prices
from aircoding.app.plans import load_plan
from aircoding.app.policies import open_policies
from aircoding.app.project import Project, open_project
from aircoding.context.assembler import assemble
from aircoding.fleet.estimates import (
    Assumption,
    Bound,
    Driver,
    SessionShape,
    UnitPricesOf,
    assumptions_for,
    bound_of,
    drivers_of,
)
from aircoding.providers.prices import cost_of
from aircoding.records.ids import RunId, session_id
from aircoding.records.layers import Mode
from aircoding.records.manifest import AssembledContext
from aircoding.records.sessions import SessionBrief
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.records.usage import TokenEstimate, UnitPrices, Usage
from aircoding.sources.gather import FileGatherer

__all__ = ["MAX_SAMPLED_TASKS", "PlanEstimate", "estimate_plan"]

MAX_SAMPLED_TASKS = 24
"""Tasks whose prompts are assembled; of a longer plan so many, evenly spread, stand for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEstimate:
    """What a plan may use and cost, and what that rests on.

    `limit_usd` is where a run of it would pause. `simulated` says that a scripted model was named, whose stand-in's
    prices are used. `drivers` says which assumptions the high end rests on. `not_fitting` names sampled tasks whose
    must-keep part does not fit the model's window.
    """

    uri: str
    task_count: int
    sampled_tasks: int
    simulated: bool
    low: Bound
    expected: Bound
    high: Bound
    limit_usd: float | None
    shapes: tuple[SessionShape, ...]
    unit_prices: dict[str, UnitPrices | None]
    assumptions: tuple[Assumption, ...]
    drivers: tuple[Driver, ...]
    not_fitting: tuple[str, ...]


_First = tuple[TokenEstimate, TokenEstimate]
_Build = Callable[[TaskSpec, str, str], _First | None]


def estimate_plan(start: Path, plan_file: Path | None, *, provider: str | None) -> PlanEstimate:
    """Estimate a plan.

    Args:
        start: where the project is looked for; a script's path is relative to it.
        plan_file: the plan; None: the project's.
        provider: as for `run`; None: that of the settings, else a common model.

    Raises:
        PlanError: the plan cannot be run.
        UsageError: the provider is not known.
    """
    project = open_project(start, flags={"model": {"provider": provider}})
    plan = load_plan(project, plan_file)
    model, simulated = estimated_model(project.settings, base=start)
    model_of = (lambda _: model) if simulated else (lambda task: task.model or model)
    sampled = _sample(plan.tasks)
    shapes, not_fitting = _shapes(plan, sampled, model_of, _builder(project, plan))
    assumptions = assumptions_for(
        (shape.role for shape in shapes),
        max_turns=project.settings.run.max_turns,
        max_attempts=_mean([task.retry.max_attempts for task in plan.tasks]),
    )
    prices = _prices(project)
    low, expected, high = (bound_of(side, shapes, assumptions, prices) for side in ("low", "expected", "high"))
    return PlanEstimate(
        uri=project.read_plan(plan_file)[1].removeprefix("project:"),
        task_count=len(plan.tasks),
        sampled_tasks=len(sampled),
        simulated=simulated,
        low=low,
        expected=expected,
        high=high,
        limit_usd=project.settings.run.max_cost_usd,
        shapes=shapes,
        unit_prices={name: prices(name, 1) for name in sorted({shape.model for shape in shapes})},
        assumptions=assumptions,
        drivers=drivers_of(shapes, assumptions, prices),
        not_fitting=not_fitting,
    )


def _sample(tasks: Sequence[TaskSpec]) -> tuple[TaskSpec, ...]:
    count = min(len(tasks), MAX_SAMPLED_TASKS)
    return tuple(tasks[number * len(tasks) // count] for number in range(count))


def _parts(task: TaskSpec) -> tuple[tuple[str, str], ...]:
    """Return the roles that may take part in an attempt, and when (as `fleet.attempts` brings them in)."""
    debugger = [("debugger", "failure")] if task.verify and "debugger" in task.retry.escalate else []
    return ((task.role, "always"), *((role, "always") for role in task.roles), *debugger)


def _shapes(
    plan: Plan, sampled: Sequence[TaskSpec], model_of: Callable[[TaskSpec], str], build: _Build
) -> tuple[tuple[SessionShape, ...], tuple[str, ...]]:
    """Return the sessions of the plan by role and model, each with the mean of its sampled first prompts.

    A role and model that no sampled task has is measured at the first task that has it.
    """
    of_kind: dict[tuple[str, str, str], list[TaskSpec]] = {}
    for task in plan.tasks:
        for role, part in _parts(task):
            of_kind.setdefault((role, part, model_of(task)), []).append(task)
    chosen = {task.id for task in sampled}
    shapes: list[SessionShape] = []
    not_fitting: dict[str, None] = {}
    for (role, part, model), tasks in of_kind.items():
        firsts: list[_First] = []
        for task in [task for task in tasks if task.id in chosen] or tasks[:1]:
            first = build(task, role, model)
            if first is None:
                not_fitting[task.id] = None
            else:
                firsts.append(first)
        if firsts:
            shared, own = (_mean_of(values) for values in zip(*firsts, strict=True))
            caches = capabilities().row(model).cache_marks
            shapes.append(
                SessionShape(role=role, model=model, part=part, tasks=len(tasks), shared=shared, own=own, caches=caches)
            )
    return tuple(shapes), tuple(not_fitting)


def _builder(project: Project, plan: Plan) -> _Build:
    """Return how the first prompt of a session is assembled: shared and own tokens; None when it does not fit."""
    policies = open_policies(project, confined=True)
    limits_of = functools.cache(lambda name: limits_for(name, project.settings))
    extensions = load_plugins_of(project, policies)
    gatherer = gatherer_in_memory(project, plan, policies, limits_of, extensions=extensions)
    head, revision = project.repository.head(), gatherer.freeze_run()

    def build(task: TaskSpec, role: str, model: str) -> _First | None:
        brief = SessionBrief(
            session_id=session_id(RunId("estimate"), task.id, 1, role, 1),
            role=role,
            model=model,
            mode=Mode.MINIMAL,
            task=task,
            worktree=str(project.root),
            base_commit=head,
            run_revision=revision,
            instruction=f"Carry out task {task.id}: {task.title}.",
        )
        return _first(gatherer, brief)

    return build


def _first(gatherer: FileGatherer, brief: SessionBrief) -> _First | None:
    context = assemble(gatherer.gather(brief, turn=1, messages=(), frozen=None))
    if not isinstance(context, AssembledContext):
        return None
    whole = context.token_estimate
    marks = [mark.prefix_tokens for mark in context.manifest.cache if mark.mark.startswith("/system/")]
    share = marks[-1] / whole.expected if marks and whole.expected else 0.0
    shared, own = (
        TokenEstimate(low=round(whole.low * part), expected=round(whole.expected * part), high=round(whole.high * part))
        for part in (share, 1 - share)
    )
    return shared, own


def _prices(project: Project) -> UnitPricesOf:
    own = own_prices(project.settings)

    @functools.cache
    def prices(model: str, prompt_tokens: int) -> UnitPrices | None:
        return cost_of(model, Usage(input_tokens=prompt_tokens), own).unit_prices

    return prices


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def _mean_of(estimates: Sequence[TokenEstimate]) -> TokenEstimate:
    low, expected, high = (
        round(_mean(getattr(one, side) for one in estimates)) for side in ("low", "expected", "high")
    )
    return TokenEstimate(low=low, expected=expected, high=high)
