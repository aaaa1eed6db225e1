"""One model call: the ledger before and after, retries, cancellation."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agents.conftest import Session, shown_tools
from agents.doubles import MARKED_SECRET, SECRET, SESSION, ScriptedModel, says

from aircoding.agents.calls import call_model, call_step
from aircoding.errors import ProviderError
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.ids import call_key

KEY = call_key(SESSION, 1)


def failure(kind: str = "overloaded", action: str = "retry", *, billed: bool = False) -> ProviderError:
    return ProviderError(f"it is {kind}", kind=kind, action=action, maybe_billed=billed, hint="wait")


def model(session: Session) -> ScriptedModel:
    assert isinstance(session.deps.provider, ScriptedModel)
    return session.deps.provider


async def ask(session: Session) -> Reply:
    return await call_model(session.deps, session.brief, 1, shown_tools())


async def test_a_reply_is_committed_with_its_cost_and_never_asked_for_again(
    make_session: Callable[..., Session],
) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])

    first, second = await ask(session), await ask(session)

    assert first == second
    assert len(model(session).calls) == 1
    assert session.tries == [("committed", False)]
    assert session.deps.ledger.spent_usd("r1") == 0.25


async def test_the_request_is_the_recorded_one_with_its_reserved_output(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    await ask(session)

    (call,) = model(session).calls
    assert call.request == shown_tools().request
    assert call.max_output_tokens == shown_tools().manifest.budget.reserved_output
    assert (call.key, call.assistant_turns, call.tries, call.model) == (KEY, 0, 0, "test-model")


async def test_each_try_is_a_row_and_waits_what_the_policy_says(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    model(session).failures[1] = [failure(), failure("cut_stream", billed=True)]

    await ask(session)

    assert session.tries == [("failed", False), ("failed", True), ("committed", False)]
    assert session.deps.clock.slept == [1.0, 2.0]  # type: ignore[attr-defined]
    assert [call.tries for call in model(session).calls] == [0, 1, 2]


async def test_the_last_failure_is_raised_when_the_policy_gives_up(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    model(session).failures[1] = [failure(), failure(), failure("server")]

    with pytest.raises(ProviderError, match="it is server"):
        await ask(session)
    assert session.tries == [("failed", False)] * 3


async def test_as_a_step_a_failure_is_a_value(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})], usd=None)
    model(session).failures[1] = [failure("credentials", "stop")]

    failed = await call_step(session.deps, session.brief, 1, shown_tools())
    good = await call_step(session.deps, session.brief, 1, shown_tools())

    assert failed == {"failed": "provider.credentials", "message": "it is credentials", "hint": "wait"}
    assert set(good) == {"reply"}


async def test_a_call_cancelled_in_flight_is_marked_as_maybe_billed_and_sent_again_later(
    make_session: Callable[..., Session],
) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    started = asyncio.Event()

    async def hang(call: CallRequest, **_: object) -> Reply:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    answer, model(session).call = model(session).call, hang  # type: ignore[method-assign]
    running = asyncio.create_task(ask(session))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert session.tries == [("failed", True)]

    model(session).call = answer  # type: ignore[method-assign]
    await ask(session)
    assert session.tries == [("failed", True), ("committed", False)]
    assert model(session).calls[-1].tries == 1


async def test_cancelling_while_waiting_for_a_retry_sends_nothing_more(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    model(session).failures[1] = [failure()]
    waiting = asyncio.Event()

    async def wait_long(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    session.deps.clock.sleep = wait_long  # type: ignore[method-assign]
    running = asyncio.create_task(ask(session))
    await waiting.wait()
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert session.tries == [("failed", False)]


async def test_a_fault_in_a_provider_is_on_the_ledger_and_passes_on(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    model(session).failures[1] = [ZeroDivisionError()]

    with pytest.raises(ZeroDivisionError):
        await ask(session)
    assert session.tries == [("failed", True)]


async def test_a_call_in_flight_at_a_crash_is_abandoned_and_repeated(make_session: Callable[..., Session]) -> None:
    session = make_session([says({"type": "text", "text": "Hello."})])
    deps = session.deps

    def die(*_arguments: Any, **_more: Any) -> None:
        raise SystemExit

    commit, fail = deps.ledger.commit, deps.ledger.fail
    deps.ledger.commit = deps.ledger.fail = die  # type: ignore[method-assign]
    with pytest.raises(SystemExit):
        await ask(session)
    deps.ledger.commit, deps.ledger.fail = commit, fail  # type: ignore[method-assign]

    await ask(session)
    assert session.tries == [("abandoned", True), ("committed", False)]


async def test_what_is_kept_of_a_reply_is_masked_and_dropped_thinking_is_an_event(
    make_session: Callable[..., Session],
) -> None:
    secret_thought = {"type": "thinking", "thinking": SECRET, "signature": "s"}
    session = make_session([says(secret_thought, {"type": "text", "text": SECRET})])

    reply = await ask(session)

    assert reply.content == ({"type": "text", "text": MARKED_SECRET},)
    assert session.deps.ledger.reply(KEY) == reply
    assert session.events == [("screening.thinking_dropped", {"call": KEY, "blocks": 1})]
