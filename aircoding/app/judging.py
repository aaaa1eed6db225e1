"""What the policy says of one command, asked by a person."""

from __future__ import annotations

from pathlib import Path

from aircoding.app.plans import load_plan
from aircoding.app.policies import open_policies
from aircoding.app.project import open_project
from aircoding.errors import NotFoundError
from aircoding.permissions.engine import decide
from aircoding.records.policy import CommandAct, Decision

__all__ = ["judge_command"]


def judge_command(start: Path, command: str, *, role: str, task_id: str | None) -> Decision:
    """Return what the policy says of a command for a role, and for a task of the project's plan.

    Raises:
        NotFoundError: the plan has no such task.
    """
    project = open_project(start)
    policies = open_policies(project, confined=True)
    task = None
    if task_id is not None:
        task = load_plan(project, None).task(task_id)
        if task is None:
            raise NotFoundError(f"the plan has no task {task_id}", hint="`aircoding plan show` lists them")
    return decide(CommandAct(command=command), policies.for_role(policies.profile(role), task))
