"""Sessions: what they were told, their messages, how they ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from aircoding.errors import NotFoundError, StoreError
from aircoding.records.digests import canonical_json, sha256_text
from aircoding.records.ids import Digest, SessionId, session_parts
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Trust
from aircoding.records.sessions import SessionBrief, SessionOutcome, SteeringEntry
from aircoding.records.snapshot import Message
from aircoding.store.columns import row, rows, table_of
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.events import TASKS
from aircoding.store.fences import Fences
from aircoding.store.skeleton import join_node, needed_texts, split_message
from aircoding.store.statements import insert_if_new, insert_new, insert_rows
from aircoding.store.tables.sessions import EvidenceRow, MessageRow, SessionRow, SteeringRow
from aircoding.store.texts import TEXTS, find_texts, put_texts, read_texts

__all__ = ["SessionStore", "run_of_session"]

SESSIONS = table_of(SessionRow)
MESSAGES = table_of(MessageRow)
_LAST_MESSAGE = select(
    select(func.max(MESSAGES.c.position)).where(MESSAGES.c.session_id == bindparam("session")).scalar_subquery()
).where(SESSIONS.c.session_id == bindparam("session"))
_NUMBER = select(TEXTS.c.text_row).where(TEXTS.c.digest == bindparam("node"))
EVIDENCE = table_of(EvidenceRow)
STEERING = table_of(SteeringRow)


def run_of_session(session_id: str) -> str:
    """Return the run that a session id begins with."""
    return session_id.split(":", 1)[0]


class SessionStore:
    """The session log (`ports.SessionLog`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now

    def open(self, brief: SessionBrief) -> None:
        """Record a session; the same session again changes nothing.

        Raises:
            FencedError: another process owns the run.
        """
        run_id, task_id, attempt, _, _ = session_parts(brief.session_id)
        digest, texts = _split_brief(brief)
        session = row(
            SessionRow,
            session_id=brief.session_id,
            run_id=run_id,
            task_id=task_id,
            attempt=attempt,
            role=brief.role,
            model=brief.model,
            mode=brief.mode.value,
            brief_digest=digest,
            opened_at=self._now(),
        )

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_id)
            put_texts(connection, texts, self._now())
            if insert_if_new(connection, SESSIONS, session):
                insert_rows(connection, EVIDENCE, rows(EvidenceRow, _evidence(brief)))
                untitled = (TASKS.c.run_id == run_id) & (TASKS.c.task_id == task_id) & (TASKS.c.title == task_id)
                connection.execute(update(TASKS).where(untitled).values(title=brief.task.title))

        self._database.write(body)

    def brief(self, session_id: SessionId) -> SessionBrief:
        """Return what the session was told.

        Raises:
            NotFoundError: no such session.
        """
        with self._database.read() as connection:
            found = connection.execute(
                select(SESSIONS.c.brief_digest).where(SESSIONS.c.session_id == session_id)
            ).scalar()
            if found is None:
                raise _no_such_session(session_id)
            what = f"The brief of {session_id}"
            value = json.loads(read_texts(connection, [found], what=what)[found])
            texts = read_texts(connection, [each["text"] for each in value["evidence"]], what=what)
        value["evidence"] = [each | {"text": texts[each["text"]]} for each in value["evidence"]]
        return decode(SessionBrief, value, what=what)

    def messages(self, session_id: SessionId) -> tuple[Message, ...]:
        """Return all recorded messages in order."""
        columns = (MESSAGES.c.position, MESSAGES.c.role, TEXTS.c.digest)
        wanted = select(*columns).join(TEXTS, TEXTS.c.text_row == MESSAGES.c.node_row)
        wanted = wanted.where(MESSAGES.c.session_id == session_id).order_by(MESSAGES.c.position)
        with self._database.read() as connection:
            found = connection.execute(wanted).all()
            what = f"The conversation of {session_id}"
            nodes = read_texts(connection, [each.digest for each in found], what=what)
            texts = read_texts(connection, needed_texts(nodes.values()), what=what)
        return tuple(
            Message(
                index=each.position,
                role=each.role,
                content=tuple(join_node(nodes[each.digest], texts)["content"]),
                uri=f"air:session/{session_id}/message/{each.position}",
            )
            for each in found
        )

    def message_shapes(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Mapping[str, Any]]:
        """Return messages by session and number without their texts, which take most of the room (`store.skeleton`).

        Those whose skeleton is not kept are left out.
        """
        sessions, numbers = ({place[part] for place in places} for part in (0, 1))
        columns = (MESSAGES.c.session_id, MESSAGES.c.position, TEXTS.c.digest)
        wanted = select(*columns).join(TEXTS, TEXTS.c.text_row == MESSAGES.c.node_row)
        wanted = wanted.where(MESSAGES.c.session_id.in_(sessions), MESSAGES.c.position.in_(numbers))
        with self._database.read() as connection:
            found = [each for each in connection.execute(wanted) if (each[0], each[1]) in places]
            nodes = find_texts(connection, [each.digest for each in found])
        return {
            (each.session_id, each.position): json.loads(nodes[each.digest])[0]
            for each in found
            if each.digest in nodes
        }

    def append_message(
        self, session_id: SessionId, index: int, role: str, content: Sequence[Mapping[str, Any]]
    ) -> None:
        """Record message number `index`; the same index again changes nothing.

        Raises:
            FencedError: another process owns the run.
            NotFoundError: no such session.
            StoreError: a message before it is missing.
        """
        node, texts = split_message(role, content)
        now = self._now()
        values = {"session_id": session_id, "position": index, "role": role, "recorded_at": now}

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_of_session(session_id))
            self._expect(connection, session_id, index)
            put_texts(connection, texts, now)
            number = connection.execute(_NUMBER, {"node": node}).scalar_one()
            insert_new(connection, MESSAGES, [row(MessageRow, **values, node_row=number)])

        self._database.write(body)

    def steer(self, session_id: SessionId, entry: SteeringEntry) -> None:
        """Record a steering entry; the same turn and position again changes nothing.

        Raises:
            FencedError: another process owns the run.
        """
        digest = sha256_text(entry.text)
        values = row(
            SteeringRow,
            session_id=session_id,
            turn=entry.turn,
            position=entry.position,
            source_uri=entry.source_uri,
            text_digest=digest,
            recorded_at=self._now(),
            trust=None if entry.trust is None else entry.trust.value,
        )

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_of_session(session_id))
            put_texts(connection, {digest: entry.text}, self._now())
            insert_new(connection, STEERING, [values])

        self._database.write(body)

    def steering(self, session_id: SessionId, turn: int) -> tuple[SteeringEntry, ...]:
        """Return what is due in a turn, in order."""
        wanted = select(STEERING).where(STEERING.c.session_id == session_id, STEERING.c.turn == turn)
        with self._database.read() as connection:
            found = connection.execute(wanted.order_by(STEERING.c.position)).all()
            texts = read_texts(connection, [each.text_digest for each in found], what=f"The steering of {session_id}")
        return tuple(
            SteeringEntry(
                turn=each.turn,
                position=each.position,
                source_uri=each.source_uri,
                text=texts[each.text_digest],
                trust=None if each.trust is None else Trust(each.trust),
            )
            for each in found
        )

    def _expect(self, connection: Connection, session_id: str, index: int) -> None:
        known = connection.execute(_LAST_MESSAGE, {"session": session_id}).first()
        if known is None:
            raise _no_such_session(session_id)
        expected = 0 if known[0] is None else known[0] + 1
        if index > expected:
            raise StoreError(
                f"Message {index} of {session_id} came before message {expected}.",
                hint="Messages are recorded in order; please report this.",
                code="store.order",
            )

    def close(self, outcome: SessionOutcome) -> None:
        """Record how a session ended; only the first time counts.

        Raises:
            FencedError: another process owns the run.
            NotFoundError: no such session.
        """
        session_id = outcome.session_id
        closed_at = self._now()
        values = row(
            SessionRow,
            session_id=session_id,
            run_id=run_of_session(session_id),
            role="",
            model="",
            mode="",
            brief_digest="0" * 64,
            opened_at=closed_at,
            closed_at=closed_at,
            status=outcome.status,
            summary=outcome.summary,
            stop=outcome.stop,
            turns=outcome.turns,
            result=canonical_json(jsonable(outcome.result)).decode("utf-8"),
        )
        ended = {name: values[name] for name in ("closed_at", "status", "summary", "stop", "turns", "result")}

        def body(connection: Connection) -> None:
            self._fences.check(connection, run_of_session(session_id))
            which = SESSIONS.c.session_id == session_id
            if connection.execute(select(SESSIONS.c.session_id).where(which)).first() is None:
                raise _no_such_session(session_id)
            connection.execute(update(SESSIONS).where(which, SESSIONS.c.closed_at.is_(None)).values(**ended))

        self._database.write(body, durable=True)

    def outcome(self, session_id: SessionId) -> SessionOutcome | None:
        """Return how it ended, or None while it goes on."""
        wanted = select(SESSIONS).where(SESSIONS.c.session_id == session_id, SESSIONS.c.closed_at.is_not(None))
        with self._database.read() as connection:
            found = connection.execute(wanted).first()
        if found is None:
            return None
        return SessionOutcome(
            session_id=session_id,
            status=found.status,
            summary=found.summary,
            result=json.loads(found.result),
            turns=found.turns,
            stop=found.stop,
        )

    def unfinished(self, run_id: str) -> tuple[SessionId, ...]:
        """Return the run's sessions that never ended, in the order in which they were opened."""
        wanted = select(SESSIONS.c.session_id, SESSIONS.c.opened_at).where(
            SESSIONS.c.run_id == run_id, SESSIONS.c.closed_at.is_(None)
        )
        with self._database.read() as connection:
            found = sorted((opened_at, session_id) for session_id, opened_at in connection.execute(wanted))
        return tuple(SessionId(session_id) for _, session_id in found)


def _split_brief(brief: SessionBrief) -> tuple[Digest, dict[Digest, str]]:
    """Return the digest of the brief's JSON, in which evidence stands by digest, and all its texts."""
    texts = {sha256_text(each.text): each.text for each in brief.evidence}
    value = jsonable(brief)
    value["evidence"] = [each | {"text": sha256_text(each["text"])} for each in value["evidence"]]
    text = canonical_json(value).decode("utf-8")
    digest = sha256_text(text)
    return digest, texts | {digest: text}


def _evidence(brief: SessionBrief) -> list[dict[str, Any]]:
    return [
        {
            "session_id": brief.session_id,
            "position": position,
            "uri": each.uri,
            "layer": each.layer.value,
            "kind": each.kind.value,
            "trust": each.trust.value,
            "title": each.title,
            "required": each.required,
            "text_digest": sha256_text(each.text),
            "claims": canonical_json(jsonable(each.claims)).decode("utf-8"),
        }
        for position, each in enumerate(brief.evidence)
    ]


def _no_such_session(session_id: str) -> NotFoundError:
    return NotFoundError(f"There is no session {session_id}.", hint="`aircoding status RUN` lists the sessions.")
