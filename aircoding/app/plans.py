"""Plans: load, check, show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.approving import asked_commands
from aircoding.app.plan_conflicts import find_conflicts
from aircoding.app.policies import open_policies
from aircoding.app.project import Project, open_project
from aircoding.errors import PlanError
from aircoding.fleet.approvals import AskedCommand
from aircoding.fleet.supported import require_supported
from aircoding.graph.plan_file import parse_plan
from aircoding.graph.task_graph import TaskGraph
from aircoding.graph.waves import plan_waves
from aircoding.records.conflicts import Conflict
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.rules.globs import Dialect, compile_globs

__all__ = ["PlanReport", "PlanView", "check_plan", "load_plan", "show_plan", "trust_command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """What a check found; a plan with faults raises instead."""

    uri: str
    task_count: int
    wave_count: int
    separated: tuple[tuple[str, str], ...]
    conflicts: tuple[Conflict, ...]
    remarks: tuple[str, ...]
    asked: tuple[AskedCommand, ...]
    """Commands that `run` will ask about, or that the policy denies."""
    trust_command: str
    """What to type so that `run` need not ask."""
    hopeless: tuple[str, ...]
    """Tasks that cannot pass: the policy denies their own verify commands, or an open conflict stops them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A plan in waves."""

    goal: str
    waves: tuple[tuple[TaskSpec, ...], ...]
    critical_path: tuple[str, ...]


def load_plan(project: Project, plan_file: Path | None) -> Plan:
    """Read a plan and refuse one that cannot be run.

    Raises:
        PlanError: with every fault.
    """
    text, uri = project.read_plan(plan_file)
    plan = parse_plan(text, uri)
    TaskGraph.of(plan, uri=uri)
    require_supported(plan, uri.removeprefix("project:"))
    known = open_policies(project, confined=True).profiles
    for task in plan.tasks:
        for role in (task.role, *task.roles):
            if role not in known:
                raise PlanError(
                    f"{uri}:{task.line}: task {task.id}: there is no role `{role}`",
                    hint=f"known: {', '.join(sorted(known))}",
                    code="role.unknown",
                )
    return plan


def check_plan(start: Path, plan_file: Path | None) -> PlanReport:
    """Say whether a plan can be run.

    Raises:
        PlanError: it cannot.
    """
    project = open_project(start)
    plan = load_plan(project, plan_file)
    graph = TaskGraph.of(plan)
    waves = plan_waves(graph)
    found = find_conflicts(project, plan)
    return PlanReport(
        uri=project.read_plan(plan_file)[1].removeprefix("project:"),
        task_count=len(plan.tasks),
        wave_count=len(waves.waves),
        separated=tuple((one.meeting.task, one.task) for one in waves.separated),
        conflicts=found.conflicts,
        remarks=(*map(_in_words, found.faults), *_missing_reads(project, graph)),
        asked=asked_commands(project, plan),
        trust_command=trust_command(plan_file),
        hopeless=found.hopeless,
    )


def _in_words(fault: Diagnostic) -> str:
    line = f":{fault.line}" if fault.line is not None else ""
    hint = f"; {fault.hint}" if fault.hint else ""
    return f"{fault.uri}{line}: {fault.message}{hint}"


def trust_command(plan_file: Path | None) -> str:
    """Return the command that approves the commands of a plan."""
    return f"aircoding permissions trust --plan {plan_file or '.air/shared/plan/tasks.yaml'}"


def _missing_reads(project: Project, graph: TaskGraph) -> tuple[str, ...]:
    """Return remarks on `reads` that are not there, and that no earlier task may write."""
    there = frozenset(project.repository.open_worktree(str(project.root)).paths())
    remarks: list[str] = []
    for task in graph.tasks.values():
        before = [area for earlier in graph.ancestors(task.id) for area in graph.tasks[earlier].write_area]
        made = compile_globs(before, Dialect.ROOT_ANCHORED)
        for read in task.reads:
            path = re.sub(r":[\d-]+$", "", read)
            if not any(char in path for char in "*?[{") and path not in there and not made.matches(path):
                remarks.append(f"task {task.id} reads {path}, which is not there, and no task before it may write it")
    return tuple(remarks)


def show_plan(start: Path, plan_file: Path | None) -> PlanView:
    """Return a plan in waves, with its critical path."""
    plan = load_plan(open_project(start), plan_file)
    graph = TaskGraph.of(plan)
    waves = plan_waves(graph).waves
    return PlanView(
        goal=plan.goal,
        waves=tuple(tuple(graph.tasks[task] for task in wave) for wave in waves),
        critical_path=tuple(graph.critical_path()),
    )
