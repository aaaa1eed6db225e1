"""The views of the first schema: names and columns are a contract for people who bring their own SQL.

Plain SQL that both databases run. Booleans are 0 and 1, times UTC text, money `*_usd`. The list of
a manifest is what the turns from `*_since` up to its own added.
"""

from __future__ import annotations

__all__ = ["VIEWS"]

_RUNS = """
SELECT r.run_id, r.goal, r.status, r.created_at, r.finished_at, r.provider, r.model, r.concurrency,
       r.base_commit, r.integration_branch, r.max_cost_usd,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id) AS tasks,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id AND t.state = 'done') AS tasks_done,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id AND t.state = 'failed') AS tasks_failed,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id AND t.state = 'blocked') AS tasks_blocked,
       (SELECT count(*) FROM sessions s WHERE s.run_id = r.run_id) AS sessions,
       (SELECT count(*) FROM model_calls c WHERE c.run_id = r.run_id) AS calls,
       (SELECT coalesce(sum(c.cost_usd), 0) FROM model_calls c WHERE c.run_id = r.run_id) AS cost_usd
FROM runs r
"""

_TASKS = """
SELECT t.run_id, t.task_id, t.title, t.state, t.attempt, t.reason, t.commit_id, t.changed_at,
       (SELECT count(*) FROM sessions s WHERE s.run_id = t.run_id AND s.task_id = t.task_id) AS sessions,
       (SELECT count(*) FROM model_calls c WHERE c.run_id = t.run_id AND c.task_id = t.task_id) AS calls,
       (SELECT coalesce(sum(c.cost_usd), 0) FROM model_calls c
         WHERE c.run_id = t.run_id AND c.task_id = t.task_id) AS cost_usd
FROM tasks t
"""

_SEGMENTS = """
SELECT a.manifest_id, a.run_id, a.session_id, a.task_id, a.attempt, a.role, a.turn, a.epoch,
       d.turn AS added_turn, u.position, s.segment_id, s.layer, s.scope, s.trust, s.kind, s.uri,
       s.start_line, s.end_line, s.revision, s.rule_id, s.required, s.form, s.tokens, s.selected_by,
       s.source_digest, s.text_digest, u.spans
FROM assemblies a
JOIN assemblies d ON d.session_id = a.session_id AND d.turn BETWEEN a.segments_since AND a.turn
JOIN segment_uses u ON u.assembly = d.assembly
JOIN segments s ON s.segment = u.segment
"""

_OMISSIONS = """
SELECT manifest_id, run_id, session_id, task_id, attempt, role, turn, epoch, segment_id, uri, layer,
       outcome, reason, detail, tokens, decided_by
FROM (
  SELECT a.manifest_id, a.run_id, a.session_id, a.task_id, a.attempt, a.role, a.turn, a.epoch,
         o.segment_id, o.uri, o.layer, o.outcome, o.reason, o.detail, o.tokens, o.decided_by,
         row_number() OVER (
           PARTITION BY a.manifest_id, a.run_id, o.segment_id ORDER BY d.turn DESC, u.position DESC
         ) AS age
  FROM assemblies a
  JOIN assemblies d ON d.session_id = a.session_id AND d.turn BETWEEN a.outcomes_since AND a.turn
  JOIN outcome_uses u ON u.assembly = d.assembly
  JOIN outcomes o ON o.outcome_row = u.outcome_row
) latest
WHERE age = 1 AND outcome <> 'included'
"""

_CONFLICTS = """
SELECT a.manifest_id, a.run_id, a.session_id, a.task_id, a.attempt, a.role, a.turn, a.epoch,
       c.conflict_id, c.kind, c.parties, c.subject, c.detail, c.ruling, c.winner, c.route, c.blocking,
       c.state, c.ruled_by,
       (SELECT r.ruling FROM conflict_rulings r WHERE r.conflict_id = c.conflict_id
         ORDER BY r.ruling_row DESC LIMIT 1) AS later_ruling
FROM assemblies a
JOIN assemblies d ON d.session_id = a.session_id AND d.turn BETWEEN a.conflicts_since AND a.turn
JOIN conflicts c ON c.assembly = d.assembly
"""

_COSTS = """
SELECT run_id, task_id, role, model, count(*) AS tries,
       sum(CASE WHEN state = 'committed' THEN 1 ELSE 0 END) AS committed,
       sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS failed,
       sum(CASE WHEN state = 'abandoned' THEN 1 ELSE 0 END) AS abandoned,
       sum(maybe_billed) AS maybe_billed,
       sum(CASE WHEN input_tokens IS NOT NULL AND cost_usd IS NULL THEN 1 ELSE 0 END) AS unpriced,
       coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(cache_read_tokens), 0) AS cache_read_tokens,
       coalesce(sum(cache_write_5m_tokens), 0) AS cache_write_5m_tokens,
       coalesce(sum(cache_write_1h_tokens), 0) AS cache_write_1h_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens,
       coalesce(sum(cost_usd), 0) AS cost_usd
FROM model_calls
GROUP BY run_id, task_id, role, model
"""

VIEWS = {
    "v_runs": _RUNS,
    "v_tasks": _TASKS,
    "v_segments": _SEGMENTS,
    "v_omissions": _OMISSIONS,
    "v_conflicts": _CONFLICTS,
    "v_costs": _COSTS,
}
"""In the order in which they are made."""
