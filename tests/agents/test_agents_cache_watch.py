"""What a session's record says of the prompt cache: forecasts, misses with their reason, and what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from agents.conftest import Session
from agents.doubles import SESSION, says, uses
from support.cache_models import rules_of
from support.contexts import segment

from aircoding.agents.cache_watch import CacheWatch
from aircoding.agents.loop import run_session
from aircoding.errors import ProviderError
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.layers import Layer, Scope, SegmentKind
from aircoding.records.usage import Usage

RULE = {"layer": Layer.L3, "scope": Scope.RUN, "kind": SegmentKind.RULE}
DONE = uses("finish", status="done", summary="Done.")
READ = uses("fs_read", path="src/a.py")


def reply(content: dict[str, Any], *, read: int, written: int) -> Reply:
    return replace(says(content), usage=Usage(cache_read_tokens=read, cache_write_5m_tokens=written, output_tokens=5))


@pytest.fixture
def watched(make_session: Callable[..., Session]) -> Callable[..., Session]:
    def make(replies: list[Reply]) -> Session:
        session = make_session(replies)
        session.deps = replace(session.deps, cache_watch=CacheWatch(lambda model: rules_of(model, 0)))
        return session

    return make


def misses(session: Session) -> list[dict[str, Any]]:
    return [payload for kind, payload in session.events if kind == "cache.missed"]


async def test_calls_that_read_what_was_left_say_nothing(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=3_000), reply(DONE, read=3_000, written=200)])
    await run_session(session.deps, session.brief)
    assert misses(session) == []


async def test_a_miss_by_the_provider_is_on_record_once(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=3_000), reply(DONE, read=0, written=3_200)])
    await run_session(session.deps, session.brief)
    session.deps.engine.restart()
    await run_session(session.deps, session.brief)
    (found,) = misses(session)
    assert (found["kind"], found["reason"], found["measured_tokens"]) == ("miss", "not_found", 0)
    assert found["expected_tokens"] > 2_000
    assert found["manifest_id"] == session.deps.assemblies.find(SESSION, 2).manifest_id


@pytest.mark.moves_cache_prefix("the fault that is to be named")
async def test_a_prefix_that_changed_names_its_first_segment(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=8_000), reply(DONE, read=2_500, written=5_500)])
    gatherer = session.deps.gatherer
    provider = session.deps.provider

    class ForgetsItsEpoch:
        """Assembles the second turn anew, with one of its rules changed."""

        def freeze_run(self) -> str:
            return gatherer.freeze_run()

        def gather(self, brief: Any, *, turn: int, messages: Any, frozen: Any, **_more: Any) -> Any:
            made = gatherer.gather(brief, turn=turn, messages=messages, frozen=None)
            rules = [
                segment(f"Rule {word}.", uri=f"project:{name}.md", **RULE)
                for name, word in (("a", "one"), ("b", "two"), ("c", "three" * 4_000))
            ]
            made = replace(made, segments=(*made.segments, *rules))
            if turn == 1:
                return made
            changed = segment("Rule two, revised.", uri="project:b.md", **RULE)
            return replace(made, segments=(*(one for one in made.segments if one.text != "Rule two."), changed))

    session.deps = replace(session.deps, gatherer=ForgetsItsEpoch())
    await run_session(session.deps, session.brief)
    (found,) = misses(session)
    assert (found["kind"], found["reason"]) == ("partial", "system_changed")
    assert found["segment_id"].startswith("L3:project:b.md")
    assert len(provider.calls) == 2


async def test_the_marks_on_record_say_what_was_measured(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=3_000), reply(DONE, read=3_000, written=200)])
    await run_session(session.deps, session.brief)
    first, second = (session.deps.assemblies.find(SESSION, turn) for turn in (1, 2))
    assert {mark.measured for mark in first.manifest.cache} == {"written"}
    assert [mark.measured for mark in second.manifest.cache][-1] == "written"
    assert {mark.measured for mark in second.manifest.cache[:-1]} == {"read"}


async def test_a_resumed_session_knows_its_last_answered_request(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=3_000), reply(DONE, read=0, written=3_200)])
    inner = session.deps.provider

    class DiesOnce:
        """Answers the first turn; the process dies in the second."""

        died = False

        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

        async def call(self, call: CallRequest, *, began: Any = None) -> Reply:
            if call.assistant_turns == 1 and not self.died:
                self.died = True
                raise KeyboardInterrupt
            return await inner.call(call, began=began)

    session.deps = replace(session.deps, provider=DiesOnce())
    with pytest.raises(KeyboardInterrupt):
        await run_session(session.deps, session.brief)
    session.deps.engine.restart()
    session.deps = replace(session.deps, cache_watch=CacheWatch(lambda model: rules_of(model, 0)))
    await run_session(session.deps, session.brief)
    (found,) = misses(session)
    assert (found["reason"], found["predicted_tokens"] > 2_000) == ("not_found", True)


async def test_a_second_try_is_not_expected_to_read_what_the_first_never_wrote(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=3_000), reply(DONE, read=3_000, written=4_000)])
    cut = ProviderError("cut", kind="cut_stream", action="retry", maybe_billed=True)
    session.deps.provider.failures[1] = [cut]
    session.deps.provider.failures[2] = [cut]
    session.write("src/a.py", "x = 1\n" * 3_000)
    await run_session(session.deps, session.brief)
    assert len(session.tries) == 4
    assert misses(session) == []


async def test_a_cold_watch_calls_nothing_a_miss(watched: Callable[..., Session]) -> None:
    session = watched([reply(DONE, read=0, written=3_000)])
    await run_session(session.deps, session.brief)
    assert misses(session) == []


async def test_marks_are_foretold_before_a_request_is_recorded(watched: Callable[..., Session]) -> None:
    session = watched([reply(READ, read=0, written=3_000), reply(DONE, read=3_000, written=200)])
    await run_session(session.deps, session.brief)
    first, second = (session.deps.assemblies.find(SESSION, turn) for turn in (1, 2))
    watch = CacheWatch(lambda model: rules_of(model, 0))
    assert {mark.predicted for mark in watch.foretold(first).manifest.cache} == {"written"}
    foretold = watch.foretold(second, before=first)
    assert [mark.predicted for mark in foretold.manifest.cache] == [mark.measured for mark in second.manifest.cache]
    assert foretold.digest == second.digest
