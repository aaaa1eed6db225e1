"""Runs on record without a fleet: sessions of a few turns, with messages, calls and tool calls, made in no time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.calls import Reply, ToolResult
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.events import Event
from aircoding.records.ids import CallKey, ManifestId, RunId, SessionId, TaskId, call_key, session_id
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Decision, Effect
from aircoding.records.sessions import SessionOutcome
from aircoding.records.snapshot import Frozen, Message
from aircoding.records.usage import Cost, Usage
from aircoding.store import Store
from aircoding.workspace.git import git
from support.contexts import message, segment, snapshot
from support.records import brief, run, tool_call
from support.records import call as call_of

USAGE = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=50, cache_write_5m_tokens=10)


def bare_project(folder: Path) -> Path:
    """Make a repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    who = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    git(folder, *who, "commit", "--quiet", "--allow-empty", "-m", "First")
    return folder


def record_run(
    store: Store,
    run_id: str,
    texts: Sequence[str],
    *,
    turns: int = 2,
    finished_at: str | None = "2026-01-02T00:00:00Z",
    output: str = "ok",
    **more: object,
) -> SessionId:
    """Record a run of one session whose prompts hold some texts, and whose tool gives `output`."""
    plan = store.texts.put(f"plan of {run_id}")
    status = "done" if finished_at else "interrupted"
    values = {"status": status, "finished_at": finished_at, "plan_digest": plan, "run_revision": plan} | more
    store.runs.create(run(run_id, **values))
    session = session_id(RunId(run_id), TaskId("T1"), 1, "executor", 1)
    store.sessions.open(brief(session))
    artifact = store.texts.put(f"whole output of {run_id}: {output}")
    _event(store, run_id, "task.dispatched", title="Items")
    _event(store, run_id, "verify.finished", command="make test", passed=True, exit_code=0, output=artifact)
    files = [segment(text, uri=f"project:{number}.py") for number, text in enumerate(texts)]
    left_out = segment("Never seen.\n", layer=Layer.L3, kind=SegmentKind.RULE, uri="project:r.md", paths=("docs/**",))
    frozen: Frozen | None = None
    messages: list[Message] = []
    for turn in range(1, turns + 1):
        given = snapshot(left_out, *files, turn=turn, messages=messages, frozen=frozen)
        given = replace(given, request=replace(given.request, run_id=run_id, session_id=session))
        context = assemble(given)
        assert isinstance(context, AssembledContext)
        store.assemblies.record(context, snapshot=given)
        frozen = frozen_from(context)
        key = call_key(session, turn)
        _pay(store, session, turn, key, context)
        tool = tool_call(0, turn, session, path="src/a.py", text=f"edit {turn}")
        decision = Decision(effect=Effect.ALLOW, act="edit", reason="it may", fingerprint=artifact)
        store.tools.intend(tool, decision, {}, {})
        store.tools.commit(tool, decision, ToolResult(text=output, artifact=artifact))
        use = {"type": "tool_use", "id": tool.tool_use_id, "name": tool.name, "input": dict(tool.input)}
        result = {"type": "tool_result", "tool_use_id": tool.tool_use_id, "content": [{"type": "text", "text": output}]}
        for role, block in (("assistant", use), ("user", result)):
            messages.append(message(len(messages), role, block))
            store.sessions.append_message(session, len(messages) - 1, role, [block])
    store.sessions.close(SessionOutcome(session_id=session, status="done", summary="Did it.", result={}, turns=turns))
    _event(store, run_id, "task.done", commit="c1")
    return session


def _pay(store: Store, session: SessionId, turn: int, key: CallKey, context: AssembledContext) -> None:
    tries = store.calls.intend(replace(call_of(turn, session, key=key), manifest_id=context.manifest_id))
    reply = Reply(content=({"type": "text", "text": f"Turn {turn}."},), stop_reason="tool_use", usage=USAGE, model="m")
    store.calls.commit(key, tries, reply, Cost(usd=0.25, price_source="test"))


def _event(store: Store, run_id: str, kind: str, **payload: object) -> None:
    at = "2026-01-01T12:00:00Z"
    store.events.append(Event(run_id=RunId(run_id), type=kind, at=at, task_id="T1", attempt=1, payload=payload))


def answers(store: Store, run_id: str) -> object:
    """Return what the store says of a run: every prompt byte for byte, and every question that reads no prompt."""
    heads = store.index.heads(run_id=run_id)
    contexts = [store.assemblies.get(ManifestId(head.manifest_id)) for head in heads]
    assert all(sha256_bytes(canonical_json(each.request)) == each.digest for each in contexts)
    sessions = store.index.sessions(run_id)
    return (
        store.runs.get(run_id).goal,
        contexts,
        [store.assemblies.snapshot(each.manifest_id) for each in contexts],
        [store.sessions.messages(each.session_id) for each in sessions],
        [store.sessions.brief(each.session_id) for each in sessions],
        [store.sessions.outcome(each.session_id) for each in sessions],
        [store.tools.records(each.session_id) for each in sessions],
        store.queries.calls(run_id=run_id, limit=None),
        [store.calls.reply(each.key) for each in store.queries.calls(run_id=run_id, limit=None)],
        store.queries.costs(run_id),
        store.events.read(run_id),
        store.runs.task_states(run_id),
        [store.texts.get(event.payload["output"]) for event in store.events.read(run_id) if "output" in event.payload],
        sessions,
    )
