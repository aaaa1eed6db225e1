"""The ledger never pays twice for what is on record, and tool calls are never applied twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.records import AT, RUN, SESSION, brief, call, run, tool_call

from aircoding.errors import InternalError, StoreError
from aircoding.records.calls import CallRecord, Reply, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.ids import SessionId
from aircoding.records.policy import Decision, Effect, Judgement, PolicyLevel, PolicySubject
from aircoding.records.usage import Cost, Usage
from aircoding.store import Store

REPLY = Reply(
    content=(
        {"type": "thinking", "thinking": "hm é", "signature": "s=="},
        {"type": "text", "text": "I edit."},
        {"type": "tool_use", "id": "t1", "name": "fs_edit", "input": {"path": "a", "n": 1.5, "deep": {"b": [None]}}},
    ),
    stop_reason="tool_use",
    usage=Usage(input_tokens=10, output_tokens=5, cache_read_tokens=100, cache_write_5m_tokens=7),
    model="test-model-1",
    request_id="req-1",
)
PAID = Cost(usd=0.25, price_source="genai-prices")
DECISION = Decision(
    effect=Effect.ANNOUNCE,
    act="write src/a.py",
    reason="in the write area",
    fingerprint=sha256_text("f"),
    judgements=(
        Judgement(
            effect=Effect.ANNOUNCE,
            subject=PolicySubject.WRITE,
            text="src/a.py",
            pattern="src/**",
            level=PolicyLevel.TASK,
            uri="project:tasks.yaml",
            line=3,
            reason="",
        ),
    ),
)


def test_a_committed_reply_comes_back(store: Store, opener: Callable[[], Store]) -> None:
    assert store.calls.reply(call().key) is None
    assert store.calls.intend(call()) == 0
    assert store.calls.reply(call().key) is None
    store.calls.commit(call().key, 0, REPLY, PAID)
    store.calls.commit(call().key, 0, REPLY, Cost(usd=99.0, price_source="twice"))
    assert opener().calls.reply(call().key) == REPLY
    assert store.calls.spent_usd(RUN) == 0.25
    with pytest.raises(StoreError, match="was answered already") as caught:
        store.calls.intend(call())
    assert caught.value.code == "store.call_committed"


def test_a_try_in_flight_at_a_crash_is_marked_as_maybe_billed(store: Store, opener: Callable[[], Store]) -> None:
    assert store.calls.intend(call()) == 0
    assert [record.tries for record in store.calls.unfinished(RUN)] == [0]
    after_the_crash = opener()
    assert after_the_crash.calls.intend(call()) == 1
    after_the_crash.calls.fail(call().key, 1, "overloaded", maybe_billed=False)
    assert after_the_crash.calls.intend(call()) == 2
    after_the_crash.calls.commit(call().key, 2, REPLY, PAID)
    records = store.queries.calls(session_id=SESSION)
    assert [(each.tries, each.state, each.maybe_billed, each.error) for each in records] == [
        (0, "abandoned", True, None),
        (1, "failed", False, "overloaded"),
        (2, "committed", False, None),
    ]
    assert (records[2].usage, records[2].cost, records[2].stop_reason) == (REPLY.usage, PAID, "tool_use")
    assert records[0].usage is None
    assert store.calls.unfinished(RUN) == ()


def test_a_late_result_of_an_abandoned_try_is_kept_as_money_spent(store: Store) -> None:
    store.calls.intend(call())
    store.calls.intend(call())
    store.calls.commit(call().key, 1, REPLY, PAID)
    late = Reply(content=(), stop_reason="end_turn", usage=Usage(output_tokens=1), model="m")
    store.calls.commit(call().key, 0, late, Cost(usd=0.5, price_source="x"))
    assert store.calls.reply(call().key) == REPLY
    assert store.calls.spent_usd(RUN) == 0.75
    first, second = store.queries.calls(session_id=SESSION)
    assert (first.state, first.maybe_billed, second.state) == ("abandoned", True, "committed")


def test_a_late_result_counts_where_no_other_came(store: Store) -> None:
    store.calls.intend(call())
    store.calls.intend(call())
    store.calls.fail(call().key, 1, "timeout", maybe_billed=True)
    store.calls.commit(call().key, 0, REPLY, PAID)
    assert store.calls.reply(call().key) == REPLY


def test_a_result_without_intent_is_a_broken_promise(store: Store) -> None:
    with pytest.raises(InternalError, match="never intended"):
        store.calls.commit(call().key, 0, REPLY, PAID)
    with pytest.raises(InternalError, match="never intended"):
        store.calls.fail(call().key, 0, "x", maybe_billed=False)


def test_a_failure_never_undoes_a_committed_result(store: Store) -> None:
    store.calls.intend(call())
    store.calls.commit(call().key, 0, REPLY, PAID)
    store.calls.fail(call().key, 0, "late", maybe_billed=True)
    assert store.calls.reply(call().key) == REPLY


def test_money_is_counted_by_run_and_task(store: Store) -> None:
    for session, usd in (("r1:T1:1:executor:1", 1.0), ("r1:T2:1:executor:1", None), ("r2:T1:1:executor:1", 8.0)):
        record = call(1, SessionId(session))
        store.calls.intend(record)
        store.calls.commit(record.key, 0, REPLY, Cost(usd=usd, price_source="unknown"))
    assert store.calls.spent_usd("r1") == 1.0
    assert store.calls.spent_usd("r1", task_id="T2") == 0.0
    assert store.calls.spent_usd("r2", task_id="T1") == 8.0
    assert store.calls.spent_usd("r9") == 0.0
    (unpriced,) = store.queries.calls(session_id=SessionId("r1:T2:1:executor:1"))
    assert unpriced.cost == Cost(usd=None, price_source="unknown")


def test_task_ids_may_hold_colons(store: Store) -> None:
    session = SessionId("r1:area:T1:2:executor:1")
    store.calls.intend(call(1, session))
    store.calls.commit(call(1, session).key, 0, REPLY, PAID)
    assert store.calls.spent_usd("r1", task_id="area:T1") == 0.25


def test_a_tool_call_is_intended_then_committed_once(store: Store, opener: Callable[[], Store]) -> None:
    made = tool_call(path="src/a.py", old="x", new="é")
    before, after = {"src/a.py": sha256_text("x")}, {"src/a.py": sha256_text("é")}
    assert store.tools.find(made.key) is None
    store.tools.intend(made, DECISION, before, after)
    other = opener()
    found = other.tools.find(made.key)
    assert found is not None
    assert (found.state, found.call, found.decision, found.result) == ("intended", made, DECISION, None)
    assert (found.before_digests, found.after_digests) == (before, after)
    assert [record.call.key for record in other.tools.unfinished(RUN)] == [made.key]
    result = ToolResult(text="done é", written_digests=after, finished={"status": "done"})
    other.tools.commit(made, DECISION, result)
    other.tools.commit(made, None, ToolResult(text="again", is_error=True))
    found = store.tools.find(made.key)
    assert found is not None
    assert (found.state, found.result, found.decision) == ("committed", result, DECISION)
    assert (found.before_digests, found.after_digests) == (before, after)
    assert found.finished_at is not None
    assert store.tools.unfinished(RUN) == ()
    with pytest.raises(StoreError, match="has its result already") as caught:
        store.tools.intend(made, DECISION, {}, {})
    assert caught.value.code == "store.tool_committed"


def test_a_second_intent_keeps_the_digests_of_the_first(store: Store) -> None:
    made = tool_call()
    store.tools.intend(made, DECISION, {"a": sha256_text("before")}, {})
    store.tools.intend(made, DECISION, {"a": sha256_text("half done")}, {})
    found = store.tools.find(made.key)
    assert found is not None
    assert found.before_digests == {"a": sha256_text("before")}


def test_an_interrupted_call_is_unknown_and_stays_so(store: Store) -> None:
    made = tool_call(name="shell", command="make")
    store.tools.intend(made, DECISION, {}, {})
    told = ToolResult(text="interrupted, effects unknown", is_error=True, interrupted=True)
    store.tools.interrupt(made, DECISION, told)
    store.tools.commit(made, DECISION, ToolResult(text="done"))
    found = store.tools.find(made.key)
    assert found is not None
    assert (found.state, found.result) == ("unknown", told)


def test_a_call_that_changes_nothing_needs_no_intent_and_a_refused_one_no_decision(store: Store) -> None:
    store.tools.commit(
        tool_call(1, name="fs_read"), DECISION, ToolResult(text="", read_digests={"a": sha256_text("a")})
    )
    store.tools.commit(tool_call(0, name="nonsense"), None, ToolResult(text="no such tool", is_error=True))
    store.tools.commit(tool_call(0, turn=2), DECISION, ToolResult(text="x"))
    records = store.tools.records(SESSION)
    assert [(each.call.turn, each.call.index, each.call.name) for each in records] == [
        (1, 0, "nonsense"),
        (1, 1, "fs_read"),
        (2, 0, "fs_edit"),
    ]
    assert records[0].decision is None
    assert store.tools.records(SessionId("r1:T9:1:executor:1")) == ()


def test_output_with_nul_bytes_comes_back(store: Store) -> None:
    store.runs.create(run())
    store.tools.commit(tool_call(text="a\x00b"), DECISION, ToolResult(text="out\x00put"))
    (found,) = store.tools.records(SESSION)
    assert found.result is not None
    assert (found.result.text, found.call.input) == ("out\x00put", {"text": "a\x00b"})
    store.calls.intend(call())
    store.calls.fail(call().key, 0, "broken \x00 stream \udc80", maybe_billed=False)
    (failed,) = store.queries.calls(session_id=SESSION)
    assert isinstance(failed, CallRecord)
    assert (failed.error or "").startswith("broken \ufffd stream \ufffd")
    assert failed.started_at == AT


def test_a_session_of_many_tool_calls_is_read_whole(store: Store) -> None:
    for turn in range(1, 271):
        store.tools.commit(tool_call(turn=turn, path=f"f{turn}"), DECISION, ToolResult(text=f"result {turn}"))
    records = store.tools.records(SESSION)
    assert [each.result.text for each in records if each.result] == [f"result {turn}" for turn in range(1, 271)]


def test_heads_of_sessions_and_tool_calls_hold_no_text(store: Store, opener: Callable[[], Store]) -> None:
    later = tool_call(1)
    store.sessions.open(brief())
    store.tools.intend(later, DECISION, {}, {})
    store.tools.commit(tool_call(0, secret="the input"), None, ToolResult(text="the result", is_error=True))
    (session,) = store.index.sessions(RUN)
    assert (session.session_id, session.role, session.status, session.closed_at) == (SESSION, "executor", None, None)
    first, second = opener().index.tools(SESSION)
    assert (first.key, first.state, first.effect, first.is_error) == (tool_call(0).key, "committed", None, True)
    assert (second.key, second.state, second.effect) == (later.key, "intended", Effect.ANNOUNCE)
    assert second.finished_at is None
    assert "the " not in str((session, first, second))
    assert (store.index.sessions("r9"), store.index.tools(SessionId("r9:T1:1:executor:1"))) == ((), ())
