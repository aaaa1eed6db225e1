"""The first schema: every table, and the views that people may build on.

Revision: 0001. Written out, so that it stays what it was when the models change; a test compares
the two on both databases.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from aircoding.store.migrations.views_0001 import VIEWS

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

REAL_NUMBER: Any = sa.Double().with_variant(sa.REAL(), "sqlite")


def upgrade() -> None:
    """Make everything in an empty database."""
    _texts()
    _runs()
    _sessions()
    _assemblies()
    _calls()
    _rulings()
    for name, query in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade() -> None:
    """There is nothing before the first schema."""
    raise NotImplementedError("the first schema has no predecessor; delete the database instead")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _integer(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=null)


def _json(table: str, column: str) -> list[sa.CheckConstraint]:
    """Return the check that a column holds JSON; only SQLite can say so."""
    if op.get_bind().dialect.name != "sqlite":
        return []
    return [sa.CheckConstraint(f"{column} IS NULL OR json_valid({column})", name=f"ck_{table}_{column}_json")]


def _texts() -> None:
    op.create_table(
        "texts",
        _text("digest"),
        _text("codec"),
        _integer("size_bytes"),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        _text("stored_at"),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_strict=True,
    )


def _runs() -> None:
    op.create_table(
        "runs",
        _text("run_id"),
        _text("goal"),
        _text("status"),
        _text("created_at"),
        _text("finished_at", null=True),
        _text("project_root"),
        _text("base_commit"),
        _text("target_branch", null=True),
        _text("integration_branch"),
        _text("provider"),
        _text("model"),
        _integer("concurrency"),
        _text("plan_digest"),
        _text("run_revision"),
        sa.Column("max_cost_usd", REAL_NUMBER, nullable=True),
        _integer("fence"),
        _integer("last_seq"),
        sa.PrimaryKeyConstraint("run_id"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_runs_created_at"), "runs", ["created_at"])
    op.create_table(
        "tasks",
        _text("run_id"),
        _text("task_id"),
        _text("title"),
        _text("state"),
        _integer("attempt"),
        _text("reason"),
        _text("commit_id", null=True),
        _text("changed_at"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"]),
        sa.PrimaryKeyConstraint("run_id", "task_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "events",
        _text("run_id"),
        _integer("seq"),
        _text("type"),
        _text("at"),
        _text("task_id", null=True),
        _integer("attempt", null=True),
        _text("session_id", null=True),
        _text("payload"),
        _text("key", null=True),
        *_json("events", "payload"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"]),
        sa.PrimaryKeyConstraint("run_id", "seq"),
        sqlite_strict=True,
    )
    op.create_index("ix_events_key", "events", ["run_id", "key"], unique=True)
    op.create_index("ix_events_task", "events", ["run_id", "task_id"])
    op.create_index("ix_events_type", "events", ["run_id", "type"])
    op.create_table(
        "command_runs",
        _text("run_id"),
        _integer("seq"),
        _text("task_id", null=True),
        _integer("attempt", null=True),
        _text("purpose"),
        _text("place"),
        _text("command"),
        _integer("exit_code", null=True),
        _integer("passed"),
        _text("output_digest", null=True),
        _text("ended_at"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"]),
        sa.PrimaryKeyConstraint("run_id", "seq"),
        sqlite_strict=True,
    )
    op.create_index("ix_command_runs_task", "command_runs", ["run_id", "task_id"])


def _sessions() -> None:
    op.create_table(
        "sessions",
        _text("session_id"),
        _text("run_id"),
        _text("task_id", null=True),
        _integer("attempt", null=True),
        _text("role"),
        _text("model"),
        _text("mode"),
        _text("brief_digest"),
        _text("opened_at"),
        _text("closed_at", null=True),
        _text("status", null=True),
        _text("summary", null=True),
        _text("stop", null=True),
        _integer("turns", null=True),
        _text("result", null=True),
        *_json("sessions", "result"),
        sa.ForeignKeyConstraint(["brief_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("session_id"),
        sqlite_strict=True,
    )
    op.create_index("ix_sessions_task", "sessions", ["run_id", "task_id", "attempt"])
    op.create_table(
        "messages",
        _text("session_id"),
        _integer("position"),
        _text("role"),
        _text("node_digest"),
        _text("recorded_at"),
        sa.ForeignKeyConstraint(["node_digest"], ["texts.digest"]),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.PrimaryKeyConstraint("session_id", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "summaries",
        _text("session_id"),
        _integer("epoch"),
        _integer("first_position"),
        _integer("last_position"),
        _text("text_digest"),
        _text("claims"),
        _text("recorded_at"),
        *_json("summaries", "claims"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.ForeignKeyConstraint(["text_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("session_id", "epoch"),
        sqlite_strict=True,
    )
    op.create_table(
        "steering_entries",
        _text("session_id"),
        _integer("turn"),
        _integer("position"),
        _text("source_uri"),
        _text("text_digest"),
        _text("recorded_at"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.ForeignKeyConstraint(["text_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("session_id", "turn", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "evidence_refs",
        _text("session_id"),
        _integer("position"),
        _text("uri"),
        _text("layer"),
        _text("kind"),
        _text("trust"),
        _text("title"),
        _integer("required"),
        _text("text_digest"),
        _text("claims"),
        *_json("evidence_refs", "claims"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"]),
        sa.ForeignKeyConstraint(["text_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("session_id", "position"),
        sqlite_strict=True,
    )
    op.create_index("ix_evidence_refs_uri", "evidence_refs", ["uri"])


def _assemblies() -> None:
    op.create_table(
        "assemblies",
        _integer("assembly"),
        _text("manifest_id"),
        _text("digest"),
        _text("provenance"),
        _text("run_id"),
        _text("run_revision"),
        _text("session_id"),
        _text("task_id", null=True),
        _integer("attempt", null=True),
        _text("role"),
        _text("mode"),
        _text("model"),
        _integer("turn"),
        _integer("epoch"),
        _text("created_at"),
        _text("recorded_at"),
        _text("estimator"),
        _text("policy_digest"),
        _integer("tokens_low"),
        _integer("tokens_expected"),
        _integer("tokens_high"),
        _integer("window_tokens"),
        _integer("nodes_since"),
        _integer("segments_since"),
        _integer("outcomes_since"),
        _integer("conflicts_since"),
        _text("snapshot_digest"),
        sa.Column("delta", sa.LargeBinary(), nullable=False),
        sa.Column("account", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("assembly"),
        sa.UniqueConstraint("manifest_id"),
        sqlite_strict=True,
    )
    op.create_index("ix_assemblies_task", "assemblies", ["run_id", "task_id", "role"])
    op.create_index("ix_assemblies_turn", "assemblies", ["session_id", "turn"], unique=True)
    op.create_table(
        "segments",
        _integer("segment"),
        _text("fingerprint"),
        _text("segment_id"),
        _text("layer"),
        _text("scope"),
        _text("trust"),
        _text("kind"),
        _text("uri"),
        _text("source_digest"),
        _text("text_digest"),
        _integer("start_line", null=True),
        _integer("end_line", null=True),
        _text("revision", null=True),
        _text("rule_id", null=True),
        _integer("required"),
        _text("form"),
        _integer("tokens"),
        _text("selected_by"),
        sa.PrimaryKeyConstraint("segment"),
        sa.UniqueConstraint("fingerprint"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_segments_rule_id"), "segments", ["rule_id"])
    op.create_index(op.f("ix_segments_segment_id"), "segments", ["segment_id"])
    op.create_index(op.f("ix_segments_text_digest"), "segments", ["text_digest"])
    op.create_index(op.f("ix_segments_uri"), "segments", ["uri"])
    op.create_table(
        "segment_texts",
        _integer("segment"),
        _integer("position"),
        _text("shown_digest"),
        sa.ForeignKeyConstraint(["segment"], ["segments.segment"]),
        sa.ForeignKeyConstraint(["shown_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("segment", "position"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_segment_texts_shown_digest"), "segment_texts", ["shown_digest"])
    op.create_table(
        "segment_uses",
        _integer("assembly"),
        _integer("position"),
        _integer("segment"),
        _text("spans"),
        *_json("segment_uses", "spans"),
        sa.ForeignKeyConstraint(["assembly"], ["assemblies.assembly"]),
        sa.ForeignKeyConstraint(["segment"], ["segments.segment"]),
        sa.PrimaryKeyConstraint("assembly", "position"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_segment_uses_segment"), "segment_uses", ["segment"])
    op.create_table(
        "outcomes",
        _integer("outcome_row"),
        _text("fingerprint"),
        _text("segment_id"),
        _text("uri"),
        _text("layer"),
        _text("outcome"),
        _text("reason", null=True),
        _text("detail"),
        _integer("tokens"),
        _text("decided_by"),
        _text("rule_id", null=True),
        sa.PrimaryKeyConstraint("outcome_row"),
        sa.UniqueConstraint("fingerprint"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_outcomes_segment_id"), "outcomes", ["segment_id"])
    op.create_index(op.f("ix_outcomes_uri"), "outcomes", ["uri"])
    op.create_index(op.f("ix_outcomes_rule_id"), "outcomes", ["rule_id"])
    op.create_table(
        "outcome_uses",
        _integer("assembly"),
        _integer("position"),
        _integer("outcome_row"),
        sa.ForeignKeyConstraint(["assembly"], ["assemblies.assembly"]),
        sa.ForeignKeyConstraint(["outcome_row"], ["outcomes.outcome_row"]),
        sa.PrimaryKeyConstraint("assembly", "position"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_outcome_uses_outcome_row"), "outcome_uses", ["outcome_row"])
    op.create_table(
        "conflicts",
        _integer("assembly"),
        _integer("position"),
        _text("conflict_id"),
        _text("kind"),
        _text("parties"),
        _text("subject"),
        _text("detail"),
        _text("ruling"),
        _text("winner", null=True),
        _text("route"),
        _integer("blocking"),
        _text("state"),
        _text("ruled_by", null=True),
        *_json("conflicts", "parties"),
        sa.ForeignKeyConstraint(["assembly"], ["assemblies.assembly"]),
        sa.PrimaryKeyConstraint("assembly", "position"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_conflicts_conflict_id"), "conflicts", ["conflict_id"])


def _calls() -> None:
    op.create_table(
        "model_calls",
        _text("call_key"),
        _integer("tries"),
        _text("run_id"),
        _text("task_id", null=True),
        _text("role"),
        _text("session_id"),
        _text("manifest_id"),
        _text("model"),
        _text("state"),
        _integer("fence"),
        _text("started_at"),
        _text("finished_at", null=True),
        _integer("input_tokens", null=True),
        _integer("output_tokens", null=True),
        _integer("cache_read_tokens", null=True),
        _integer("cache_write_5m_tokens", null=True),
        _integer("cache_write_1h_tokens", null=True),
        sa.Column("cost_usd", REAL_NUMBER, nullable=True),
        _text("price_source", null=True),
        _text("reply_model", null=True),
        _text("request_id", null=True),
        _text("stop_reason", null=True),
        _text("error", null=True),
        _integer("maybe_billed"),
        _text("reply_digest", null=True),
        sa.ForeignKeyConstraint(["reply_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("call_key", "tries"),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_model_calls_manifest_id"), "model_calls", ["manifest_id"])
    op.create_index(op.f("ix_model_calls_session_id"), "model_calls", ["session_id"])
    op.create_index("ix_model_calls_state", "model_calls", ["run_id", "state"])
    op.create_index("ix_model_calls_task", "model_calls", ["run_id", "task_id"])
    op.create_table(
        "tool_runs",
        _text("tool_key"),
        _text("run_id"),
        _text("task_id", null=True),
        _text("session_id"),
        _integer("turn"),
        _integer("position"),
        _text("tool_use_id"),
        _text("name"),
        _text("input_digest"),
        _text("state"),
        _integer("fence"),
        _integer("intents"),
        _text("decision", null=True),
        _text("before_digests"),
        _text("after_digests"),
        _text("text_digest", null=True),
        _integer("is_error", null=True),
        _text("result", null=True),
        _text("started_at"),
        _text("finished_at", null=True),
        *_json("tool_runs", "after_digests"),
        *_json("tool_runs", "before_digests"),
        *_json("tool_runs", "decision"),
        *_json("tool_runs", "result"),
        sa.ForeignKeyConstraint(["input_digest"], ["texts.digest"]),
        sa.ForeignKeyConstraint(["text_digest"], ["texts.digest"]),
        sa.PrimaryKeyConstraint("tool_key"),
        sqlite_strict=True,
    )
    op.create_index("ix_tool_runs_session", "tool_runs", ["session_id", "turn", "position"])
    op.create_index("ix_tool_runs_state", "tool_runs", ["run_id", "state"])


def _rulings() -> None:
    op.create_table(
        "approvals",
        _text("approval_id"),
        _text("run_id"),
        _text("task_id", null=True),
        _text("session_id", null=True),
        _text("fingerprint"),
        _text("act"),
        _text("decision"),
        _text("state"),
        _text("asked_at"),
        _text("answered_at", null=True),
        _text("answered_by", null=True),
        *_json("approvals", "decision"),
        sa.PrimaryKeyConstraint("approval_id"),
        sqlite_strict=True,
    )
    op.create_index("ix_approvals_run", "approvals", ["run_id", "state"])
    op.create_table(
        "conflict_rulings",
        _integer("ruling_row"),
        _text("conflict_id"),
        _text("run_id", null=True),
        _text("ruling"),
        _text("winner", null=True),
        _text("ruled_by"),
        _text("ruled_at"),
        sa.PrimaryKeyConstraint("ruling_row"),
        sqlite_strict=True,
    )
    op.create_index("ix_conflict_rulings_conflict", "conflict_rulings", ["conflict_id"])
    op.create_table(
        "diagnostics",
        _integer("diagnostic"),
        _text("run_id"),
        _text("session_id", null=True),
        _text("severity"),
        _text("code"),
        _text("message"),
        _text("uri"),
        _integer("line", null=True),
        _text("hint"),
        _text("recorded_at"),
        sa.PrimaryKeyConstraint("diagnostic"),
        sqlite_strict=True,
    )
    op.create_index("ix_diagnostics_run", "diagnostics", ["run_id"])
