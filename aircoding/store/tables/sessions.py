"""Sessions: what they were told, what was said, what was steered, and the evidence that they started with."""

from __future__ import annotations

from sqlalchemy import ForeignKeyConstraint, Index
from sqlmodel import SQLModel

from aircoding.store.columns import flag, hex_digest, json_column, json_is_valid, moment, number, real, strict, text

__all__ = ["EvidenceRow", "HookResultRow", "MessageRow", "SessionRow", "SteeringRow", "SummaryRow"]


class SessionRow(SQLModel, table=True):
    """A session. `brief_digest` names the brief's text; `result` is null while the session goes on."""

    __tablename__ = "sessions"
    __table_args__ = (
        Index("ix_sessions_task", "run_id", "task_id", "attempt"),
        json_is_valid("sessions", "result"),
        strict(),
    )

    session_id: str = text(primary_key=True)
    run_id: str = text()
    task_id: str | None = text(default=None)
    attempt: int | None = number(default=None)
    role: str = text()
    model: str = text()
    mode: str = text()
    brief_digest: str = hex_digest(foreign_key="texts.digest")
    opened_at: str = text()
    closed_at: str | None = text(default=None)
    status: str | None = text(default=None)
    summary: str | None = text(default=None)
    stop: str | None = text(default=None)
    turns: int | None = number(default=None)
    result: str | None = json_column(default=None)


class MessageRow(SQLModel, table=True):
    """A recorded message; `node_row` numbers the text of its skeleton, whose texts are shared with the requests."""

    __tablename__ = "messages"
    __table_args__ = strict(rowid=False)

    session_id: str = text(primary_key=True, foreign_key="sessions.session_id")
    position: int = number(primary_key=True, ge=0)
    role: str = text()
    node_row: int = number(foreign_key="texts.text_row")
    recorded_at: str = moment()


class SummaryRow(SQLModel, table=True):
    """What a compaction wrote in place of the messages from `first_position` to `last_position`."""

    __tablename__ = "summaries"
    __table_args__ = (json_is_valid("summaries", "claims"), strict())

    session_id: str = text(primary_key=True, foreign_key="sessions.session_id")
    epoch: int = number(primary_key=True, ge=1)
    first_position: int = number(ge=0)
    last_position: int = number(ge=0)
    text_digest: str = hex_digest(foreign_key="texts.digest")
    claims: str = json_column()
    recorded_at: str = text()


class SteeringRow(SQLModel, table=True):
    """One steering entry, tied to a turn; never a part of the conversation that is summarised."""

    __tablename__ = "steering_entries"
    __table_args__ = strict()

    session_id: str = text(primary_key=True, foreign_key="sessions.session_id")
    turn: int = number(primary_key=True, ge=1)
    position: int = number(primary_key=True, ge=0)
    source_uri: str = text()
    text_digest: str = hex_digest(foreign_key="texts.digest")
    recorded_at: str = text()
    trust: str | None = text(default=None)


class HookResultRow(SQLModel, table=True):
    """What came of asking a hook once; `occasion` names when in its session. A row without a text said nothing."""

    __tablename__ = "hook_results"
    __table_args__ = (
        Index("ux_hook_results_occasion", "session_id", "occasion", "position", unique=True),
        strict(),
    )

    hook_result: int | None = number(default=None, primary_key=True)
    session_id: str = text(foreign_key="sessions.session_id")
    occasion: str = text()
    position: int = number(ge=0)
    turn: int = number(ge=0)
    hook: str = text()
    event: str = text()
    source_uri: str = text()
    trust: str = text()
    state: str = text()
    layer: str | None = text(default=None)
    text_digest: str | None = hex_digest(default=None, foreign_key="texts.digest")
    decision: str | None = text(default=None)
    reason: str = text(default="")
    cut_chars: int = number(default=0, ge=0)
    duration_seconds: float = real(default=0.0)
    recorded_at: str = text()


class EvidenceRow(SQLModel, table=True):
    """A text that a session started with, and the claims it makes of files (JSON list of uri and digest)."""

    __tablename__ = "evidence_refs"
    __table_args__ = (
        ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        Index("ix_evidence_refs_uri", "uri"),
        json_is_valid("evidence_refs", "claims"),
        strict(),
    )

    session_id: str = text(primary_key=True)
    position: int = number(primary_key=True, ge=0)
    uri: str = text()
    layer: str = text()
    kind: str = text()
    trust: str = text()
    title: str = text()
    required: bool = flag()
    text_digest: str = hex_digest(foreign_key="texts.digest")
    claims: str = json_column()
