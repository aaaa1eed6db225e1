"""Runs, where their tasks stand, and their events."""

from __future__ import annotations

from sqlalchemy import Index
from sqlmodel import SQLModel

from aircoding.store.columns import flag, json_column, json_is_valid, number, real, strict, text

__all__ = ["EventRow", "RunRow", "TaskRow"]


class RunRow(SQLModel, table=True):
    """A run. `fence` grows with each owner, `last_seq` is the number of its newest event."""

    __tablename__ = "runs"
    __table_args__ = strict()

    run_id: str = text(primary_key=True)
    goal: str = text()
    status: str = text()
    created_at: str = text(index=True)
    finished_at: str | None = text(default=None)
    project_root: str = text()
    base_commit: str = text()
    target_branch: str | None = text(default=None)
    integration_branch: str = text()
    provider: str = text()
    model: str = text()
    concurrency: int = number(ge=1)
    plan_digest: str = text()
    run_revision: str = text()
    max_cost_usd: float | None = real(default=None)
    sandbox: str | None = text(default=None)
    confined: bool | None = flag(default=None)
    profile: str | None = text(default=None)
    imported_at: str | None = text(default=None)
    imported_from: str | None = text(default=None)
    bodies: str | None = text(default=None)
    texts_let_go_at: str | None = text(default=None)
    fence: int = number(default=0, ge=0)
    last_seq: int = number(default=0, ge=0)


class TaskRow(SQLModel, table=True):
    """Where a task stands: a projection of the run's events, written in the transaction that appends them."""

    __tablename__ = "tasks"
    __table_args__ = strict()

    run_id: str = text(primary_key=True, foreign_key="runs.run_id")
    task_id: str = text(primary_key=True)
    title: str = text()
    state: str = text()
    attempt: int = number(default=0, ge=0)
    reason: str = text(default="")
    commit_id: str | None = text(default=None)
    changed_at: str = text()


class EventRow(SQLModel, table=True):
    """An event; `seq` counts from 1 within its run, `key` is unique within it where given."""

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_key", "run_id", "key", unique=True),
        Index("ix_events_type", "run_id", "type"),
        Index("ix_events_task", "run_id", "task_id"),
        json_is_valid("events", "payload"),
        strict(),
    )

    run_id: str = text(primary_key=True, foreign_key="runs.run_id")
    seq: int = number(primary_key=True, ge=1)
    type: str = text()
    at: str = text()
    task_id: str | None = text(default=None)
    attempt: int | None = number(default=None)
    session_id: str | None = text(default=None)
    payload: str = json_column()
    key: str | None = text(default=None)
