"""Tool calls: an intent with digests before, the result after, never applied twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, select, update

from aircoding.errors import StoreError
from aircoding.records.calls import ToolCall, ToolRecord, ToolResult
from aircoding.records.digests import canonical_json, sha256_text
from aircoding.records.ids import Digest, SessionId, ToolKey, session_parts
from aircoding.records.jsonable import jsonable
from aircoding.records.policy import Decision
from aircoding.store.columns import row, table_of
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.fences import Fences
from aircoding.store.statements import insert_rows
from aircoding.store.tables.calls import ToolRunRow
from aircoding.store.texts import find_texts, put_texts, read_texts

__all__ = ["ToolStore"]

TOOLS = table_of(ToolRunRow)


class ToolStore:
    """The log of tool calls (`ports.ToolLog`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now

    def find(self, key: ToolKey) -> ToolRecord | None:
        """Return what is known of a tool call, or None."""
        found = self._records(TOOLS.c.tool_key == key)
        return found[0] if found else None

    def intend(
        self, call: ToolCall, decision: Decision, before: Mapping[str, Digest], after: Mapping[str, Digest]
    ) -> None:
        """Record, durably, that a mutating call is about to act; `after` is what its files will be, where known.

        On an intent that is there already nothing changes but their count: its digests are from before
        anything was done.

        Raises:
            FencedError: another process owns the run.
            StoreError: the call has its result already; acting again would apply it twice.
        """
        digest, text = _input(call)
        now = self._now()

        def body(connection: Connection) -> None:
            self._fences.check(connection, session_parts(call.session_id)[0])
            which = TOOLS.c.tool_key == call.key
            found = connection.execute(select(TOOLS.c.state).where(which)).scalar()
            if found is not None and found != "intended":
                raise StoreError(
                    f"The tool call {call.key} has its result already.",
                    hint="It is on record; please report that it was made again.",
                    code="store.tool_committed",
                )
            if found is not None:
                connection.execute(update(TOOLS).where(which).values(intents=TOOLS.c.intents + 1))
                return
            put_texts(connection, {digest: text}, now)
            values = self._values(call, decision, digest, now) | {
                "state": "intended",
                "intents": 1,
                "before_digests": _json(before),
                "after_digests": _json(after),
            }
            insert_rows(connection, TOOLS, [row(ToolRunRow, **values)])

        self._database.write(body, durable=True)

    def commit(self, call: ToolCall, decision: Decision | None, result: ToolResult) -> None:
        """Record the result, durably; only the first one counts.

        Raises:
            FencedError: another process owns the run.
        """
        self._end(call, decision, result, "committed")

    def interrupt(self, call: ToolCall, decision: Decision | None, result: ToolResult) -> None:
        """Record, durably, that the call was interrupted and its effects are unknown; `result` is what
        the model is told. Only the first result counts.

        Raises:
            FencedError: another process owns the run.
        """
        self._end(call, decision, result, "unknown")

    def _end(self, call: ToolCall, decision: Decision | None, result: ToolResult, state: str) -> None:
        digest, text = _input(call)
        shown = sha256_text(result.text)
        now = self._now()
        value = jsonable(result)
        del value["text"]
        ended = {
            "state": state,
            "text_digest": shown,
            "is_error": result.is_error,
            "result": _json(value),
            "finished_at": now,
        }
        if decision is not None:
            ended["decision"] = _json(decision)

        def body(connection: Connection) -> None:
            self._fences.check(connection, session_parts(call.session_id)[0])
            which = TOOLS.c.tool_key == call.key
            found = connection.execute(select(TOOLS.c.state).where(which)).scalar()
            if found is not None and found != "intended":
                return
            put_texts(connection, {digest: text, shown: result.text}, now)
            empty = {"intents": 0, "before_digests": "{}", "after_digests": "{}"}
            values = row(ToolRunRow, **(self._values(call, decision, digest, now) | empty | ended))
            if found is None:
                insert_rows(connection, TOOLS, [values])
            else:
                connection.execute(update(TOOLS).where(which).values(**{name: values[name] for name in ended}))

        self._database.write(body, durable=True)

    def records(self, session_id: SessionId) -> tuple[ToolRecord, ...]:
        """Return the session's tool calls in order."""
        return self._records(TOOLS.c.session_id == session_id)

    def given(self, uses: Collection[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        """Return name and input of calls, by session and tool use id; without those whose input is not kept."""
        sessions, ids = ({use[part] for use in uses} for part in (0, 1))
        columns = (TOOLS.c.session_id, TOOLS.c.tool_use_id, TOOLS.c.name, TOOLS.c.input_digest)
        wanted = select(*columns).where(TOOLS.c.session_id.in_(sessions), TOOLS.c.tool_use_id.in_(ids))
        with self._database.read() as connection:
            found = [each for each in connection.execute(wanted) if (each[0], each[1]) in uses]
            texts = find_texts(connection, [each.input_digest for each in found])
        return {
            (each.session_id, each.tool_use_id): {"name": each.name, "input": json.loads(texts[each.input_digest])}
            for each in found
            if each.input_digest in texts
        }

    def unfinished(self, run_id: str) -> tuple[ToolRecord, ...]:
        """Return the run's tool calls that were begun and never ended."""
        return self._records((TOOLS.c.run_id == run_id) & (TOOLS.c.state == "intended"))

    def _values(self, call: ToolCall, decision: Decision | None, digest: Digest, now: str) -> dict[str, Any]:
        run_id, task_id, _, _, _ = session_parts(call.session_id)
        return {
            "tool_key": call.key,
            "run_id": run_id,
            "task_id": task_id,
            "session_id": call.session_id,
            "turn": call.turn,
            "position": call.index,
            "tool_use_id": call.tool_use_id,
            "name": call.name,
            "input_digest": digest,
            "fence": self._fences.held(run_id),
            "decision": None if decision is None else _json(decision),
            "started_at": now,
        }

    def _records(self, which: ColumnElement[bool]) -> tuple[ToolRecord, ...]:
        wanted = select(TOOLS).where(which).order_by(TOOLS.c.turn, TOOLS.c.position)
        with self._database.read() as connection:
            found = connection.execute(wanted).all()
            named = [each.input_digest for each in found]
            named += [each.text_digest for each in found if each.text_digest is not None]
            texts = read_texts(connection, named, what="The tool calls")
        return tuple(_record_of(each, texts) for each in found)


def _json(value: Any) -> str:
    return canonical_json(jsonable(value)).decode("utf-8")


def _input(call: ToolCall) -> tuple[Digest, str]:
    text = _json(call.input)
    return sha256_text(text), text


def _record_of(found: Row[Any], texts: Mapping[Digest, str]) -> ToolRecord:
    what = f"tool call {found.tool_key}"
    call = ToolCall(
        key=ToolKey(found.tool_key),
        session_id=SessionId(found.session_id),
        turn=found.turn,
        index=found.position,
        tool_use_id=found.tool_use_id,
        name=found.name,
        input=json.loads(texts[found.input_digest]),
    )
    result = None
    if found.result is not None:
        result = decode(ToolResult, json.loads(found.result) | {"text": texts[found.text_digest]}, what=what)
    return ToolRecord(
        call=call,
        state=found.state,
        decision=None if found.decision is None else decode(Decision, json.loads(found.decision), what=what),
        before_digests=json.loads(found.before_digests),
        after_digests=json.loads(found.after_digests),
        result=result,
        started_at=found.started_at,
        finished_at=found.finished_at,
    )
