CREATE TABLE aircoding_schema (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT aircoding_schema_pkc PRIMARY KEY (version_num)
);

CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	goal TEXT NOT NULL, 
	status TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	finished_at TEXT, 
	project_root TEXT NOT NULL, 
	base_commit TEXT NOT NULL, 
	target_branch TEXT, 
	integration_branch TEXT NOT NULL, 
	provider TEXT NOT NULL, 
	model TEXT NOT NULL, 
	concurrency INTEGER NOT NULL, 
	plan_digest TEXT NOT NULL, 
	run_revision TEXT NOT NULL, 
	max_cost_usd REAL, 
	fence INTEGER NOT NULL, 
	last_seq INTEGER NOT NULL, sandbox TEXT, confined INTEGER, profile TEXT, imported_at TEXT, imported_from TEXT, bodies TEXT, texts_let_go_at TEXT, 
	PRIMARY KEY (run_id)
)
 STRICT

;

CREATE INDEX ix_runs_created_at ON runs (created_at);

CREATE TABLE tasks (
	run_id TEXT NOT NULL, 
	task_id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	state TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	commit_id TEXT, 
	changed_at TEXT NOT NULL, 
	PRIMARY KEY (run_id, task_id), 
	FOREIGN KEY(run_id) REFERENCES runs (run_id)
)
 STRICT

;

CREATE TABLE events (
	run_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	type TEXT NOT NULL, 
	at TEXT NOT NULL, 
	task_id TEXT, 
	attempt INTEGER, 
	session_id TEXT, 
	payload TEXT NOT NULL, 
	"key" TEXT, 
	PRIMARY KEY (run_id, seq), 
	CONSTRAINT ck_events_payload_json CHECK (payload IS NULL OR json_valid(payload)), 
	FOREIGN KEY(run_id) REFERENCES runs (run_id)
)
 STRICT

;

CREATE UNIQUE INDEX ix_events_key ON events (run_id, "key");

CREATE INDEX ix_events_task ON events (run_id, task_id);

CREATE INDEX ix_events_type ON events (run_id, type);

CREATE TABLE command_runs (
	run_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	task_id TEXT, 
	attempt INTEGER, 
	purpose TEXT NOT NULL, 
	place TEXT NOT NULL, 
	command TEXT NOT NULL, 
	exit_code INTEGER, 
	passed INTEGER NOT NULL, 
	output_digest TEXT, 
	ended_at TEXT NOT NULL, 
	PRIMARY KEY (run_id, seq), 
	FOREIGN KEY(run_id) REFERENCES runs (run_id)
)
 STRICT

;

CREATE INDEX ix_command_runs_task ON command_runs (run_id, task_id);

CREATE TABLE sessions (
	session_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	task_id TEXT, 
	attempt INTEGER, 
	role TEXT NOT NULL, 
	model TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	brief_digest BLOB NOT NULL, 
	opened_at TEXT NOT NULL, 
	closed_at TEXT, 
	status TEXT, 
	summary TEXT, 
	stop TEXT, 
	turns INTEGER, 
	result TEXT, 
	PRIMARY KEY (session_id), 
	CONSTRAINT ck_sessions_result_json CHECK (result IS NULL OR json_valid(result)), 
	FOREIGN KEY(brief_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE INDEX ix_sessions_task ON sessions (run_id, task_id, attempt);

CREATE TABLE summaries (
	session_id TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	first_position INTEGER NOT NULL, 
	last_position INTEGER NOT NULL, 
	text_digest BLOB NOT NULL, 
	claims TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	PRIMARY KEY (session_id, epoch), 
	CONSTRAINT ck_summaries_claims_json CHECK (claims IS NULL OR json_valid(claims)), 
	FOREIGN KEY(session_id) REFERENCES sessions (session_id), 
	FOREIGN KEY(text_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE TABLE steering_entries (
	session_id TEXT NOT NULL, 
	turn INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	source_uri TEXT NOT NULL, 
	text_digest BLOB NOT NULL, 
	recorded_at TEXT NOT NULL, trust TEXT, 
	PRIMARY KEY (session_id, turn, position), 
	FOREIGN KEY(session_id) REFERENCES sessions (session_id), 
	FOREIGN KEY(text_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE TABLE evidence_refs (
	session_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	uri TEXT NOT NULL, 
	layer TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	trust TEXT NOT NULL, 
	title TEXT NOT NULL, 
	required INTEGER NOT NULL, 
	text_digest BLOB NOT NULL, 
	claims TEXT NOT NULL, 
	PRIMARY KEY (session_id, position), 
	CONSTRAINT ck_evidence_refs_claims_json CHECK (claims IS NULL OR json_valid(claims)), 
	FOREIGN KEY(session_id) REFERENCES sessions (session_id), 
	FOREIGN KEY(text_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE INDEX ix_evidence_refs_uri ON evidence_refs (uri);

CREATE TABLE assemblies (
	assembly INTEGER NOT NULL, 
	manifest_id TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	provenance TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	task_id TEXT, 
	attempt INTEGER, 
	role TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	model TEXT NOT NULL, 
	turn INTEGER NOT NULL, 
	epoch INTEGER NOT NULL, 
	created_at TEXT NOT NULL, 
	recorded_at INTEGER NOT NULL, 
	estimator TEXT NOT NULL, 
	tokens_low INTEGER NOT NULL, 
	tokens_expected INTEGER NOT NULL, 
	tokens_high INTEGER NOT NULL, 
	window_tokens INTEGER NOT NULL, 
	nodes_since INTEGER NOT NULL, 
	segments_since INTEGER NOT NULL, 
	outcomes_since INTEGER NOT NULL, 
	conflicts_since INTEGER NOT NULL, 
	snapshot_digest BLOB NOT NULL, 
	delta BLOB NOT NULL, 
	account BLOB NOT NULL, 
	PRIMARY KEY (assembly), 
	FOREIGN KEY(snapshot_digest) REFERENCES texts (digest), 
	UNIQUE (manifest_id)
)
 STRICT

;

CREATE INDEX ix_assemblies_task ON assemblies (run_id, task_id, role);

CREATE UNIQUE INDEX ix_assemblies_turn ON assemblies (session_id, turn);

CREATE TABLE segments (
	segment INTEGER NOT NULL, 
	fingerprint BLOB NOT NULL, 
	segment_id TEXT, 
	layer TEXT NOT NULL, 
	scope INTEGER NOT NULL, 
	trust INTEGER NOT NULL, 
	kind INTEGER NOT NULL, 
	uri TEXT NOT NULL, 
	source_digest BLOB, 
	text_digest BLOB NOT NULL, 
	start_line INTEGER, 
	end_line INTEGER, 
	revision TEXT, 
	rule_id TEXT, 
	required INTEGER NOT NULL, 
	form INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	selected_by TEXT, 
	PRIMARY KEY (segment), 
	UNIQUE (fingerprint)
)
 STRICT

;

CREATE TABLE outcomes (
	outcome_row INTEGER NOT NULL, 
	fingerprint BLOB NOT NULL, 
	segment_id TEXT NOT NULL, 
	uri TEXT NOT NULL, 
	layer TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	reason TEXT, 
	detail TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	decided_by TEXT NOT NULL, 
	rule_id TEXT, 
	PRIMARY KEY (outcome_row), 
	UNIQUE (fingerprint)
)
 STRICT

;

CREATE INDEX ix_outcomes_segment_id ON outcomes (segment_id);

CREATE INDEX ix_outcomes_uri ON outcomes (uri);

CREATE TABLE conflicts (
	assembly INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	conflict_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	parties TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	ruling TEXT NOT NULL, 
	winner TEXT, 
	route TEXT NOT NULL, 
	blocking INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	ruled_by TEXT, 
	PRIMARY KEY (assembly, position), 
	CONSTRAINT ck_conflicts_parties_json CHECK (parties IS NULL OR json_valid(parties)), 
	FOREIGN KEY(assembly) REFERENCES assemblies (assembly)
)
 STRICT

;

CREATE INDEX ix_conflicts_conflict_id ON conflicts (conflict_id);

CREATE TABLE model_calls (
	call_key TEXT NOT NULL, 
	tries INTEGER NOT NULL, 
	run_id TEXT NOT NULL, 
	task_id TEXT, 
	role TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	manifest_id TEXT NOT NULL, 
	model TEXT NOT NULL, 
	state TEXT NOT NULL, 
	fence INTEGER NOT NULL, 
	started_at TEXT NOT NULL, 
	finished_at TEXT, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	cache_read_tokens INTEGER, 
	cache_write_5m_tokens INTEGER, 
	cache_write_1h_tokens INTEGER, 
	cost_usd REAL, 
	price_source TEXT, 
	reply_model TEXT, 
	request_id TEXT, 
	stop_reason TEXT, 
	error TEXT, 
	maybe_billed INTEGER NOT NULL, 
	reply_digest BLOB, input_usd_per_mtok REAL, output_usd_per_mtok REAL, cache_read_usd_per_mtok REAL, cache_write_5m_usd_per_mtok REAL, cache_write_1h_usd_per_mtok REAL, 
	PRIMARY KEY (call_key, tries), 
	FOREIGN KEY(reply_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE INDEX ix_model_calls_manifest_id ON model_calls (manifest_id);

CREATE INDEX ix_model_calls_session_id ON model_calls (session_id);

CREATE INDEX ix_model_calls_state ON model_calls (run_id, state);

CREATE INDEX ix_model_calls_task ON model_calls (run_id, task_id);

CREATE TABLE tool_runs (
	tool_key TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	task_id TEXT, 
	session_id TEXT NOT NULL, 
	turn INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	tool_use_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	input_digest BLOB NOT NULL, 
	state TEXT NOT NULL, 
	fence INTEGER NOT NULL, 
	intents INTEGER NOT NULL, 
	decision TEXT, 
	before_digests TEXT NOT NULL, 
	after_digests TEXT NOT NULL, 
	text_digest BLOB, 
	is_error INTEGER, 
	result TEXT, 
	started_at TEXT NOT NULL, 
	finished_at TEXT, 
	PRIMARY KEY (tool_key), 
	CONSTRAINT ck_tool_runs_after_digests_json CHECK (after_digests IS NULL OR json_valid(after_digests)), 
	CONSTRAINT ck_tool_runs_before_digests_json CHECK (before_digests IS NULL OR json_valid(before_digests)), 
	CONSTRAINT ck_tool_runs_decision_json CHECK (decision IS NULL OR json_valid(decision)), 
	CONSTRAINT ck_tool_runs_result_json CHECK (result IS NULL OR json_valid(result)), 
	FOREIGN KEY(input_digest) REFERENCES texts (digest), 
	FOREIGN KEY(text_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE INDEX ix_tool_runs_session ON tool_runs (session_id, turn, position);

CREATE INDEX ix_tool_runs_state ON tool_runs (run_id, state);

CREATE TABLE approvals (
	approval_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	task_id TEXT, 
	session_id TEXT, 
	fingerprint TEXT NOT NULL, 
	act TEXT NOT NULL, 
	decision TEXT NOT NULL, 
	state TEXT NOT NULL, 
	asked_at TEXT NOT NULL, 
	answered_at TEXT, 
	answered_by TEXT, 
	PRIMARY KEY (approval_id), 
	CONSTRAINT ck_approvals_decision_json CHECK (decision IS NULL OR json_valid(decision))
)
 STRICT

;

CREATE INDEX ix_approvals_run ON approvals (run_id, state);

CREATE TABLE conflict_rulings (
	ruling_row INTEGER NOT NULL, 
	conflict_id TEXT NOT NULL, 
	run_id TEXT, 
	ruling TEXT NOT NULL, 
	winner TEXT, 
	ruled_by TEXT NOT NULL, 
	ruled_at TEXT NOT NULL, 
	PRIMARY KEY (ruling_row)
)
 STRICT

;

CREATE INDEX ix_conflict_rulings_conflict ON conflict_rulings (conflict_id);

CREATE TABLE diagnostics (
	diagnostic INTEGER NOT NULL, 
	run_id TEXT NOT NULL, 
	session_id TEXT, 
	severity TEXT NOT NULL, 
	code TEXT NOT NULL, 
	message TEXT NOT NULL, 
	uri TEXT NOT NULL, 
	line INTEGER, 
	hint TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	PRIMARY KEY (diagnostic)
)
 STRICT

;

CREATE INDEX ix_diagnostics_run ON diagnostics (run_id);

CREATE VIEW v_runs AS 
SELECT r.run_id, r.goal, r.status, r.created_at, r.finished_at, r.provider, r.model, r.concurrency,
       r.base_commit, r.integration_branch, r.max_cost_usd,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id) AS tasks,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id AND t.state = 'done') AS tasks_done,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id AND t.state = 'failed') AS tasks_failed,
       (SELECT count(*) FROM tasks t WHERE t.run_id = r.run_id AND t.state = 'blocked') AS tasks_blocked,
       (SELECT count(*) FROM sessions s WHERE s.run_id = r.run_id) AS sessions,
       (SELECT count(*) FROM model_calls c WHERE c.run_id = r.run_id) AS calls,
       (SELECT coalesce(sum(c.cost_usd), 0) FROM model_calls c WHERE c.run_id = r.run_id) AS cost_usd
FROM runs r;

CREATE VIEW v_tasks AS 
SELECT t.run_id, t.task_id, t.title, t.state, t.attempt, t.reason, t.commit_id, t.changed_at,
       (SELECT count(*) FROM sessions s WHERE s.run_id = t.run_id AND s.task_id = t.task_id) AS sessions,
       (SELECT count(*) FROM model_calls c WHERE c.run_id = t.run_id AND c.task_id = t.task_id) AS calls,
       (SELECT coalesce(sum(c.cost_usd), 0) FROM model_calls c
         WHERE c.run_id = t.run_id AND c.task_id = t.task_id) AS cost_usd
FROM tasks t;

CREATE VIEW v_conflicts AS 
SELECT a.manifest_id, a.run_id, a.session_id, a.task_id, a.attempt, a.role, a.turn, a.epoch,
       c.conflict_id, c.kind, c.parties, c.subject, c.detail, c.ruling, c.winner, c.route, c.blocking,
       c.state, c.ruled_by,
       (SELECT r.ruling FROM conflict_rulings r WHERE r.conflict_id = c.conflict_id
         ORDER BY r.ruling_row DESC LIMIT 1) AS later_ruling
FROM assemblies a
JOIN assemblies d ON d.session_id = a.session_id AND d.turn BETWEEN a.conflicts_since AND a.turn
JOIN conflicts c ON c.assembly = d.assembly;

CREATE VIEW v_costs AS 
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
, sum(CASE WHEN input_tokens IS NOT NULL AND ((input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens) * input_usd_per_mtok + output_tokens * output_usd_per_mtok) / 1000000 IS NULL THEN 1 ELSE 0 END) AS without_unit_prices,
       coalesce(sum(((input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens) * input_usd_per_mtok + output_tokens * output_usd_per_mtok) / 1000000), 0) AS cost_without_cache_usd
FROM model_calls
GROUP BY run_id, task_id, role, model;

CREATE TABLE hook_results (
	hook_result INTEGER NOT NULL, 
	session_id TEXT NOT NULL, 
	occasion TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	turn INTEGER NOT NULL, 
	hook TEXT NOT NULL, 
	event TEXT NOT NULL, 
	source_uri TEXT NOT NULL, 
	trust TEXT NOT NULL, 
	state TEXT NOT NULL, 
	layer TEXT, 
	text_digest BLOB, 
	decision TEXT, 
	reason TEXT NOT NULL, 
	cut_chars INTEGER NOT NULL, 
	duration_seconds REAL NOT NULL, 
	recorded_at TEXT NOT NULL, 
	PRIMARY KEY (hook_result), 
	FOREIGN KEY(session_id) REFERENCES sessions (session_id), 
	FOREIGN KEY(text_digest) REFERENCES texts (digest)
)
 STRICT

;

CREATE UNIQUE INDEX ux_hook_results_occasion ON hook_results (session_id, occasion, position);

CREATE INDEX ix_outcomes_rule_id ON outcomes (rule_id) WHERE rule_id IS NOT NULL;

CREATE INDEX ix_segments_rule_id ON segments (rule_id) WHERE rule_id IS NOT NULL;

CREATE TABLE "segment_uses" (
	assembly INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	segment INTEGER NOT NULL, 
	spans TEXT NOT NULL, 
	PRIMARY KEY (assembly, position), 
	CONSTRAINT ck_segment_uses_spans_json CHECK (spans IS NULL OR json_valid(spans)), 
	FOREIGN KEY(assembly) REFERENCES assemblies (assembly), 
	FOREIGN KEY(segment) REFERENCES segments (segment)
)
 WITHOUT ROWID,
 STRICT

;

CREATE INDEX ix_segment_uses_segment ON segment_uses (segment);

CREATE TABLE "outcome_uses" (
	assembly INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	outcome_row INTEGER NOT NULL, 
	PRIMARY KEY (assembly, position), 
	FOREIGN KEY(assembly) REFERENCES assemblies (assembly), 
	FOREIGN KEY(outcome_row) REFERENCES outcomes (outcome_row)
)
 WITHOUT ROWID,
 STRICT

;

CREATE INDEX ix_outcome_uses_outcome_row ON outcome_uses (outcome_row);

CREATE VIEW v_omissions AS 
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
WHERE age = 1 AND outcome <> 'included';

CREATE VIRTUAL TABLE text_index USING fts5(body, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '_'");

CREATE TABLE redactions (
	manifest_id TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	PRIMARY KEY (manifest_id)
)
 STRICT

;

CREATE TABLE "texts" (
	text_row INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	codec INTEGER NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	body BLOB, 
	stored_at INTEGER NOT NULL, 
	PRIMARY KEY (text_row), 
	UNIQUE (digest)
)
 STRICT

;

CREATE TABLE "segment_texts" (
	segment INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	text_row INTEGER NOT NULL, 
	PRIMARY KEY (segment, position), 
	FOREIGN KEY(segment) REFERENCES segments (segment), 
	FOREIGN KEY(text_row) REFERENCES texts (text_row)
)
 WITHOUT ROWID,
 STRICT

;

CREATE INDEX ix_segment_texts_text_row ON segment_texts (text_row);

CREATE TABLE "messages" (
	session_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	role TEXT NOT NULL, 
	node_row INTEGER NOT NULL, 
	recorded_at INTEGER NOT NULL, 
	PRIMARY KEY (session_id, position), 
	FOREIGN KEY(node_row) REFERENCES texts (text_row), 
	FOREIGN KEY(session_id) REFERENCES sessions (session_id)
)
 WITHOUT ROWID,
 STRICT

;

CREATE INDEX ix_segments_segment_id ON segments (segment_id) WHERE selected_by IS NOT NULL;

CREATE INDEX ix_segments_text_digest ON segments (text_digest) WHERE selected_by IS NOT NULL;

CREATE INDEX ix_segments_uri ON segments (uri) WHERE selected_by IS NOT NULL;

CREATE VIEW v_segments AS 
SELECT a.manifest_id, a.run_id, a.session_id, a.task_id, a.attempt, a.role, a.turn, a.epoch,
       d.turn AS added_turn, u.position, coalesce(s.segment_id, s.layer || ':' || s.uri || '@' || substr(lower(hex(s.text_digest)), 1, 8)) AS segment_id, s.layer, CASE s.scope WHEN 0 THEN 'turn' WHEN 1 THEN 'session' WHEN 2 THEN 'run' WHEN 3 THEN 'fleet' END AS scope, CASE s.trust WHEN 0 THEN 'agent' WHEN 1 THEN 'external' WHEN 2 THEN 'project' WHEN 3 THEN 'user' WHEN 4 THEN 'builtin' END AS trust, CASE s.kind WHEN 0 THEN 'tool_call' WHEN 1 THEN 'message' WHEN 2 THEN 'tool_result' WHEN 3 THEN 'invariant' WHEN 4 THEN 'role' WHEN 5 THEN 'identity' WHEN 6 THEN 'guidance' WHEN 7 THEN 'policy' WHEN 8 THEN 'rule' WHEN 9 THEN 'skills_index' WHEN 10 THEN 'skill' WHEN 11 THEN 'memory' WHEN 12 THEN 'context' WHEN 13 THEN 'plan' WHEN 14 THEN 'adr' WHEN 15 THEN 'graph' WHEN 16 THEN 'task' WHEN 17 THEN 'dependency' WHEN 18 THEN 'file' WHEN 19 THEN 'artifact' WHEN 20 THEN 'diagnostic' WHEN 21 THEN 'finding' WHEN 22 THEN 'summary' WHEN 23 THEN 'decision' WHEN 24 THEN 'conflict' WHEN 25 THEN 'tool' WHEN 26 THEN 'failure' WHEN 27 THEN 'instruction' WHEN 28 THEN 'output_format' WHEN 29 THEN 'omission_note' WHEN 30 THEN 'notice' WHEN 31 THEN 'steering' WHEN 32 THEN 'time' END AS kind, s.uri,
       s.start_line, s.end_line, s.revision, s.rule_id, s.required, CASE s.form WHEN 0 THEN 'whole' WHEN 1 THEN 'excerpt' WHEN 2 THEN 'reference' WHEN 3 THEN 'none' END AS form, s.tokens, coalesce(s.selected_by, 'conversation') AS selected_by,
       lower(hex(coalesce(s.source_digest, s.text_digest))) AS source_digest, lower(hex(s.text_digest)) AS text_digest, replace(replace(replace(replace(replace(u.spans, '<', '/messages/'), '|', '/system/'), '>', '/content/'), '^', '/text'), '~"]', '",null,null]') AS spans
FROM assemblies a
JOIN assemblies d ON d.session_id = a.session_id AND d.turn BETWEEN a.segments_since AND a.turn
JOIN segment_uses u ON u.assembly = d.assembly
JOIN segments s ON s.segment = u.segment;

CREATE TABLE text_words (word TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;

INSERT INTO aircoding_schema VALUES ('0011_text_words');
