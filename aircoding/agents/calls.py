"""One model call: looked up, announced on the ledger, sent, and paid for once.

Every try is a row of its own. A call that was in flight when the process died is sent again, and its old row says
`abandoned, maybe billed`; a committed reply is never asked for twice.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

from aircoding.agents.cache_watch import Watched
from aircoding.agents.deps import SessionDeps
from aircoding.agents.masking import mask_reply
from aircoding.agents.notes import note
from aircoding.agents.prefix_gate import Passage, shared_prefix
from aircoding.errors import ProviderError, StoreError
from aircoding.records.calls import CallRecord, CallRequest, Reply
from aircoding.records.digests import fingerprint
from aircoding.records.ids import CallKey, call_key
from aircoding.records.jsonable import jsonable
from aircoding.records.manifest import AssembledContext
from aircoding.records.sessions import SessionBrief

__all__ = ["call_model", "call_step"]

_MESSAGE_CHARS = 500
"""A provider's words may quote a whole body; a step's result stays small."""


async def call_step(deps: SessionDeps, brief: SessionBrief, turn: int, context: AssembledContext) -> dict[str, Any]:
    """Make the call of one turn as a durable step: `{reply}`, or `{failed, message, hint}`.

    A failure is a value, so that a resumed session ends as it ended before instead of paying again.
    """
    try:
        reply = await call_model(deps, brief, turn, context)
    except ProviderError as error:
        message = deps.screener.mask(error.message)[:_MESSAGE_CHARS]
        return {"failed": error.code, "message": message, "hint": error.hint}
    return {"reply": fingerprint(jsonable(reply))}


async def call_model(deps: SessionDeps, brief: SessionBrief, turn: int, context: AssembledContext) -> Reply:
    """Return the reply to the request of a turn, from the ledger where it is there.

    Raises:
        ProviderError: the last try failed and `next_try` gave up.
        FencedError: another process owns the run.
    """
    key = call_key(brief.session_id, turn)
    if (kept := deps.ledger.reply(key)) is not None:
        return kept
    failed_tries = 0
    while True:
        reply = await _one_try(deps, brief, turn, context, key)
        if isinstance(reply, Reply):
            return reply
        failed_tries += 1
        wait_seconds = deps.next_try(reply, failed_tries)
        if wait_seconds is None:
            raise reply
        await deps.clock.sleep(wait_seconds)


async def _one_try(
    deps: SessionDeps, brief: SessionBrief, turn: int, context: AssembledContext, key: CallKey
) -> Reply | ProviderError:
    """Make one try when its prefix lets it pass: the intent before, the reply or the failure after."""
    free = contextlib.nullcontext(Passage())
    async with free if deps.gate is None else deps.gate.passing(shared_prefix(context)) as passage:
        tries = deps.ledger.intend(_intent(deps, brief, key, context))
        if passage.overdue_seconds is not None:
            overdue = {"call": key, "waited_seconds": passage.overdue_seconds}
            note(deps, brief, "cache.leader_overdue", overdue, key=f"{key}:{tries}")
        watched = _watch(deps, brief, turn, context, f"{key}:{tries}")
        try:
            began = partial(_begin, deps, watched, passage)
            reply = await deps.provider.call(_request(brief, turn, context, key, tries), began=began)
        except ProviderError as error:
            reason = deps.screener.mask(f"{error.code}: {error.message}")
            deps.ledger.fail(key, tries, reason, maybe_billed=error.maybe_billed)
            _forget(deps, watched)
            return error
        except BaseException as error:
            # Cancelled in flight, or a fault of ours: the provider may charge for what it had begun. A ledger that
            # cannot be written now must not hide the reason; the next intent marks the row as abandoned.
            _forget(deps, watched)
            with contextlib.suppress(StoreError):
                deps.ledger.fail(key, tries, type(error).__name__, maybe_billed=True)
            raise
        committed = _commit(deps, brief, key, tries, reply)
        _check_cache(deps, brief, key, watched, reply)
        return committed


def _commit(deps: SessionDeps, brief: SessionBrief, key: CallKey, tries: int, reply: Reply) -> Reply:
    masked, dropped = mask_reply(reply, deps.screener)
    deps.ledger.commit(key, tries, masked, deps.provider.cost(brief.model, reply.usage))
    if dropped:
        note(deps, brief, "screening.thinking_dropped", {"call": key, "blocks": dropped}, key=key)
    return masked


def _watch(deps: SessionDeps, brief: SessionBrief, turn: int, context: AssembledContext, key: str) -> Watched | None:
    """Forecast what a try will read from the provider's cache; after a resume the turn before is taken in first."""
    if deps.cache_watch is None:
        return None
    if turn > 1 and not deps.cache_watch.knows(brief.session_id):
        before = deps.assemblies.find(brief.session_id, turn - 1)
        if before is not None:
            deps.cache_watch.remember(before)
    return deps.cache_watch.send(context, key=key, at=deps.clock.now())


def _begin(deps: SessionDeps, watched: Watched | None, passage: Passage) -> None:
    """The response has begun: what the request marked can be read from now on, and those who waited for it may go."""
    if watched is not None and deps.cache_watch is not None:
        deps.cache_watch.begin(watched, at=deps.clock.now())
    passage.began()


def _forget(deps: SessionDeps, watched: Watched | None) -> None:
    """A try that failed left nothing that a forecast may count on."""
    if watched is not None and deps.cache_watch is not None:
        deps.cache_watch.fail(watched)


def _check_cache(deps: SessionDeps, brief: SessionBrief, key: CallKey, watched: Watched | None, reply: Reply) -> None:
    """Note a call that read less than an earlier request had left for it."""
    if watched is None or deps.cache_watch is None:
        return
    deps.cache_watch.begin(watched, at=deps.clock.now())
    check = deps.cache_watch.check(watched, reply.usage)
    if check.kind in {"partial", "miss"}:
        found = {"call": key, "manifest_id": watched.context.manifest_id, **jsonable(check)}
        note(deps, brief, "cache.missed", found, key=key)


def _intent(deps: SessionDeps, brief: SessionBrief, key: CallKey, context: AssembledContext) -> CallRecord:
    return CallRecord(
        key=key,
        tries=0,
        session_id=brief.session_id,
        manifest_id=context.manifest_id,
        model=brief.model,
        state="intended",
        started_at=deps.clock.now(),
    )


def _request(brief: SessionBrief, turn: int, context: AssembledContext, key: CallKey, tries: int) -> CallRequest:
    return CallRequest(
        key=key,
        session_id=brief.session_id,
        model=brief.model,
        request=context.request,
        max_output_tokens=context.manifest.budget.reserved_output,
        assistant_turns=turn - 1,
        tries=tries,
    )
