"""The plan: tasks as DESIGN section 9 gives them; parsing is `graph.plan_file`'s."""

from __future__ import annotations

from dataclasses import dataclass, field

from aircoding.records.ids import TaskId

__all__ = ["Adr", "Plan", "Retry", "TaskSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often a task is tried and who takes part when it fails."""

    max_attempts: int = 2
    escalate: tuple[str, ...] = ("debugger",)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One task of a plan. `line` is where it starts in its file (0: not from a file)."""

    id: TaskId
    title: str
    description: str = ""
    role: str = "executor"
    worker: str = "native"
    depends_on: tuple[TaskId, ...] = ()
    write_area: tuple[str, ...] = ()
    denied_paths: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    priority: int = 0
    tags: tuple[str, ...] = ()
    retry: Retry = field(default_factory=Retry)
    model: str | None = None
    max_cost_usd: float | None = None
    adr: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A goal and its tasks, in file order."""

    goal: str
    tasks: tuple[TaskSpec, ...]
    version: int = 1

    def task(self, task_id: str) -> TaskSpec | None:
        """Return the task of that id, or None."""
        return next((task for task in self.tasks if task.id == task_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adr:
    """An architecture decision record; `interfaces` are globs that it declares an interface."""

    id: str
    status: str
    title: str
    interfaces: tuple[str, ...]
    supersedes: tuple[str, ...]
    uri: str
