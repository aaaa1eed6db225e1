"""The logs in memory, with the promises of the ports that the agents rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aircoding.records.calls import CallRecord, Reply, ToolCall, ToolRecord, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.events import Event
from aircoding.records.ids import CallKey, Digest, SessionId, ToolKey
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Decision
from aircoding.records.sessions import SessionBrief, SessionOutcome
from aircoding.records.snapshot import Message, Snapshot
from aircoding.records.usage import Cost


class MemoryEvents:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, *events: Event) -> tuple[int, ...]:
        for event in events:
            if event.key is None or event.key not in {old.key for old in self.events}:
                self.events.append(event)
        return tuple(range(len(events)))

    def read(self, run_id: str, *, after: int = 0, limit: int | None = None) -> tuple[Event, ...]:
        return tuple(self.events[after:])


class MemoryBlobs:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, text: str) -> Digest:
        self.texts[sha256_text(text)] = text
        return sha256_text(text)

    def get(self, digest: Digest) -> str | None:
        return self.texts.get(digest)


class MemorySessions:
    def __init__(self) -> None:
        self.told: dict[str, SessionBrief] = {}
        self.said: dict[int, Message] = {}
        self.ended: dict[str, SessionOutcome] = {}

    def open(self, brief: SessionBrief) -> None:
        self.told.setdefault(brief.session_id, brief)

    def brief(self, session_id: SessionId) -> SessionBrief:
        return self.told[session_id]

    def messages(self, session_id: SessionId) -> tuple[Message, ...]:
        return tuple(self.said[index] for index in sorted(self.said))

    def append_message(
        self, session_id: SessionId, index: int, role: str, content: Sequence[Mapping[str, Any]]
    ) -> None:
        assert index <= len(self.said)
        uri = f"air:session/{session_id}/message/{index}"
        self.said.setdefault(index, Message(index=index, role=role, content=tuple(content), uri=uri))

    def close(self, outcome: SessionOutcome) -> None:
        self.ended.setdefault(outcome.session_id, outcome)

    def outcome(self, session_id: SessionId) -> SessionOutcome | None:
        return self.ended.get(session_id)


class MemoryAssemblies:
    def __init__(self) -> None:
        self.made: dict[int, AssembledContext] = {}

    def record(self, context: AssembledContext, *, snapshot: Snapshot) -> None:
        self.made.setdefault(context.manifest.turn, context)

    def find(self, session_id: str, turn: int) -> AssembledContext | None:
        return self.made.get(turn)

    def get(self, manifest_id: str) -> AssembledContext:
        return next(made for made in self.made.values() if made.manifest_id == manifest_id)


class MemoryLedger:
    def __init__(self) -> None:
        self.rows: dict[tuple[str, int], dict[str, Any]] = {}

    def _rows(self, key: CallKey) -> list[dict[str, Any]]:
        return [row for (call, _), row in self.rows.items() if call == key]

    def reply(self, key: CallKey) -> Reply | None:
        return next((row["reply"] for row in self._rows(key) if row["state"] == "committed"), None)

    def intend(self, record: CallRecord) -> int:
        before = self._rows(record.key)
        for row in before:
            if row["state"] == "intended":
                row.update(state="abandoned", maybe_billed=True)
        self.rows[record.key, len(before)] = {"state": "intended", "maybe_billed": False, "error": None}
        return len(before)

    def commit(self, key: CallKey, tries: int, reply: Reply, cost: Cost) -> None:
        self.rows[key, tries].update(state="committed", reply=reply, cost=cost)

    def fail(self, key: CallKey, tries: int, error: str, *, maybe_billed: bool) -> None:
        self.rows[key, tries].update(state="failed", error=error, maybe_billed=maybe_billed)

    def spent_usd(self, run_id: str, *, task_id: str | None = None) -> float:
        return sum(row["cost"].usd or 0.0 for row in self.rows.values() if row["state"] == "committed")


class MemoryTools:
    def __init__(self) -> None:
        self.kept: dict[str, ToolRecord] = {}

    def find(self, key: ToolKey) -> ToolRecord | None:
        return self.kept.get(key)

    def intend(
        self, call: ToolCall, decision: Decision, before: Mapping[str, Digest], after: Mapping[str, Digest]
    ) -> None:
        self.kept.setdefault(
            call.key,
            ToolRecord(
                call=call, state="intended", decision=decision, before_digests=dict(before), after_digests=dict(after)
            ),
        )

    def commit(self, call: ToolCall, decision: Decision | None, result: ToolResult) -> None:
        self._end(call, decision, result, "committed")

    def interrupt(self, call: ToolCall, decision: Decision | None, result: ToolResult) -> None:
        self._end(call, decision, result, "unknown")

    def _end(self, call: ToolCall, decision: Decision | None, result: ToolResult, state: str) -> None:
        known = self.kept.get(call.key)
        if known is None or known.result is None:
            self.kept[call.key] = ToolRecord(call=call, state=state, decision=decision, result=result)

    def records(self, session_id: SessionId) -> tuple[ToolRecord, ...]:
        return tuple(sorted(self.kept.values(), key=lambda record: (record.call.turn, record.call.index)))
