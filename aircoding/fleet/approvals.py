"""Which commands of a plan the policy would ask about, so that a person can approve them before a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aircoding.permissions.engine import decide
from aircoding.records.ids import Digest
from aircoding.records.policy import CommandAct, Effect, Policy
from aircoding.records.tasks import Plan, TaskSpec

__all__ = ["AskedCommand", "commands_to_approve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCommand:
    """A command that needs approval, or that no approval can permit (`denied`)."""

    command: str
    where: str
    reason: str
    fingerprint: Digest
    denied: bool


def commands_to_approve(
    plan: Plan, setup: Sequence[str], policy_for_task: Callable[[TaskSpec], Policy]
) -> tuple[AskedCommand, ...]:
    """Return the verify and set-up commands that would not run as things stand, in plan order."""
    found: list[AskedCommand] = []
    for task in plan.tasks:
        policy = policy_for_task(task)
        named = [(command, f"task {task.id}, verify") for command in task.verify]
        named += [(command, f"task {task.id}, [worktree] setup") for command in setup]
        for command, where in named:
            decision = decide(CommandAct(command=command), policy)
            if decision.permits:
                continue
            denied = decision.effect is Effect.DENY and not decision.asked
            found.append(
                AskedCommand(
                    command=command,
                    where=where,
                    reason=decision.reason.removesuffix("; nobody is there to ask"),
                    fingerprint=decision.fingerprint,
                    denied=denied,
                )
            )
    return tuple(found)
