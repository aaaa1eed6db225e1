"""How a run ended or where it stands, and the list of runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.money import cost_in_brief, spending_line
from aircoding.app.project import Project, open_recorded
from aircoding.errors import PlanError
from aircoding.graph.plan_file import parse_plan
from aircoding.records.runs import Run, TaskState
from aircoding.records.words import counted
from aircoding.workspace.locks import RunLock

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["RunHead", "RunResult", "lock_of", "result_of", "run_status", "runs_status"]

_HELD = {"budget": "the run's money is spent", "interrupted": "the run was interrupted"}
"""Why a task is held, by the status of its run."""

_EXIT_CODES = {"done": 0, "failed": 1, "interrupted": 130, "budget": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended, or where it stands. Tokens and money are of all its calls that were paid for.

    `max_cost_usd` is the run's limit (None: it has none). `cost_usd` and `cost_without_cache_usd` are as in
    `records.usage.Spending`; `simulated` says that no figure of tokens or money was measured at a provider. `profile`
    is the user's profile of its agents; None: it was started before runs had one on record. `sandbox` is what confines
    its commands; None: as with `profile`.
    """

    run_id: str
    status: str
    tasks: tuple[TaskState, ...]
    max_cost_usd: float | None
    prompt_tokens: int
    cached_tokens: int
    cached_share: float
    output_tokens: int
    cost_usd: float | None
    cost_without_cache_usd: float | None
    unpriced_calls: int
    unpriced_models: tuple[str, ...]
    simulated: bool
    calls: int
    abandoned_calls: int
    summary: str
    exit_code: int
    profile: str | None = None
    sandbox: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """One line of the list of runs; `cost` is the money in words."""

    run_id: str
    status: str
    created_at: str
    goal: str
    done: int
    total: int
    cost_usd: float | None
    cost: str


def run_status(start: Path, run_id: str) -> RunResult:
    """Return where a run stands.

    Raises:
        NotFoundError: there is no such run.
    """
    project = open_recorded(start)
    with project.open_store() as store:
        run = store.runs.get(run_id)
        return result_of(store, run, _status(project, run))


def runs_status(start: Path, *, limit: int) -> tuple[RunHead, ...]:
    """Return the newest runs."""
    project = open_recorded(start)
    with project.open_store() as store:
        heads = []
        for run in store.runs.runs()[:limit]:
            states = store.runs.task_states(run.run_id)
            total = _planned(store.texts.get(run.plan_digest)) or len(states)
            done = sum(1 for state in states if state.state == "done")
            spending = store.calls.spending(run.run_id)
            heads.append(
                RunHead(
                    run_id=run.run_id,
                    status=_status(project, run),
                    created_at=run.created_at,
                    goal=run.goal,
                    done=done,
                    total=total,
                    cost_usd=spending.cost_usd,
                    cost=cost_in_brief(spending),
                )
            )
        return tuple(heads)


def _planned(text: str | None) -> int:
    """Return how many tasks a plan has; 0 for one that is not kept or that this program cannot read."""
    try:
        return 0 if text is None else len(parse_plan(text).tasks)
    except PlanError:
        return 0


def result_of(store: Store, run: Run, status: str) -> RunResult:
    """Return how a run stands under a status, with what its calls used and cost."""
    spending = store.calls.spending(run.run_id)
    tasks = tuple(_standing(task, status) for task in store.runs.task_states(run.run_id))
    done = sum(1 for task in tasks if task.state == "done")
    why = _why_paused(store, run) if status in {"interrupted", "budget"} else ""
    return RunResult(
        run_id=run.run_id,
        status=status,
        tasks=tasks,
        max_cost_usd=run.max_cost_usd,
        prompt_tokens=spending.prompt_tokens,
        cached_tokens=spending.cached_tokens,
        cached_share=spending.cached_share,
        output_tokens=spending.output_tokens,
        cost_usd=spending.cost_usd,
        cost_without_cache_usd=spending.cost_without_cache_usd,
        unpriced_calls=spending.unpriced_calls,
        unpriced_models=spending.unpriced_models,
        simulated=spending.simulated_calls > 0,
        calls=spending.calls,
        abandoned_calls=spending.abandoned_calls,
        summary=f"run {run.run_id}: {status}{why}, {done} of {counted(len(tasks), 'task')} done;"
        f" {spending_line(spending)}",
        exit_code=_EXIT_CODES.get(status, 1),
        profile=run.profile,
        sandbox=run.sandbox,
    )


def _status(project: Project, run: Run) -> str:
    """Return a run's status; one that died, or could not write its end, is interrupted: nobody holds its lock.

    A server's runs may be driven on another machine, whose locks are not seen here: their row is believed. An
    imported one is driven by nobody.
    """
    is_local = "://" not in project.database or project.database.startswith("sqlite")
    here = is_local and run.imported_at is None
    stopped = run.status == "running" and (
        run.imported_at is not None or (here and lock_of(project, run.run_id).is_free)
    )
    return "interrupted" if stopped else run.status


def lock_of(project: Project, run_id: str) -> RunLock:
    """Return the lock that whoever drives a run on this machine holds."""
    return RunLock(project.local / "runs" / f"{run_id}.lock")


def _standing(task: TaskState, status: str) -> TaskState:
    """Return where a task stands: one whose attempt is under way while nothing drives the run is held."""
    if task.state != "running" or status not in _HELD:
        return task
    return replace(task, state="held", reason=_HELD[status])


def _why_paused(store: Store, run: Run) -> str:
    pauses = store.queries.events(run.run_id, types=("run.paused",), limit=None)
    return f" ({pauses[-1].payload.get('reason', '')})" if pauses else ""
