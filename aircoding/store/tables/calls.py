"""What was paid for and what was done: model calls, tool calls, commands."""

from __future__ import annotations

from sqlalchemy import Index
from sqlmodel import SQLModel

from aircoding.store.columns import flag, hex_digest, json_column, json_is_valid, number, real, strict, text

__all__ = ["CommandRow", "ModelCallRow", "ToolRunRow"]


class ModelCallRow(SQLModel, table=True):
    """One try at a model call. `state` is intended, committed, failed or abandoned.

    `*_usd_per_mtok` are the prices that it was billed by, in US dollars for a million tokens.
    """

    __tablename__ = "model_calls"
    __table_args__ = (
        Index("ix_model_calls_task", "run_id", "task_id"),
        Index("ix_model_calls_state", "run_id", "state"),
        strict(),
    )

    call_key: str = text(primary_key=True)
    tries: int = number(primary_key=True, ge=0)
    run_id: str = text()
    task_id: str | None = text(default=None)
    role: str = text()
    session_id: str = text(index=True)
    manifest_id: str = text(index=True)
    model: str = text()
    state: str = text()
    fence: int = number(ge=0)
    started_at: str = text()
    finished_at: str | None = text(default=None)
    input_tokens: int | None = number(default=None)
    output_tokens: int | None = number(default=None)
    cache_read_tokens: int | None = number(default=None)
    cache_write_5m_tokens: int | None = number(default=None)
    cache_write_1h_tokens: int | None = number(default=None)
    cost_usd: float | None = real(default=None)
    price_source: str | None = text(default=None)
    input_usd_per_mtok: float | None = real(default=None)
    output_usd_per_mtok: float | None = real(default=None)
    cache_read_usd_per_mtok: float | None = real(default=None)
    cache_write_5m_usd_per_mtok: float | None = real(default=None)
    cache_write_1h_usd_per_mtok: float | None = real(default=None)
    reply_model: str | None = text(default=None)
    request_id: str | None = text(default=None)
    stop_reason: str | None = text(default=None)
    error: str | None = text(default=None)
    maybe_billed: bool = flag(default=False)
    reply_digest: str | None = hex_digest(default=None, foreign_key="texts.digest")


class ToolRunRow(SQLModel, table=True):
    """One tool call. `state` is intended, committed or unknown (interrupted, effects unknown)."""

    __tablename__ = "tool_runs"
    __table_args__ = (
        Index("ix_tool_runs_session", "session_id", "turn", "position"),
        Index("ix_tool_runs_state", "run_id", "state"),
        json_is_valid("tool_runs", "decision"),
        json_is_valid("tool_runs", "before_digests"),
        json_is_valid("tool_runs", "after_digests"),
        json_is_valid("tool_runs", "result"),
        strict(),
    )

    tool_key: str = text(primary_key=True)
    run_id: str = text()
    task_id: str | None = text(default=None)
    session_id: str = text()
    turn: int = number(ge=1)
    position: int = number(ge=0)
    tool_use_id: str = text()
    name: str = text()
    input_digest: str = hex_digest(foreign_key="texts.digest")
    state: str = text()
    fence: int = number(ge=0)
    intents: int = number(default=0, ge=0)
    decision: str | None = json_column(default=None)
    before_digests: str = json_column()
    after_digests: str = json_column()
    text_digest: str | None = hex_digest(default=None, foreign_key="texts.digest")
    is_error: bool | None = flag(default=None)
    result: str | None = json_column(default=None)
    started_at: str = text()
    finished_at: str | None = text(default=None)


class CommandRow(SQLModel, table=True):
    """One command outside the model's own tool calls: set-up and verification, from the run's events."""

    __tablename__ = "command_runs"
    __table_args__ = (Index("ix_command_runs_task", "run_id", "task_id"), strict())

    run_id: str = text(primary_key=True, foreign_key="runs.run_id")
    seq: int = number(primary_key=True, ge=1)
    task_id: str | None = text(default=None)
    attempt: int | None = number(default=None)
    purpose: str = text()
    place: str = text()
    command: str = text()
    exit_code: int | None = number(default=None)
    passed: bool = flag()
    output_digest: str | None = text(default=None)
    ended_at: str = text()
