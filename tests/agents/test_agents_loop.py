"""Whole sessions: turns, results, limits, and what a resumed one does again."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from agents.conftest import Session
from agents.doubles import SESSION, MemoryEngine, ScriptedModel, says, uses

from aircoding.agents.loop import run_session
from aircoding.agents.run_budget import RunBudget
from aircoding.errors import ProviderError
from aircoding.records.calls import Reply
from aircoding.records.layers import Reason
from aircoding.records.sessions import SessionOutcome

DONE = says(uses("finish", status="done", summary="Made it ten."))
TALK = says({"type": "text", "text": "I think it is done."}, stop_reason="end_turn")
WORK = (
    says({"type": "text", "text": "I look."}, uses("fs_read", path="src/a.py")),
    says(
        uses("fs_edit", path="src/a.py", old_text="return 1", new_text="return 10"),
        uses("shell", command="sh -c 'echo x >> src/count'"),
    ),
    DONE,
)

MakeSession = Callable[..., Session]


async def run(session: Session) -> SessionOutcome:
    return await run_session(session.deps, session.brief)


def messages(session: Session) -> list[tuple[str, list[Any]]]:
    return [(message.role, list(message.content)) for message in session.deps.sessions.messages(SESSION)]


def requests(session: Session) -> list[Any]:
    assert isinstance(session.deps.provider, ScriptedModel)
    return [call.request for call in session.deps.provider.calls]


def asked(session: Session) -> int:
    assert isinstance(session.deps.provider, ScriptedModel)
    return len(session.deps.provider.calls)


async def test_a_session_reads_edits_checks_and_finishes(make_session: MakeSession) -> None:
    session = make_session(WORK)

    outcome = await run(session)

    assert (outcome.status, outcome.stop, outcome.turns) == ("done", "finished", 3)
    assert outcome.result == {"status": "done", "summary": "Made it ten."}
    assert session.deps.sessions.outcome(SESSION) == outcome
    assert session.text("src/a.py").startswith("def one():\n    return 10\n")
    assert [role for role, _ in messages(session)] == ["assistant", "user"] * 3
    results = messages(session)[3][1]
    assert [block["tool_use_id"] for block in results] == [block["id"] for block in WORK[1].content]
    assert [kind for kind, _ in session.events] == ["session.started", "session.finished"]
    assert session.events[1][1] == {"role": "executor", "status": "done", "stop": "finished", "turns": 3}


async def test_each_request_is_on_record_before_it_is_sent_and_extends_the_one_before(
    make_session: MakeSession,
) -> None:
    session = make_session(WORK)
    provider = session.deps.provider
    assert isinstance(provider, ScriptedModel)
    answer = provider.call

    async def look(call: Any, **more: Any) -> Reply:
        kept = session.deps.assemblies.find(SESSION, call.assistant_turns + 1)
        assert kept is not None
        assert kept.request == call.request
        return await answer(call, **more)

    provider.call = look  # type: ignore[method-assign]
    await run(session)

    sent = [call.request["messages"] for call in provider.calls]
    assert [len(each) for each in sent] == [1, 3, 5]
    assert sent[1][1]["content"][1]["name"] == "fs_read"
    assert "return 1" in str(sent[1][2])


async def test_a_turn_without_a_call_is_reminded_once(make_session: MakeSession) -> None:
    mended = make_session([TALK, DONE])
    stubborn = make_session([TALK, TALK, DONE])

    assert (await run(mended)).status == "done"
    assert [role for role, _ in messages(mended)] == ["assistant", "assistant", "user"]
    last = requests(mended)[1]["messages"][-1]
    assert last["role"] == "user"
    assert last["content"][0]["text"].startswith("<system-reminder>\nYou ended your turn without a tool call.")
    outcome = await run(stubborn)
    assert (outcome.status, outcome.stop, outcome.turns) == ("failed", "invalid_result", 2)


async def test_work_between_two_silent_turns_makes_the_count_new(make_session: MakeSession) -> None:
    session = make_session([TALK, WORK[0], TALK, DONE])

    assert (await run(session)).status == "done"


async def test_a_result_that_is_not_in_order_gets_one_repair_turn(make_session: MakeSession) -> None:
    wrong = says(uses("finish", status="fine"))
    mended = make_session([wrong, DONE])
    stubborn = make_session([wrong, WORK[0], wrong, DONE])

    assert (await run(mended)).status == "done"
    told = messages(mended)[1][1][0]
    assert told["is_error"]
    assert "'summary' is a required property" in told["content"][0]["text"]
    outcome = await run(stubborn)
    assert (outcome.status, outcome.stop, outcome.turns) == ("failed", "invalid_result", 3)
    assert "status: 'fine' is none of done, blocked, failed" in outcome.summary


async def test_what_comes_after_finish_is_not_run(make_session: MakeSession) -> None:
    session = make_session([says(*DONE.content, uses("fs_write", path="src/late.py", content="x"))])

    assert (await run(session)).status == "done"
    assert not (session.root / "src" / "late.py").exists()
    assert [block["type"] for block in messages(session)[1][1]] == ["tool_result", "tool_result"]


async def test_a_call_that_was_cut_is_not_run(make_session: MakeSession) -> None:
    cut = says(
        uses("fs_read", path="src/a.py"), uses("fs_write", path="src/cut.py", content="half"), stop_reason="max_tokens"
    )
    session = make_session([cut, DONE])

    assert (await run(session)).status == "done"
    assert not (session.root / "src" / "cut.py").exists()
    first, second = messages(session)[1][1]
    assert "is_error" not in first
    assert "cut at the output limit" in second["content"][0]["text"]


@pytest.mark.parametrize("system_turns", [False, True])
async def test_turns_are_limited_and_the_last_is_announced(make_session: MakeSession, system_turns: bool) -> None:
    session = make_session([WORK[0]] * 3, max_turns=3, system_turns=system_turns)

    outcome = await run(session)

    assert (outcome.status, outcome.stop, outcome.turns) == ("failed", "turn_limit", 3)
    assert ["One turn is left" in str(request) for request in requests(session)] == [False, False, True]
    last = requests(session)[2]["messages"][-1]
    text = last["content"][-1]["text"]
    if system_turns:
        assert last["role"] == "system"
        assert text.endswith("\n\nCurrent time: 2026-11-30T12:00:00Z\n")
    else:
        assert [block["type"] for block in last["content"]] == ["tool_result", "text"]
        assert text.startswith("<system-reminder>\nOne turn is left.")
        assert "Current time" not in text


async def test_steering_is_stored_beside_the_conversation_and_not_in_it(make_session: MakeSession) -> None:
    session = make_session([WORK[0]] * 2, max_turns=2)

    await run(session)

    assert "One turn is left" not in str(messages(session))
    due = session.deps.sessions.steering(SESSION, 2)
    assert [entry.source_uri for entry in due] == ["resource:prompts/steering/last-turn.md"]
    assert session.deps.sessions.steering(SESSION, 1) == ()


@pytest.mark.moves_cache_prefix("a reload opens a new epoch")
async def test_a_reload_opens_an_epoch_that_strips_steering_and_thinking(make_session: MakeSession) -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
    talk = says(thinking, *TALK.content)
    session = make_session([talk, WORK[0], WORK[0], DONE])
    revisions = iter(["rev1", "rev1", "rev1", "rev2"])
    session.deps = replace(session.deps, revision_for=lambda _brief: next(revisions))

    assert (await run(session)).status == "done"

    contexts = [session.deps.assemblies.find(SESSION, turn) for turn in range(1, 5)]
    manifests = [context.manifest for context in contexts if context is not None]
    assert [(one.epoch, one.run_revision) for one in manifests] == [(1, "rev1")] * 3 + [(2, "rev2")]
    third, fourth = requests(session)[2], requests(session)[3]
    assert "You ended your turn" in str(third)
    assert "'thinking': 'Hm.'" in str(third)
    assert "You ended your turn" not in str(fourth)
    assert "'thinking': 'Hm.'" not in str(fourth)
    assert [note.reason for note in manifests[3].outcomes if "/message/0/block/0" in note.uri] == [Reason.STALE]


@pytest.mark.parametrize("system_turns", [False, True])
@pytest.mark.parametrize("cut_after", [1, 2, 3, 4])
async def test_a_resumed_session_sends_byte_for_byte_what_the_live_one_would_have_sent(
    make_session: MakeSession, cut_after: int, system_turns: bool
) -> None:
    """Block shapes included: texts, thinking, parallel calls, an error, a silent turn, the last turn's reminder."""
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
    replies = [
        says(thinking, uses("fs_read", path="src/a.py"), uses("fs_read", path="src/none.py")),
        TALK,
        says({"type": "text", "text": "Again."}, uses("fs_glob", pattern="src/*")),
        WORK[0],
        DONE,
    ]
    live = make_session(replies, max_turns=5, system_turns=system_turns)
    await run(live)
    cut = make_session(replies, max_turns=5, system_turns=system_turns)
    assert isinstance(cut.deps.provider, ScriptedModel)
    cut.deps.provider.failures[cut_after + 1] = [asyncio.CancelledError()]
    with pytest.raises(asyncio.CancelledError):
        await run(cut)
    assert isinstance(cut.deps.engine, MemoryEngine)
    cut.deps.engine.restart()

    assert (await run(cut)).status == "done"

    sent = [json.dumps(request) for request in requests(live)]
    resumed = [json.dumps(request) for request in requests(cut)]
    assert resumed[:cut_after] + resumed[cut_after + 1 :] == sent
    assert resumed[cut_after] == resumed[cut_after + 1]  # what was in flight is sent again as it was


async def test_money_is_limited(make_session: MakeSession) -> None:
    session = make_session([WORK[0]] * 5, max_cost_usd=0.5)

    outcome = await run(session)

    assert (outcome.status, outcome.stop, outcome.turns) == ("blocked", "cost_limit", 2)
    assert asked(session) == 2


async def test_a_resumed_session_does_not_count_what_it_spent_later_against_its_own_past(
    make_session: MakeSession,
) -> None:
    session = make_session(WORK, max_cost_usd=0.75)
    session.deps = replace(session.deps, engine=(engine := DyingEngine(7)))
    with pytest.raises(PowerCutError):
        await run(session)
    assert session.deps.ledger.spent_usd("r1") == 0.75

    engine.restart()
    assert (await run(session)).status == "done"


async def test_a_session_that_goes_in_circles_is_stopped_and_its_calls_are_named(make_session: MakeSession) -> None:
    session = make_session([*WORK[:2], *[WORK[0]] * 9, DONE], max_idle_turns=3)

    outcome = await run(session)

    assert (outcome.status, outcome.stop, outcome.turns) == ("failed", "no_progress", 6)
    assert 'fs_read {"path":"src/a.py"} (3 times)' in outcome.summary
    assert asked(session) == 6


async def test_a_session_is_held_when_the_money_of_the_run_is_spent_and_goes_on_with_more(
    make_session: MakeSession,
) -> None:
    session = make_session(WORK)
    budget = RunBudget(0.5, lambda: session.deps.ledger.spent_usd("r1"))
    session.deps = replace(session.deps, budget=budget)
    running = asyncio.create_task(run(session))
    await asyncio.wait_for(budget.held(1), timeout=20)

    assert (asked(session), running.done()) == (2, False)
    assert len(messages(session)) == 4, "the turn that was under way is whole"

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert session.deps.sessions.outcome(SESSION) is None
    session.deps = replace(session.deps, engine=MemoryEngine(), budget=RunBudget(5, lambda: 0.5))
    assert (await run(session)).status == "done"
    assert asked(session) == 3


async def test_an_unknown_price_does_not_count_as_money(make_session: MakeSession) -> None:
    session = make_session(WORK, usd=None, max_cost_usd=0.01)

    assert (await run(session)).status == "done"


async def test_what_does_not_fit_is_not_sent(make_session: MakeSession) -> None:
    session = make_session(WORK, window=1_100)

    outcome = await run(session)

    assert (outcome.status, outcome.stop, outcome.turns) == ("blocked", "overflow", 0)
    assert outcome.result["needed_tokens"] > outcome.result["available_tokens"]
    assert asked(session) == 0


async def test_a_provider_that_fails_for_good_blocks(make_session: MakeSession) -> None:
    session = make_session(WORK)
    assert isinstance(session.deps.provider, ScriptedModel)
    session.deps.provider.failures[2] = [ProviderError("no key", kind="credentials", action="stop", hint="set it")]

    outcome = await run(session)

    assert (outcome.status, outcome.stop, outcome.turns) == ("blocked", "provider", 2)
    assert outcome.summary == "no key"
    assert outcome.result == {"code": "provider.credentials", "hint": "set it"}


async def test_a_refusal_blocks(make_session: MakeSession) -> None:
    session = make_session([says({"type": "text", "text": "No."}, stop_reason="refusal")])

    outcome = await run(session)

    assert (outcome.status, outcome.stop) == ("blocked", "provider")
    assert asked(session) == 1


async def test_a_replay_asks_for_the_same_steps_and_repeats_nothing(make_session: MakeSession) -> None:
    session = make_session(WORK, max_cost_usd=0.9)
    first = await run(session)
    engine = session.deps.engine
    assert isinstance(engine, MemoryEngine)
    steps, events = [name for name, _ in engine.recorded], session.events
    engine.restart()

    second = await run(session)

    assert second == first
    assert [name for name, _ in engine.recorded] == steps
    assert steps == [f"{SESSION}#{tail}" for tail in ("1", "1#0", "2", "2#0", "2#1", "3", "3#0")]
    assert asked(session) == 3
    assert session.text("src/count") == "x\n"
    assert session.events == events


async def test_without_the_engines_memory_our_own_logs_are_enough(make_session: MakeSession) -> None:
    session = make_session(WORK)
    first = await run(session)
    session.deps = replace(session.deps, engine=MemoryEngine())

    assert await run(session) == first
    assert asked(session) == 3
    assert session.text("src/count") == "x\n"


@pytest.mark.parametrize("last", range(1, 8))
async def test_a_crash_after_any_step_changes_nothing_in_the_end(make_session: MakeSession, last: int) -> None:
    session = make_session(WORK)
    engine = DyingEngine(last)
    session.deps = replace(session.deps, engine=engine)
    with pytest.raises(PowerCutError):
        await run(session)

    engine.restart()
    outcome = await run(session)

    assert (outcome.status, outcome.turns) == ("done", 3)
    assert asked(session) == 3
    assert session.text("src/count") == "x\n"
    assert session.text("src/a.py").count("return 10") == 1
    assert [role for role, _ in messages(session)] == ["assistant", "user"] * 3


class PowerCutError(Exception):
    """The process is gone: its step was done and our rows committed, but the engine did not hear of it."""


class DyingEngine(MemoryEngine):
    """Loses the result of its N-th step, once."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self._left = last

    async def step(self, name: str, body: Any) -> Any:
        before = len(self.recorded)
        result = await super().step(name, body)
        self._left -= len(self.recorded) > before
        if self._left == 0:
            self._left = -1
            self.recorded.pop()
            raise PowerCutError
        return result
