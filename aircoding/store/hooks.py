"""What hooks said: the results of each occasion in one transaction, before anything is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, select

from aircoding.records.digests import sha256_text
from aircoding.records.hooks import HookEvent, HookResult
from aircoding.records.ids import SessionId
from aircoding.records.layers import Layer, Trust
from aircoding.records.policy import Effect
from aircoding.store.columns import row, table_of
from aircoding.store.database import Database
from aircoding.store.fences import Fences
from aircoding.store.sessions import run_of_session
from aircoding.store.statements import insert_new
from aircoding.store.tables.sessions import HookResultRow
from aircoding.store.texts import put_texts, read_texts

__all__ = ["HookStore"]

RESULTS = table_of(HookResultRow)


class HookStore:
    """The log of hooks (`ports.HookLog`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now

    def record(self, session_id: SessionId, results: Sequence[HookResult]) -> None:
        """Record the results of one occasion in one transaction; the same again changes nothing.

        Raises:
            FencedError: another process owns the run.
        """
        now = self._now()
        texts = {sha256_text(one.text): one.text for one in results if one.text}
        values = [
            row(
                HookResultRow,
                session_id=session_id,
                occasion=one.occasion,
                position=one.position,
                turn=one.turn,
                hook=one.hook,
                event=one.event.value,
                source_uri=one.source_uri,
                trust=one.trust.value,
                state=one.state,
                layer=None if one.layer is None else one.layer.value,
                text_digest=sha256_text(one.text) if one.text else None,
                decision=None if one.decision is None else one.decision.value,
                reason=one.reason,
                cut_chars=one.cut_chars,
                duration_seconds=one.duration_seconds,
                recorded_at=now,
            )
            for one in results
        ]

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_of_session(session_id))
            put_texts(connection, texts, now)
            insert_new(connection, RESULTS, values)

        self._database.write(body)

    def results(self, session_id: SessionId) -> tuple[HookResult, ...]:
        """Return the session's results in the order in which they were recorded."""
        wanted = select(RESULTS).where(RESULTS.c.session_id == session_id).order_by(RESULTS.c.hook_result)
        with self._database.read() as connection:
            found = connection.execute(wanted).all()
            digests = [each.text_digest for each in found if each.text_digest is not None]
            texts = read_texts(connection, digests, what=f"What hooks said in {session_id}")
        return tuple(
            HookResult(
                occasion=each.occasion,
                position=each.position,
                turn=each.turn,
                hook=each.hook,
                event=HookEvent(each.event),
                source_uri=each.source_uri,
                trust=Trust(each.trust),
                state=each.state,
                layer=None if each.layer is None else Layer(each.layer),
                text="" if each.text_digest is None else texts[each.text_digest],
                decision=None if each.decision is None else Effect(each.decision),
                reason=each.reason,
                cut_chars=each.cut_chars,
                duration_seconds=each.duration_seconds,
            )
            for each in found
        )
