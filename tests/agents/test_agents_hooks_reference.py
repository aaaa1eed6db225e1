"""The reference page of hooks says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from agents.doubles import brief

from aircoding.agents.hook_answers import ANSWER_KEYS, MOST_ANSWER_CHARS
from aircoding.agents.hooks import FAILURES_IN_A_ROW, session_facts
from aircoding.agents.loaded import LOAD_REASONS
from aircoding.plugins.registering import ContextRequest
from aircoding.records.hooks import DEFAULT_TIMEOUT_SECONDS, MOST_TEXT_CHARS, MOST_TIMEOUT_SECONDS, HookEvent

PAGE = (Path(__file__).parents[2] / "docs/reference/hooks.md").read_text()


def table(after: str) -> list[list[str]]:
    """Return the cells of the first table below a heading or a line."""
    lines = PAGE.split(after, 1)[1].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows: list[list[str]] = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", text))


def test_the_events_and_what_each_may_return() -> None:
    said = {names(event)[0]: names(keys) for event, _, keys in table("## Events")}
    assert said == {event.value: ANSWER_KEYS[event] for event in HookEvent}


def test_the_facts() -> None:
    told = names(PAGE.split("Every hook is given", 1)[1].split(";")[0])
    facts = session_facts(brief(), profile="default", project_root="/project")
    assert set(told) == {"event", "turn", *facts}
    asked = names(PAGE.split("a context source gets", 1)[1].split("as attributes")[0])
    assert set(asked) == set(ContextRequest.__slots__)
    reasons = PAGE.split("`reason` is", 1)[1].split("A project's hook")[0]
    assert names(reasons) == LOAD_REASONS


def test_the_limits() -> None:
    values = [value.split()[0] for _, value in table("## Limits")]
    limits = (DEFAULT_TIMEOUT_SECONDS, MOST_TIMEOUT_SECONDS, MOST_TEXT_CHARS, MOST_ANSWER_CHARS, FAILURES_IN_A_ROW)
    assert values == [f"{limit:.0f}" for limit in limits]
