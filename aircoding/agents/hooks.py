"""Ask hooks, in order, each within its time; whatever they do, the turn goes on, and what they said is on record.

An occasion that is on record is not asked about again: a resumed session uses the recorded words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aircoding.agents.hook_answers import HookAnswerError, cut_at_line, read_answer
from aircoding.agents.tools.workbench import in_utf8
from aircoding.ports import HookLog, Screener
from aircoding.records.hooks import (
    MOST_REASON_CHARS,
    MOST_TEXT_CHARS,
    Hook,
    HookAnswer,
    HookEvent,
    HookResult,
    PluginFailedError,
)
from aircoding.records.ids import SessionId, session_parts
from aircoding.records.sessions import SessionBrief
from aircoding.screening.withholding import withhold

__all__ = ["FAILURES_IN_A_ROW", "HookDispatcher", "failed_in_a_row", "session_facts"]

FAILURES_IN_A_ROW = 3
"""After so many failures in a row a hook is not asked again in its session."""


class HookDispatcher:
    """Asks the hooks of a run and keeps what they said.

    Args:
        hooks: in the order in which they are asked.
        log: keeps the results of each occasion.
        screener: masks secrets before anything is kept.
        profile: the user's profile, as hooks are told.
        project_root: the same.
    """

    def __init__(
        self, hooks: Sequence[Hook], log: HookLog, screener: Screener, *, profile: str, project_root: str
    ) -> None:
        self._hooks, self._log, self._screener = tuple(hooks), log, screener
        self._profile, self._project_root = profile, project_root
        self._known: dict[SessionId, list[HookResult]] = {}

    def handles(self, event: HookEvent) -> bool:
        """Whether any hook is there for an event."""
        return any(hook.event is event for hook in self._hooks)

    def recorded(self, session: SessionId) -> tuple[HookResult, ...]:
        """Return what is on record of a session, in order."""
        if session not in self._known:
            self._known[session] = list(self._log.results(session))
        return tuple(self._known[session])

    def forget(self, session: SessionId) -> None:
        """Let go of what is kept in memory of a session that has ended."""
        self._known.pop(session, None)

    async def ask(
        self,
        brief: SessionBrief,
        event: HookEvent,
        occasion: str,
        *,
        turn: int,
        facts: Mapping[str, Any] | None = None,
        anew: bool = True,
    ) -> tuple[tuple[HookResult, ...], bool]:
        """Return the results of an occasion, and whether they are new.

        Args:
            brief: the session.
            event: what happens.
            occasion: its name within the session.
            turn: in which turn.
            facts: what the hooks are told besides the session's own facts.
            anew: whether hooks may be asked when the occasion is not on record.

        Raises:
            FencedError: another process owns the run.
        """
        known = self.recorded(brief.session_id)
        found = tuple(one for one in known if one.occasion == occasion)
        hooks = [one for one in self._hooks if one.event is event and not failed_in_a_row(known, one.name, event)]
        if found or not anew or not hooks:
            return found, False
        own = session_facts(brief, profile=self._profile, project_root=self._project_root)
        told = {"event": event.value, **own, "turn": turn, **(facts or {})}
        results: list[HookResult] = []
        for hook in hooks:
            results += await self._one(hook, occasion, turn, told, position=len(results))
        self._log.record(brief.session_id, results)
        self._known[brief.session_id] += results
        return tuple(results), True

    async def _one(
        self, hook: Hook, occasion: str, turn: int, facts: Mapping[str, Any], *, position: int
    ) -> list[HookResult]:
        """Ask one hook and return its results; nothing that it does gets out of here."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        answer, failure = HookAnswer(), ""
        try:
            async with asyncio.timeout(hook.timeout_seconds) as limit:
                value = await hook.call(facts)
            answer = read_answer(hook.event, value, layer=hook.layer)
        except TimeoutError as error:
            failure = f"no answer after {hook.timeout_seconds:g} seconds" if limit.expired() else _words(error)
        except (HookAnswerError, PluginFailedError) as error:
            failure = str(error)
        except Exception as error:  # noqa: BLE001 - a hook may raise anything, and never ends the turn
            failure = _words(error)
        seconds = round(loop.time() - began, 3)
        said = self._masked(failure or answer.reason)
        blocking = self._screener.findings(said, uri=hook.source_uri, trust=hook.trust)
        reason = withhold(said, blocking, uri=hook.source_uri)[:MOST_REASON_CHARS]
        results: list[HookResult] = []
        for layer, text in answer.texts or ((None, ""),):
            kept, left_out = cut_at_line(self._masked(text))
            more = f"\n[{left_out} more characters of this were left out; {MOST_TEXT_CHARS} are the most]"
            results.append(
                HookResult(
                    occasion=occasion,
                    position=position + len(results),
                    turn=turn,
                    hook=hook.name,
                    event=hook.event,
                    source_uri=hook.source_uri,
                    trust=hook.trust,
                    state="failed" if failure else "returned",
                    layer=layer,
                    text=kept + more if left_out else kept,
                    decision=answer.decision,
                    reason=reason,
                    cut_chars=left_out,
                    duration_seconds=seconds,
                )
            )
        return results

    def _masked(self, text: str) -> str:
        """Take out secrets, once, where a text enters, and what no database holds."""
        return self._screener.mask(in_utf8(text).replace("\0", "\ufffd"))


def session_facts(brief: SessionBrief, *, profile: str, project_root: str) -> dict[str, Any]:
    """Return what every hook and every plugin's tool is told of the session."""
    run, task, attempt, _, _ = session_parts(brief.session_id)
    return {
        "profile": profile,
        "project_root": project_root,
        "worktree": brief.worktree,
        "run_id": run,
        "task": task,
        "attempt": attempt,
        "session_id": brief.session_id,
        "role": brief.role,
        "mode": brief.mode.value,
        "model": brief.model,
    }


def failed_in_a_row(results: Sequence[HookResult], hook: str, event: HookEvent) -> bool:
    """Whether the newest answers of a hook in a session are failures, and enough of them."""
    own = [one.state for one in results if one.hook == hook and one.event is event]
    return len(own) >= FAILURES_IN_A_ROW and set(own[-FAILURES_IN_A_ROW:]) == {"failed"}


def _words(error: Exception) -> str:
    """Say an error; one whose own words fail is known by its name."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - a foreign object's own code
        said = ""
    return f"{type(error).__name__}: {said}".rstrip(": ")
