"""Take what a run's frozen text has become: a new run revision, with which its sessions open their next epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.extensions import load_plugins_of
from aircoding.app.project import as_profile, open_project
from aircoding.app.runs import confinement, unfinished_run
from aircoding.app.wiring import open_gatherer
from aircoding.errors import InternalError, NotFoundError
from aircoding.fleet.state import fold
from aircoding.graph.plan_file import parse_plan
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.records.snapshot import ModelLimits
from aircoding.workspace.clock import SystemClock

__all__ = ["Reloaded", "reload_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What a reload did. `changed` says whether the frozen text is another than before."""

    run_id: str
    run_revision: str
    before: str
    changed: bool


def reload_run(start: Path, run_id: str | None, *, say: Callable[[str], None]) -> Reloaded:
    """Freeze the project's rules, plan documents, roles and policies anew for a run that goes on.

    Sessions under way take it in with their next turn, in a new epoch; the process that drives the run need not be
    this one. Nothing is recorded when nothing has changed.

    Raises:
        NotFoundError: there is no such run, none that could go on, or its plan is not kept.
        UsageError: the run has ended.
        ConfigError: a role file or a policy is wrong; the revision before goes on to hold.
    """
    project = open_project(start)
    with project.open_store(write=True) as store:
        run = unfinished_run(store, run_id)
        text = store.texts.get(run.plan_digest)
        if text is None:
            raise NotFoundError(f"the plan of run {run.run_id} is not kept", hint="start a new run")
        project = as_profile(project, run.profile)
        _, policies = confinement(project, say, run)
        plan = parse_plan(text, f"air:run/{run.run_id}/plan")
        extensions = load_plugins_of(project, policies)
        gatherer = open_gatherer(project, policies, store, plan, limits_for=_no_limits, extensions=extensions)
        before = fold(store.events.read(run.run_id)).run_revision or run.run_revision
        revision = gatherer.freeze_run()
        if revision != before:
            now = SystemClock().now()
            payload = {"run_revision": revision, "before": before}
            event = Event(
                run_id=RunId(run.run_id), type="run.reloaded", at=now, payload=payload, key=f"run.reloaded:{now}"
            )
            store.events.append(event)
        return Reloaded(run_id=run.run_id, run_revision=revision, before=before, changed=revision != before)


def _no_limits(model: str) -> ModelLimits:
    raise InternalError(f"the frozen text of a run does not depend on a model, and {model} was asked for")
