"""Both accounts of the prompt cache against cases worked out by hand, and against each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cache_cases import CASES, M1, M5, Case, image, result, t, thinking, tool, use
from support.cache_models import Predicted, Simulated, Uses


def run(model: Predicted | Simulated, case: Case) -> list[Uses]:
    """Send the requests of a case; an answer begins before any request that starts at or after its moment."""
    waiting: list[tuple[float, str]] = []
    found: list[Uses] = []
    for number, send in enumerate(case.sends):
        for begins, key in sorted(waiting):
            if begins <= send.at:
                model.begin(key, begins)
                waiting.remove((begins, key))
        found.append(model.send(str(number), send.model, send.body, send.at))
        if send.begins is not None:
            waiting.append((send.at if send.begins == -1.0 else send.begins, str(number)))
    return found


@pytest.mark.parametrize("account", [Predicted, Simulated])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_worked_out_by_hand_holds(case: Case, account: type[Predicted | Simulated]) -> None:
    assert run(account(case.minimum), case) == [send.uses for send in case.sends], case.says


def test_the_cases_are_at_least_twenty_five_and_each_is_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 25


BLOCKS = [
    lambda n, mark: t(f"t{n}", 40, mark),
    lambda n, mark: use(f"u{n}"),
    lambda n, mark: result(f"u{n}", 25, mark),
    lambda n, mark: thinking(f"h{n}", 30),
    lambda n, mark: image(40),
    lambda n, mark: {"type": "text", "text": ""},
]


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A request of a small alphabet, so that prefixes meet: tools, system, up to 30 blocks, marks, settings."""
    marks = st.sampled_from([None, None, M5, M1])
    tools = [tool(f"f{draw(st.integers(0, 1))}", 50, draw(marks)) for _ in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        tools.append({"type": "web_search_20250305", "name": "web_search"})
    system = [t(f"s{draw(st.integers(0, 1))}", 60, draw(marks)) for _ in range(draw(st.integers(0, 2)))]
    kinds = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), marks), min_size=1, max_size=30))
    cuts = draw(st.sets(st.integers(1, 30), max_size=4))
    messages: list[dict[str, Any]] = []
    for number, (kind, which, mark) in enumerate(kinds):
        if number == 0 or number in cuts:
            messages.append({"role": draw(st.sampled_from(["user", "assistant"])), "content": []})
        messages[-1]["content"].append(BLOCKS[kind](which, mark))
    body: dict[str, Any] = {"tools": tools, "system": system, "messages": messages}
    if draw(st.integers(0, 4)) == 0:
        body["cache_control"] = draw(st.sampled_from([M5, M1]))
    if draw(st.integers(0, 4)) == 0:
        body["tool_choice"] = {"type": "any"}
    if draw(st.integers(0, 4)) == 0:
        body["thinking"] = {"type": "adaptive"}
    if draw(st.integers(0, 4)) == 0:
        body["output_config"] = {"effort": draw(st.sampled_from(["low", "medium", "high"]))}
    if draw(st.integers(0, 4)) == 0:
        body["speed"] = "fast"
    return body


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, Any, float, int]]:
    """Requests with time between them; each is new, a repeat, or an earlier one that grew or was edited."""
    made: list[dict[str, Any]] = []
    steps: list[tuple[str, Any, float, int]] = []
    for _ in range(draw(st.integers(2, 8))):
        way = draw(st.integers(0, 3)) if made else 0
        body = draw(bodies()) if way == 0 else dict(draw(st.sampled_from(made)))
        if way == 1 and draw(st.booleans()):
            first, *rest = body["messages"]
            joined = [*first["content"], *(block for message in rest for block in message["content"])]
            body = {**body, "messages": [{**first, "content": joined}]}
        if way >= 2:
            more = draw(bodies())["messages"]
            body = {**body, "messages": [*body["messages"][: draw(st.integers(1, 6))], *more]}
        made.append(body)
        model = draw(st.sampled_from(["claude-sonnet-5-5", "claude-haiku-4-5", "claude-opus-5-5"]))
        pause = draw(st.sampled_from([0.0, 1.0, 100.0, 299.0, 300.0, 1_500.0, 3_600.0]))
        steps.append((model, body, pause, draw(st.integers(0, 3))))
    return steps


@settings(max_examples=400, deadline=None)
@given(histories(), st.sampled_from([0, 60, 150]))
def test_both_accounts_agree_on_any_sequence(history: list[tuple[str, Any, float, int]], minimum: int) -> None:
    predicted, simulated = Predicted(minimum), Simulated(minimum)
    now, waiting = 0.0, list[tuple[int, str]]()
    for number, (model, body, pause, delay) in enumerate(history):
        now += pause
        for left, key in waiting:
            if left <= number:
                predicted.begin(key, now)
                simulated.begin(key, now)
        waiting = [(left, key) for left, key in waiting if left > number]
        ours = predicted.send(str(number), model, body, now)
        theirs = simulated.send(str(number), model, body, now)
        assert ours == theirs, (number, ours, theirs)
        assert min(ours) >= 0
        if delay < 3:  # else the request gets no answer
            waiting.append((number + 1 + delay, str(number)))
