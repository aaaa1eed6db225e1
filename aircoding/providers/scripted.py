"""The scripted model: answers come from a file, everything else is as with a real one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aircoding.errors import ProviderError
from aircoding.providers.capabilities import Capabilities, ModelRow
from aircoding.providers.failures import cut_stream, http_failure, silent_end, timed_out
from aircoding.providers.prices import PriceTable, cost_of
from aircoding.providers.requests import messages_body, scripted_content
from aircoding.providers.script import ScriptedError, ScriptFile
from aircoding.providers.script_choice import Step, choose_turn, session_match
from aircoding.providers.simulated import SimulatedCache, prompt_tokens
from aircoding.providers.validation import refuse_invalid
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.snapshot import ModelLimits
from aircoding.records.usage import Cost, Usage

__all__ = ["ScriptedProvider", "scripted_failure"]

_FINISH = "finish"
"""The tool that gives a session's result."""


class ScriptedProvider:
    """A model that says what its script says; requests must pass the same rules as at the real API.

    Limits and prices are those of the script's stand-in model, whatever name the session gives its model;
    `max_output_tokens` caps what one answer reserves. Usage is simulated (see `simulated`), and its cost says so.
    `sleep` waits for `delay_seconds` of a turn, `clock` gives seconds for the life of cache entries.
    """

    def __init__(
        self,
        script: ScriptFile,
        capabilities: Capabilities,
        *,
        max_output_tokens: int = 16_000,
        prices: PriceTable | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._script = script
        self._row: ModelRow = capabilities.row(script.model)
        self._max_output_tokens = max_output_tokens
        self._prices = prices
        self._sleep, self._clock = sleep, clock
        self._cache = SimulatedCache()

    def limits(self, model: str) -> ModelLimits:
        """Return the limits of the stand-in model under the name that was asked for."""
        return replace(self._row.limits(max_output_tokens=self._max_output_tokens), model=model)

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 - the stand-in's prices hold for any name
        """Return what the stand-in model would cost."""
        return replace(cost_of(self._row.model, usage, self._prices), price_source="simulated")

    async def call(self, call: CallRequest, *, began: Callable[[], None] | None = None) -> Reply:
        """Return the turn that is due, or raise the error that its script has for this try.

        What can be read from the cache is settled when the request comes in; what it marks is there once its answer
        begins, after `delay_seconds`.

        Raises:
            ProviderError: as scripted; or the request breaks a rule of the API, no script is for the
                session, or its script is at its end (all three: stop).
        """
        body = messages_body(call)
        refuse_invalid(body, row=self._row, prompt_tokens=prompt_tokens(body))
        match = session_match(call.session_id)
        step = choose_turn(
            self._script,
            match,
            assistant_turns=call.assistant_turns,
            tries=call.tries,
            refused_finish=_refused_finish(body["messages"]),
        )
        minimum = self._row.min_cache_prefix_tokens
        asked = self._cache.ask(call.model, body, minimum_tokens=minimum, now_seconds=self._clock())
        if step.error is not None and step.error.status is not None:
            await self._delay(step)
            raise scripted_failure(step.error)
        await self._delay(step)
        asked.begin()
        if began is not None:
            began()
        if step.error is not None:
            raise scripted_failure(step.error)
        content = scripted_content(step.turn, call.key, body)
        return Reply(
            content=content,
            stop_reason=step.turn.stop_reason,
            usage=asked.usage(content),
            model=call.model,
            request_id=f"scripted:{call.key}:{call.tries}",
        )

    async def _delay(self, step: Step) -> None:
        if step.turn.delay_seconds:
            await self._sleep(step.turn.delay_seconds)


def scripted_failure(error: ScriptedError) -> ProviderError:
    """Return what a scripted error would be if a real API had failed that way."""
    if error.status is not None:
        return http_failure(error.status, message="scripted", headers=error.headers)
    if error.stream == "error_event":
        return http_failure(200, error_type="overloaded_error", message="scripted", began=True)
    if error.stream == "cut":
        return cut_stream("scripted")
    if error.stream in {"hang", "stall"}:
        return timed_out("scripted")
    return silent_end("scripted")


def _refused_finish(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return what was answered to a `finish` of the newest answer that was refused, in one line."""
    newest = next((n for n, one in reversed(list(enumerate(messages))) if one["role"] == "assistant"), None)
    if newest is None:
        return ""
    calls = {block["id"] for block in _blocks(messages[newest]) if block.get("name") == _FINISH}
    said = (
        block.get("content", "")
        for message in messages[newest + 1 :]
        for block in _blocks(message)
        if block.get("tool_use_id") in calls and block.get("is_error")
    )
    texts = (
        content if isinstance(content, str) else " ".join(part.get("text", "") for part in content) for content in said
    )
    return " ".join(" ".join(texts).split())


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [] if isinstance(content, str) else [block for block in content if isinstance(block, dict)]
