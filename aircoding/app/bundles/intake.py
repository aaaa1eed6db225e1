"""Write the lines of a bundle through the logs of a store, each at the time at which it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aircoding.app.bundles.contents import Contents
from aircoding.app.bundles.lines import Lines
from aircoding.records.calls import CallRecord, Reply, ToolRecord
from aircoding.records.conflicts import Ruling
from aircoding.records.hooks import HookResult
from aircoding.records.ids import Digest
from aircoding.records.manifest import AssembledContext
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionBrief, SessionHead, SessionOutcome, SteeringEntry

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["Clock", "Intake"]


class Clock:
    """Tells the time at which something was recorded elsewhere, so that it is on record here as of then."""

    def __init__(self, at: str) -> None:
        self.at = at

    def __call__(self) -> str:
        """Return the time."""
        return self.at


class Intake:
    """Writes a bundle's lines through the logs of a store, each at the time at which it was recorded."""

    def __init__(self, store: Store, contents: Contents, clock: Clock, now: str) -> None:
        self._store, self._contents, self._clock, self._now = store, contents, clock, now
        self._lines = Lines(contents)
        self._opened: dict[str, str] = {}

    def all(self) -> None:
        """Write everything."""
        lines, store = self._lines, self._store
        self._each("run.jsonl", lines.runs(), self._run)
        self._clock.at = self._now
        for digest in self._contents.named:
            store.texts.put(self._contents.text(digest))
        self._each("events.jsonl", lines.events(), store.events.append)
        self._each("sessions.jsonl", lines.sessions(), self._session)
        self._each("messages.jsonl", lines.messages(), self._message)
        self._each("steering.jsonl", lines.steering(), self._steering)
        self._assemblies()
        self._calls()
        self._each("tools.jsonl", lines.tools(), self._tool)
        self._each("hooks.jsonl", lines.hooks(), self._hook)
        self._each("rulings.jsonl", lines.rulings(), self._ruling)

    def _run(self, run: Run) -> None:
        let_go = None if self._contents.manifest.texts == "full" else self._now
        taken = replace(run, imported_at=self._now, imported_from=self._contents.digest, texts_let_go_at=let_go)
        self._store.runs.create(taken)

    def _each(self, name: str, values: Iterator[Any], write: Callable[[Any], object]) -> None:
        for number, value in enumerate(values, start=1):
            self._contents.at(name, number, write, value)

    def _session(self, given: tuple[SessionHead, SessionBrief, SessionOutcome | None]) -> None:
        head, brief, outcome = given
        self._clock.at = self._opened[head.session_id] = head.opened_at
        self._store.sessions.open(brief)
        if outcome is not None:
            self._clock.at = head.closed_at or self._now
            self._store.sessions.close(outcome)

    def _message(self, value: Mapping[str, Any]) -> None:
        self._clock.at = self._require_session(value["session_id"])
        self._store.sessions.append_message(value["session_id"], value["index"], value["role"], value["content"])

    def _steering(self, given: tuple[str, SteeringEntry]) -> None:
        session_id, entry = given
        self._clock.at = self._require_session(session_id)
        self._store.sessions.steer(session_id, entry)  # type: ignore[arg-type]  # checked when it was read

    def _assemblies(self) -> None:
        """Write the assemblies, each with its snapshot, which stands in the same place of its own file."""
        log, full = self._store.assemblies, self._contents.manifest.texts == "full"
        assemblies, snapshots = self._lines.assemblies(), self._lines.snapshots()

        def write(given: tuple[AssembledContext, Digest | None, bool]) -> None:
            context, masked, has_request = given
            self._clock.at = context.manifest.created_at
            self._require_session(context.manifest.session_id)
            if self._store.index.manifest_ids(prefix=context.manifest_id, limit=1):
                raise ValueError(f"an assembly {context.manifest_id[:80]} is on record already, of another run")
            if not full and not has_request:
                log.record_account(context)
                return
            manifest_id, snapshot = next(snapshots, ("", None))
            if manifest_id != context.manifest_id or snapshot is None or not has_request:
                raise ValueError(f"{context.manifest_id[:80]} has no request, or no snapshot in its place")
            log.record(context, snapshot=snapshot)
            if masked is not None:
                log.mark_masked(context.manifest_id, masked)

        self._each("assemblies.jsonl", assemblies, write)

    def _calls(self) -> None:
        """Write the ledger call by call: a try ends, and the next begins, as it was there."""
        by_key: dict[str, list[tuple[int, CallRecord, Reply | None]]] = {}
        for number, (record, reply) in enumerate(self._lines.calls(), start=1):
            by_key.setdefault(record.key, []).append((number, record, reply))
        for tries in by_key.values():
            for number, record, _ in tries:
                self._contents.at("calls.jsonl", number, self._intend, record)
            paid = [each for each in tries if each[2] is not None]
            for number, record, reply in sorted(paid, key=lambda each: each[1].state != "committed"):
                self._contents.at("calls.jsonl", number, self._commit, record, reply)

    def _intend(self, record: CallRecord) -> None:
        self._require_session(record.session_id)
        if self._store.calls.intend(record) != record.tries:
            raise ValueError("the tries of a call do not count from 0")
        if record.state == "failed":
            self._clock.at = record.finished_at or self._now
            self._store.calls.fail(record.key, record.tries, record.error or "", maybe_billed=record.maybe_billed)

    def _commit(self, record: CallRecord, reply: Reply) -> None:
        if record.cost is None:
            raise ValueError("a call that was paid for has no cost")
        self._clock.at = record.finished_at or self._now
        self._store.calls.commit(record.key, record.tries, reply, record.cost)

    def _tool(self, record: ToolRecord) -> None:
        tools, call, decision = self._store.tools, record.call, record.decision
        self._require_session(call.session_id)
        self._clock.at = record.started_at
        acted = record.state == "intended" or record.started_at != record.finished_at
        if acted and decision is not None:
            tools.intend(call, decision, record.before_digests, record.after_digests)
        if record.result is not None:
            self._clock.at = record.finished_at or self._now
            (tools.interrupt if record.state == "unknown" else tools.commit)(call, decision, record.result)

    def _hook(self, given: tuple[str, HookResult]) -> None:
        session_id, result = given
        self._clock.at = self._require_session(session_id)
        self._store.hooks.record(session_id, [result])  # type: ignore[arg-type]  # checked when it was read

    def _ruling(self, ruling: Ruling) -> None:
        """Put a ruling on record for this run alone: what somebody ruled elsewhere binds no run of ours."""
        self._clock.at = ruling.ruled_at
        self._store.rulings.rule(
            ruling.conflict_id,
            run_id=self._contents.manifest.run_id,
            ruling=ruling.ruling,
            winner=ruling.winner,
            by=ruling.ruled_by,
        )

    def _require_session(self, session_id: str) -> str:
        """Return when a session was opened, which must stand before what is said of it."""
        if session_id not in self._opened:
            raise ValueError("its session is not in sessions.jsonl")
        return self._opened[session_id]
