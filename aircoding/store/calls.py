"""The ledger of model calls: an intent before, the paid result after, never twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from aircoding.errors import InternalError, StoreError
from aircoding.records.calls import CallRecord, Reply
from aircoding.records.ids import CallKey, Digest, ManifestId, SessionId, session_parts
from aircoding.records.usage import Cost, Spending, UnitPrices, Usage
from aircoding.store.columns import row, table_of
from aircoding.store.database import Database
from aircoding.store.fences import Fences
from aircoding.store.sessions import run_of_session
from aircoding.store.skeleton import join_node, needed_texts, split_message
from aircoding.store.spending import spending_of
from aircoding.store.statements import insert_rows
from aircoding.store.tables.calls import ModelCallRow
from aircoding.store.texts import put_texts, read_texts

__all__ = ["CallStore", "call_record_of", "committed_usage"]

CALLS = table_of(ModelCallRow)
_USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens")
_PRICES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
"""The fields of `UnitPrices`; each has a column `*_usd_per_mtok`."""


class CallStore:
    """The ledger (`ports.CallLedger`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now

    def reply(self, key: CallKey) -> Reply | None:
        """Return the committed reply of a call, or None."""
        wanted = select(CALLS).where(CALLS.c.call_key == key, CALLS.c.state == "committed")
        with self._database.read() as connection:
            found = connection.execute(wanted).first()
            return None if found is None else _reply_of(connection, found)

    def paid_reply(self, key: CallKey, tries: int) -> Reply | None:
        """Return the reply of one try that was paid for, used or not, or None.

        Raises:
            NotFoundError: its texts are not kept.
        """
        wanted = select(CALLS).where(CALLS.c.call_key == key, CALLS.c.tries == tries, CALLS.c.reply_digest.is_not(None))
        with self._database.read() as connection:
            found = connection.execute(wanted).first()
            return None if found is None else _reply_of(connection, found)

    def intend(self, record: CallRecord) -> int:
        """Record, durably, that a try is about to be sent; intents of the same call that never ended
        become `abandoned` and `maybe_billed`. Return how many tries came before (0 for the first).

        `record.tries` is not read: the ledger counts.

        Raises:
            FencedError: another process owns the run.
            StoreError: the call was answered already; asking again would pay twice.
        """
        run_id, task_id, _, role, _ = session_parts(record.session_id)
        which = CALLS.c.call_key == record.key

        def body(connection: Connection) -> int:
            self._fences.check(connection, run_id)
            states = connection.execute(select(CALLS.c.state).where(which)).scalars().all()
            if "committed" in states:
                raise StoreError(
                    f"The call {record.key} was answered already.",
                    hint="Its reply is on record; please report that it was asked for again.",
                    code="store.call_committed",
                )
            connection.execute(
                update(CALLS)
                .where(which, CALLS.c.state == "intended")
                .values(state="abandoned", maybe_billed=True, finished_at=record.started_at)
            )
            values = row(
                ModelCallRow,
                call_key=record.key,
                tries=len(states),
                run_id=run_id,
                task_id=task_id,
                role=role,
                session_id=record.session_id,
                manifest_id=record.manifest_id,
                model=record.model,
                state="intended",
                fence=self._fences.held(run_id),
                started_at=record.started_at,
                maybe_billed=False,
            )
            insert_rows(connection, CALLS, [values])
            return len(states)

        return self._database.write(body, durable=True)

    def commit(self, key: CallKey, tries: int, reply: Reply, cost: Cost) -> None:
        """Record a paid result with full durability; the same again changes nothing.

        Where another try of the call was committed first, this one stays `abandoned`, with its
        usage and cost: it was paid for all the same.

        Raises:
            FencedError: another process owns the run.
            InternalError: the try was never intended.
        """
        node, texts = split_message("assistant", reply.content)
        now = self._now()

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_of_session(key))
            found = connection.execute(select(CALLS.c.tries, CALLS.c.state).where(CALLS.c.call_key == key))
            states: Mapping[int, str] = {each[0]: each[1] for each in found}
            if states.get(tries) == "committed":
                return
            _require(key, tries, states)
            first = "committed" not in states.values()
            put_texts(connection, texts, now)
            paid: dict[str, Any] = {
                "state": "committed" if first else "abandoned",
                "maybe_billed": not first,
                "finished_at": now,
                "cost_usd": cost.usd,
                "price_source": cost.price_source,
                "reply_model": reply.model,
                "request_id": reply.request_id,
                "stop_reason": reply.stop_reason,
                "reply_digest": node,
                "error": None,
            }
            paid |= {name: getattr(reply.usage, name) for name in _USAGE}
            paid |= {_price_column(name): getattr(cost.unit_prices, name, None) for name in _PRICES}
            _change(connection, key, tries, paid)

        self._database.write(body, durable=True)

    def fail(self, key: CallKey, tries: int, error: str, *, maybe_billed: bool) -> None:
        """Record that a try failed; one that was committed stays so.

        Raises:
            FencedError: another process owns the run.
            InternalError: the try was never intended.
        """
        failed = {"state": "failed", "error": error, "maybe_billed": maybe_billed, "finished_at": self._now()}

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_of_session(key))
            which = (CALLS.c.call_key == key) & (CALLS.c.tries == tries)
            state = connection.execute(select(CALLS.c.state).where(which)).scalar()
            _require(key, tries, {tries: state} if state else {})
            if state != "committed":
                _change(connection, key, tries, failed)

        self._database.write(body, durable=True)

    def spent_usd(self, run_id: str, *, task_id: str | None = None) -> float:
        """Return the money spent so far (unknown prices count as 0; `calls` shows them)."""
        total = select(func.coalesce(func.sum(CALLS.c.cost_usd), 0.0)).where(CALLS.c.run_id == run_id)
        if task_id is not None:
            total = total.where(CALLS.c.task_id == task_id)
        with self._database.read() as connection:
            return float(connection.execute(total).scalar_one())

    def spending(self, run_id: str, *, task_id: str | None = None) -> Spending:
        """Return what the calls of a run, or of one of its tasks, used and cost so far."""
        return spending_of(self._database, run_id, task_id)

    def unfinished(self, run_id: str) -> tuple[CallRecord, ...]:
        """Return the run's tries that were sent, as far as is known, and never ended."""
        wanted = select(CALLS).where(CALLS.c.run_id == run_id, CALLS.c.state == "intended")
        with self._database.read() as connection:
            found = [call_record_of(each) for each in connection.execute(wanted)]
        return tuple(sorted(found, key=lambda record: (record.started_at, record.key)))


def _reply_of(connection: Connection, found: Row[Any]) -> Reply:
    what = f"The reply of {found.call_key}"
    node = read_texts(connection, [found.reply_digest], what=what)[found.reply_digest]
    texts = read_texts(connection, needed_texts([node]), what=what)
    return Reply(
        content=tuple(join_node(node, texts)["content"]),
        stop_reason=found.stop_reason,
        usage=_usage(found),
        model=found.reply_model,
        request_id=found.request_id,
    )


def _require(key: CallKey, tries: int, states: Mapping[int, str]) -> None:
    if tries not in states:
        raise InternalError(f"Try {tries} of the call {key} was never intended.")


def _change(connection: Connection, key: CallKey, tries: int, values: Mapping[str, Any]) -> None:
    """Update a try with validated values."""
    whole = row(
        ModelCallRow,
        call_key=key,
        tries=tries,
        run_id=run_of_session(key),
        role="",
        session_id="",
        manifest_id="",
        model="",
        fence=0,
        started_at="",
        **values,
    )
    which = (CALLS.c.call_key == key) & (CALLS.c.tries == tries)
    connection.execute(update(CALLS).where(which).values(**{name: whole[name] for name in values}))


def _usage(found: Row[Any]) -> Usage:
    return Usage(**{name: getattr(found, name) or 0 for name in _USAGE})


def _price_column(name: str) -> str:
    return f"{name}_usd_per_mtok"


def _cost(found: Row[Any]) -> Cost:
    prices = {name: getattr(found, _price_column(name)) for name in _PRICES}
    known = any(price is not None for price in prices.values())
    unit_prices = UnitPrices(**prices) if known else None
    return Cost(usd=found.cost_usd, price_source=found.price_source, unit_prices=unit_prices)


def committed_usage(connection: Connection, key: CallKey) -> Usage | None:
    """Return the usage of the call's answered try, or None while there is none."""
    wanted = select(CALLS).where(CALLS.c.call_key == key, CALLS.c.state == "committed")
    found = connection.execute(wanted).first()
    return None if found is None else _usage(found)


def call_record_of(found: Row[Any]) -> CallRecord:
    """Return the ledger's record of a row; usage and cost are None until the try was paid for."""
    paid = found.input_tokens is not None
    return CallRecord(
        key=CallKey(found.call_key),
        tries=found.tries,
        session_id=SessionId(found.session_id),
        manifest_id=ManifestId(found.manifest_id),
        model=found.model,
        state=found.state,
        started_at=found.started_at,
        finished_at=found.finished_at,
        usage=_usage(found) if paid else None,
        cost=_cost(found) if paid else None,
        stop_reason=found.stop_reason,
        error=found.error,
        maybe_billed=found.maybe_billed,
        reply_digest=None if found.reply_digest is None else Digest(found.reply_digest),
        reply_model=found.reply_model,
        request_id=found.request_id,
    )
