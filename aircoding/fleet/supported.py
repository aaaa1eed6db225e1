"""What of a plan this version cannot carry out yet: said before anything starts, never skipped in silence."""

from __future__ import annotations

from aircoding.errors import PlanError
from aircoding.records.tasks import Plan, TaskSpec

__all__ = ["require_supported"]

_ROLES = frozenset({"reviewer"})
"""Roles that can take part in an attempt besides the task's own and those of its escalation."""
_ESCALATION = frozenset({"debugger"})


def require_supported(plan: Plan, uri: str = "the plan") -> None:
    """Refuse a plan that asks for more than this version can do.

    Raises:
        PlanError: a task names a kind of worker, a role or an escalation that comes later.
    """
    faults = [fault for task in plan.tasks for fault in _faults(task, uri)]
    if faults:
        raise PlanError(
            "\n".join(faults),
            hint="this version has worker `native`, roles `reviewer` and escalate `debugger`",
            code="plan.unsupported",
        )


def _faults(task: TaskSpec, uri: str) -> list[str]:
    place = f"{uri}:{task.line}: task {task.id}" if task.line else f"{uri}: task {task.id}"
    faults = [] if task.worker == "native" else [f"{place}: worker `{task.worker}` is not there yet"]
    faults += [f"{place}: role `{role}` cannot take part yet" for role in task.roles if role not in _ROLES]
    faults += [
        f"{place}: escalation to `{role}` is not there yet" for role in task.retry.escalate if role not in _ESCALATION
    ]
    return faults
