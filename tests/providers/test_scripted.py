"""The scripted model: the turn follows from the call alone, so that a resumed session goes on where it was."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.provider_calls import SESSION, call, capabilities, request, text, user

from aircoding.errors import ProviderError
from aircoding.providers.script import Match, Script, ScriptedError, ScriptFile, Turn, parse_script
from aircoding.providers.script_choice import choose_turn, session_match
from aircoding.providers.scripted import ScriptedProvider
from aircoding.records.ids import RunId, SessionId, TaskId, session_id
from aircoding.records.usage import Usage

names = st.sampled_from(["a", "b"])
numbers = st.integers(1, 2)
matches = st.builds(
    Match,
    role=st.none() | names,
    task=st.none() | names,
    attempt=st.none() | numbers,
    n=st.none() | numbers,
)
sessions = st.builds(Match, role=names, task=names, attempt=numbers, n=numbers)


def provider(turns: str, **more: object) -> ScriptedProvider:
    script = parse_script(f"scripts:\n- match: {{task: T1}}\n  turns:\n{turns}\n", uri="project:script.yaml")
    return ScriptedProvider(script, capabilities(), **more)


async def failure(scripted: ScriptedProvider, **given_: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await scripted.call(call(**given_))
    return caught.value


@given(st.lists(matches, max_size=6), sessions)
def test_the_first_script_that_matches_a_session_is_its_script(found: list[Match], session: Match) -> None:
    scripts = tuple(
        Script(match=match, turns=(Turn(line=line, text="x"),), line=line) for line, match in enumerate(found)
    )
    fits = [
        match
        for match in found
        if match.role in (None, session.role)
        and match.task in (None, session.task)
        and match.attempt in (None, session.attempt)
        and match.n in (None, session.n)
    ]
    file = ScriptFile(uri="x", scripts=scripts)
    if not fits:
        with pytest.raises(ProviderError) as caught:
            choose_turn(file, session, assistant_turns=0, tries=0)
        assert caught.value.action == "stop"
        return
    assert choose_turn(file, session, assistant_turns=0, tries=0).turn.line == found.index(fits[0])


@given(matches, matches, sessions)
def test_a_match_that_covers_another_takes_all_its_sessions(one: Match, other: Match, session: Match) -> None:
    if one.covers(other) and other.covers(session):
        assert one.covers(session)


@given(st.integers(1, 5), st.integers(0, 9), st.integers(0, 4), st.integers(1, 3))
def test_turn_and_error_follow_from_the_counts_alone(length: int, given_turns: int, tries: int, times: int) -> None:
    turns = tuple(Turn(line=line, text="x", error=ScriptedError(status=529, times=times)) for line in range(length))
    file = ScriptFile(uri="x", scripts=(Script(match=Match(), turns=turns, line=1),))
    if given_turns >= length:
        with pytest.raises(ProviderError, match=f"has {length} turns"):
            choose_turn(file, Match(role="a"), assistant_turns=given_turns, tries=tries)
        return
    step = choose_turn(file, Match(role="a"), assistant_turns=given_turns, tries=tries)
    assert step.turn.line == given_turns
    assert (step.error is not None) == (tries < times)


def test_a_task_id_may_hold_colons() -> None:
    session = session_id(RunId("r"), TaskId("a:b"), 2, "reviewer", 3)
    assert session_match(session) == Match(role="reviewer", task="a:b", attempt=2, n=3)


async def test_two_processes_give_the_same_answer() -> None:
    turns = "  - {thinking: hm, text: a, tools: [{name: x, input: {p: 1}}, {name: x, input: {}}]}"
    one, other = await provider(turns).call(call()), await provider(turns).call(call(tries=3))
    assert one.content == other.content
    ids = [block["id"] for block in one.content if block["type"] == "tool_use"]
    assert len(set(ids)) == 2
    assert one.stop_reason == "tool_use"


async def test_ids_differ_between_turns_and_sessions() -> None:
    turns = "\n".join(["  - {tools: [{name: x, input: {}}]}"] * 2)
    scripted = provider(turns)
    other = SessionId("r2:T1:1:executor:1")
    replies = [await scripted.call(call(assistant_turns=n, session=s)) for n in (0, 1) for s in (SESSION, other)]
    assert len({reply.content[0]["id"] for reply in replies}) == 4


async def test_no_script_and_a_script_at_its_end_name_match_and_file() -> None:
    scripted = provider("  - text: a")
    stranger = await failure(scripted, session=SessionId("r:T9:1:reviewer:1"))
    assert (stranger.action, stranger.maybe_billed) == ("stop", False)
    assert "{role: reviewer, task: T9, attempt: 1, n: 1}" in stranger.message
    assert "project:script.yaml" in stranger.message
    ended = await failure(scripted, assistant_turns=1)
    assert ended.action == "stop"
    assert "{task: T1} in project:script.yaml, line 2" in ended.message


@pytest.mark.parametrize(
    ("error", "kind", "action", "billed"),
    [
        ("status: 429, retry_after_seconds: 3", "rate_limit", "wait", False),
        ("status: 529", "overloaded", "retry", False),
        ("status: 400", "invalid_request", "stop", False),
        ("stream: cut", "cut_stream", "retry", True),
        ("stream: error_event", "overloaded", "retry", True),
        ("stream: early_end", "silent_end", "retry", True),
        ("stream: hang", "timeout", "retry", True),
        ("stream: stall", "timeout", "retry", True),
        ("status: 400, should_retry: true", "invalid_request", "retry", False),
        ("status: 500, should_retry: false", "server", "stop", False),
    ],
)
async def test_a_scripted_error_is_what_the_real_one_would_be(
    error: str, kind: str, action: str, *, billed: bool
) -> None:
    scripted = provider(f"  - {{text: a, error: {{{error}}}}}")
    found = await failure(scripted)
    assert (found.kind, found.action, found.maybe_billed) == (kind, action, billed)
    assert (await scripted.call(call(tries=1))).content == (text("a"),)


async def test_delays_are_waited_for() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await asyncio.sleep(0)

    await provider("  - {text: a, delay_seconds: 1.5}", sleep=sleep).call(call())
    assert waited == [1.5]


async def test_a_request_that_the_api_would_refuse_is_refused_here_too() -> None:
    error = await failure(provider("  - text: a"), body=request(user(text(""))))
    assert (error.kind, error.action) == ("invalid_request", "stop")


async def test_usage_costs_what_the_stand_in_costs_and_says_that_it_is_simulated() -> None:
    scripted = provider("  - text: a")
    cost = scripted.cost("any name", Usage(input_tokens=1_000_000))
    assert (cost.usd, cost.price_source) == (2.0, "simulated")
    reply = await scripted.call(call())
    spent = scripted.cost("any name", reply.usage).usd
    assert spent is not None
    assert spent > 0


def test_limits_are_the_stand_in_s_under_the_name_that_was_asked_for() -> None:
    limits = provider("  - text: a", max_output_tokens=500).limits("scripted")
    assert (limits.model, limits.window_tokens, limits.max_output_tokens) == ("scripted", 1_000_000, 500)
