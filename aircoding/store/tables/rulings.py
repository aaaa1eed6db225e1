"""What people decided, and what readers of files remarked."""

from __future__ import annotations

from sqlalchemy import Index
from sqlmodel import SQLModel

from aircoding.store.columns import json_column, json_is_valid, number, strict, text

__all__ = ["ApprovalRow", "ConflictRulingRow", "DiagnosticRow"]


class DiagnosticRow(SQLModel, table=True):
    """A remark on one place of one file, made while a run was prepared or went on."""

    __tablename__ = "diagnostics"
    __table_args__ = (Index("ix_diagnostics_run", "run_id"), strict())

    diagnostic: int | None = number(default=None, primary_key=True)
    run_id: str = text()
    session_id: str | None = text(default=None)
    severity: str = text()
    code: str = text()
    message: str = text()
    uri: str = text()
    line: int | None = number(default=None)
    hint: str = text(default="")
    recorded_at: str = text()


class ApprovalRow(SQLModel, table=True):
    """An act that a person was asked about; `fingerprint` binds the answer to argv, cwd and policy."""

    __tablename__ = "approvals"
    __table_args__ = (
        Index("ix_approvals_run", "run_id", "state"),
        json_is_valid("approvals", "decision"),
        strict(),
    )

    approval_id: str = text(primary_key=True)
    run_id: str = text()
    task_id: str | None = text(default=None)
    session_id: str | None = text(default=None)
    fingerprint: str = text()
    act: str = text()
    decision: str = json_column()
    state: str = text()
    asked_at: str = text()
    answered_at: str | None = text(default=None)
    answered_by: str | None = text(default=None)


class ConflictRulingRow(SQLModel, table=True):
    """A person's ruling on a conflict; the newest per conflict holds."""

    __tablename__ = "conflict_rulings"
    __table_args__ = (Index("ix_conflict_rulings_conflict", "conflict_id"), strict())

    ruling_row: int | None = number(default=None, primary_key=True)
    conflict_id: str = text()
    run_id: str | None = text(default=None)
    ruling: str = text()
    winner: str | None = text(default=None)
    ruled_by: str = text()
    ruled_at: str = text()
