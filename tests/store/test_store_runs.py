"""Runs, who owns them, sessions and their messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.records import AT, RUN, SESSION, brief, call, event, run, tool_call

from aircoding.errors import FencedError, NotFoundError, StoreError
from aircoding.records.calls import Reply, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.ids import RunId, SessionId, TaskId, session_id
from aircoding.records.layers import Layer, SegmentKind, Trust
from aircoding.records.policy import Decision, Effect
from aircoding.records.segments import Claim
from aircoding.records.sessions import DependencyResult, Evidence, SessionOutcome
from aircoding.records.tasks import Retry, TaskSpec
from aircoding.records.usage import Cost, Usage
from aircoding.store import Store

TEXT = {"type": "text", "text": "I read."}


def test_runs_come_back_newest_first(store: Store) -> None:
    older = run("r1", max_cost_usd=2.5, target_branch=None)
    newer = run("r2", created_at="2026-12-01T00:00:00Z")
    store.runs.create(older)
    store.runs.create(newer)
    store.runs.create(replace(older, goal="another goal"))
    assert store.runs.get("r1") == older
    assert store.runs.runs() == (newer, older)
    with pytest.raises(NotFoundError, match="no run r9") as caught:
        store.runs.get("r9")
    assert "aircoding status" in caught.value.hint


def test_a_run_is_finished_and_taken_up_again(store: Store) -> None:
    store.runs.create(run())
    store.runs.finish(RUN, "interrupted")
    assert (store.runs.get(RUN).status, store.runs.get(RUN).finished_at) == ("interrupted", None)
    store.runs.finish(RUN, "done")
    assert store.runs.get(RUN).status == "done"
    assert (store.runs.get(RUN).finished_at or "").endswith("Z")
    store.runs.finish(RUN, "running")
    assert store.runs.get(RUN).finished_at is None
    with pytest.raises(NotFoundError):
        store.runs.finish("r9", "done")


def test_whoever_claims_a_run_keeps_the_one_before_from_writing(store: Store, opener: Callable[[], Store]) -> None:
    first, second = store, opener()
    first.runs.create(run())
    assert first.claim(RUN) == 1
    first.sessions.open(brief())
    first.calls.intend(call())
    assert second.claim(RUN) == 2
    reply = Reply(content=(TEXT,), stop_reason="end_turn", usage=Usage(), model="m")
    decision = Decision(effect=Effect.ALLOW, act="edit", reason="", fingerprint=sha256_text("f"))
    writes: list[Callable[[], object]] = [
        lambda: first.events.append(event("x")),
        lambda: first.runs.finish(RUN, "done"),
        lambda: first.sessions.open(brief(session_id(RunId(RUN), TaskId("T1"), 2, "executor", 1))),
        lambda: first.sessions.append_message(SESSION, 0, "assistant", [TEXT]),
        lambda: first.sessions.close(SessionOutcome(session_id=SESSION, status="done", summary="", result={}, turns=1)),
        lambda: first.calls.intend(call(2)),
        lambda: first.calls.commit(call().key, 0, reply, Cost(usd=1.0, price_source="")),
        lambda: first.calls.fail(call().key, 0, "late", maybe_billed=True),
        lambda: first.tools.intend(tool_call(), decision, {}, {}),
        lambda: first.tools.commit(tool_call(), decision, ToolResult(text="")),
        lambda: first.tools.interrupt(tool_call(), decision, ToolResult(text="")),
    ]
    for write in writes:
        with pytest.raises(FencedError, match="its fence is 2, this one holds 1"):
            write()
    second.events.append(event("x"))
    assert [each.seq for each in first.events.read(RUN)] == [1], "it may still read"
    assert second.runs.get(RUN).status == "running"
    assert second.calls.reply(call().key) is None
    assert second.sessions.messages(SESSION) == ()


def test_a_worker_writes_with_the_fence_of_its_coordinator(store: Store, opener: Callable[[], Store]) -> None:
    store.runs.create(run())
    worker = opener()
    worker.adopt(RUN, store.claim(RUN))
    worker.events.append(event("x"))
    store.claim(RUN)
    with pytest.raises(FencedError):
        worker.events.append(event("y"))


def test_a_store_that_never_claimed_writes_beside_the_owner(store: Store, opener: Callable[[], Store]) -> None:
    store.runs.create(run())
    store.claim(RUN)
    assert opener().events.append(event("approval.given")) == (1,)
    assert store.events.append(event("x")) == (2,)


def test_claiming_an_unknown_run_is_refused(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.claim("r9")


def test_a_brief_comes_back_with_its_evidence(store: Store, opener: Callable[[], Store]) -> None:
    told = brief(
        task=TaskSpec(id=TaskId("T1"), title="Items", retry=Retry(max_attempts=3), verify=("make test",), line=7),
        evidence=(
            Evidence(
                uri="air:artifact/1",
                layer=Layer.L8,
                kind=SegmentKind.FAILURE,
                title="The failure",
                text="boom é",
                claims=(Claim(uri="project:a.py", digest=sha256_text("a")),),
                required=True,
            ),
            Evidence(
                uri="air:artifact/2", layer=Layer.L6, kind=SegmentKind.DIAGNOSTIC, title="", text="", trust=Trust.AGENT
            ),
        ),
        dependencies=(DependencyResult(task_id="T0", title="t", summary="s", changed_files=("a", "b")),),
        max_cost_usd=1.25,
    )
    store.sessions.open(told)
    store.sessions.open(replace(told, instruction="Something else."))
    assert opener().sessions.brief(SESSION) == told
    with pytest.raises(NotFoundError, match="no session r1:T9"):
        store.sessions.brief(SessionId("r1:T9:1:executor:1"))
    rows = store.index.row_counts()
    assert (rows["sessions"], rows["evidence_refs"]) == (1, 2)


def test_messages_are_recorded_in_order_and_once(store: Store) -> None:
    store.sessions.open(brief())
    content = [TEXT, {"type": "thinking", "thinking": "…", "signature": "s"}]
    store.sessions.append_message(SESSION, 0, "assistant", content)
    store.sessions.append_message(SESSION, 0, "assistant", [TEXT])
    with pytest.raises(StoreError, match="came before message 1"):
        store.sessions.append_message(SESSION, 2, "user", [TEXT])
    store.sessions.append_message(SESSION, 1, "user", [TEXT])
    first, second = store.sessions.messages(SESSION)
    assert (first.role, list(first.content), first.uri) == ("assistant", content, f"air:session/{SESSION}/message/0")
    assert (second.index, second.role) == (1, "user")
    with pytest.raises(NotFoundError):
        store.sessions.append_message(SessionId("r1:T9:1:executor:1"), 0, "user", [TEXT])


def test_only_the_first_end_of_a_session_counts(store: Store) -> None:
    store.sessions.open(brief())
    assert store.sessions.unfinished(RUN) == (SESSION,)
    assert store.sessions.outcome(SESSION) is None
    ended = SessionOutcome(session_id=SESSION, status="done", summary="é", result={"status": "done", "n": [1]}, turns=3)
    store.sessions.close(ended)
    store.sessions.close(replace(ended, status="failed"))
    assert store.sessions.outcome(SESSION) == ended
    assert store.sessions.unfinished(RUN) == ()
    with pytest.raises(NotFoundError):
        store.sessions.close(replace(ended, session_id=SessionId("r1:T9:1:executor:1")))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(store: Store, text: str) -> None:
    digest = store.texts.put(text)
    assert digest == sha256_text(text)
    assert store.texts.put(text) == digest
    assert store.texts.get(digest) == text


def test_a_text_without_utf8_form_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="at character 2") as caught:
        store.texts.put("ab\udc80")
    assert caught.value.code == "store.text"
    assert store.texts.get(sha256_text("never stored")) is None


def test_large_texts_are_compressed(store: Store) -> None:
    text = "the same line again\n" * 50_000
    digest = store.texts.put(text)
    assert store.texts.get(digest) == text
    held = store.describe().texts
    assert held.raw_bytes == len(text)
    assert held.stored_bytes < len(text) / 50
    assert AT.endswith("Z")
