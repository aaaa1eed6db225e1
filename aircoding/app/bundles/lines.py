"""The lines of a bundle as values, each checked: what it is, and that it belongs to the bundle's own run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

from aircoding.app.bundles.contents import Contents
from aircoding.records.calls import CallRecord, Reply, ToolCall, ToolHead, ToolRecord, ToolResult
from aircoding.records.conflicts import Ruling
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.events import Event
from aircoding.records.hooks import HookResult
from aircoding.records.ids import Digest, session_parts
from aircoding.records.layers import Mode
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Decision
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionBrief, SessionHead, SessionOutcome, SteeringEntry
from aircoding.records.snapshot import Frozen, Snapshot
from aircoding.records.tasks import TaskSpec
from aircoding.sources.bundle_files import BundleError

__all__ = ["Lines"]

Kind = TypeVar("Kind")


class Lines:
    """The lines of a bundle as values, each checked to belong to its run."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        run = re.escape(contents.manifest.run_id)
        self._session_id = re.compile(rf"{run}:.{{1,200}}:[0-9]{{1,9}}:[^:]{{1,80}}:[0-9]{{1,9}}", re.DOTALL)
        self._contexts: dict[str, AssembledContext] = {}
        self.assemblies_seen = self.redacted_seen = self.events_seen = 0

    def everything(self) -> Iterator[object]:
        """Yield every line, for the sake of its checks."""
        if len(list(self.runs())) != 1:
            raise BundleError(f"{self._contents.path}: run.jsonl holds no single run", hint="it is no bundle of ours")
        yield from chain[object](self.events(), self.sessions(), self.messages(), self.steering())
        yield from chain[object](self.assemblies(), self.snapshots(), self.calls(), self.tools())
        yield from chain[object](self.hooks(), self.rulings())

    def runs(self) -> Iterator[Run]:
        """Yield the run."""
        return self._contents.take("run.jsonl", self._run)

    def _run(self, value: Mapping[str, Any]) -> Run:
        run = _decoded(Run, value)
        self._own(run.run_id == self._contents.manifest.run_id)
        return replace(run, imported_at=None, imported_from=None, bodies=None, texts_let_go_at=None)

    def events(self) -> Iterator[Event]:
        """Yield the events; their numbers count from 1 without gaps."""
        self.events_seen = 0
        return self._contents.take("events.jsonl", self._event)

    def _event(self, value: Mapping[str, Any]) -> Event:
        event = _decoded(Event, value)
        self._own(event.run_id == self._contents.manifest.run_id)
        self.events_seen += 1
        if event.seq != self.events_seen:
            raise ValueError(f"event {event.seq} stands where event {self.events_seen} should")
        return event

    def sessions(self) -> Iterator[tuple[SessionHead, SessionBrief, SessionOutcome | None]]:
        """Yield the sessions; where texts do not go along, their brief says no more than their head."""
        return self._contents.take("sessions.jsonl", self._session)

    def _session(self, value: Mapping[str, Any]) -> tuple[SessionHead, SessionBrief, SessionOutcome | None]:
        head = _decoded(SessionHead, value["head"])
        self._own_session(head.session_id)
        brief = _bare_brief(head) if value["brief"] is None else _decoded(SessionBrief, value["brief"])
        outcome = None if value["outcome"] is None else _decoded(SessionOutcome, value["outcome"])
        self._own(brief.session_id == head.session_id and (outcome is None or outcome.session_id == head.session_id))
        return head, brief, outcome

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """Yield the messages as they stand in the file."""
        return self._contents.take("messages.jsonl", self._message)

    def _message(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        self._own_session(value["session_id"])
        if not isinstance(value["content"], list) or not all(isinstance(block, dict) for block in value["content"]):
            raise ValueError("`content` is no list of blocks")
        if type(value["index"]) is not int or value["index"] < 0 or not isinstance(value["role"], str):
            raise ValueError("`index` or `role` is not what a message has")
        return value

    def steering(self) -> Iterator[tuple[str, SteeringEntry]]:
        """Yield the steering entries with their session."""
        return self._contents.take(
            "steering.jsonl",
            lambda value: (self._own_session(value["session_id"]), _decoded(SteeringEntry, value["entry"])),
        )

    def assemblies(self) -> Iterator[tuple[AssembledContext, Digest | None, bool]]:
        """Yield the assemblies, the digest of the masked form, and whether the request is there."""
        self._contexts.clear()
        self.assemblies_seen = self.redacted_seen = 0
        return self._contents.take("assemblies.jsonl", self._assembly)

    def _assembly(self, value: Mapping[str, Any]) -> tuple[AssembledContext, Digest | None, bool]:
        request = value["request"]
        manifest = dict(value["manifest"])
        manifest["layout"] = [{"block": block, "start": start, "end": end} for block, start, end in manifest["layout"]]
        context = _decoded(
            AssembledContext,
            {
                **{name: (request or {}).get(name, ()) for name in ("tools", "system", "messages")},
                **{name: value[name] for name in ("token_estimate", "omissions", "conflicts", "refs")},
                "canonical_format": value["canonical_format"],
                "manifest_id": value["manifest_id"],
                "digest": manifest["digest"],
                "manifest": manifest,
            },
        )
        self._own_session(context.manifest.session_id)
        self._own(context.manifest.run_id == self._contents.manifest.run_id)
        self._own(context.manifest_id == context.manifest.manifest_id and context.manifest_id not in self._contexts)
        masked = value["masked_digest"]
        if (masked is not None) != (context.manifest.provenance == "redacted"):
            raise ValueError("`provenance` and `masked_digest` do not say the same")
        if request is not None and sha256_bytes(canonical_json(context.request)) != (masked or context.digest):
            raise ValueError(f"the request of {context.manifest_id[:80]} does not give its digest")
        self.assemblies_seen += 1
        self.redacted_seen += masked is not None
        self._contexts[context.manifest_id] = replace(context, tools=(), system=(), messages=())
        return context, masked, request is not None

    def snapshots(self) -> Iterator[tuple[str, Snapshot]]:
        """Yield the snapshots by the id of their assembly, in its order; read after the assemblies."""
        return self._contents.take("snapshots.jsonl", self._snapshot)

    def _snapshot(self, value: Mapping[str, Any]) -> tuple[str, Snapshot]:
        given = dict(value["snapshot"])
        self._contexts[value["manifest_id"]]
        frozen = given.pop("frozen")
        snapshot = _decoded(Snapshot, given | {"frozen": None})
        if frozen is not None:
            earlier = self._contexts[frozen["manifest_id"]]
            snapshot = replace(snapshot, frozen=Frozen(context=earlier, message_count=int(frozen["message_count"])))
        return value["manifest_id"], snapshot

    def calls(self) -> Iterator[tuple[CallRecord, Reply | None]]:
        """Yield the tries of calls, and what came of those that were paid for."""
        return self._contents.take("calls.jsonl", self._call)

    def _call(self, value: Mapping[str, Any]) -> tuple[CallRecord, Reply | None]:
        record = _decoded(CallRecord, value["record"])
        self._own_session(record.session_id)
        self._own(record.key.startswith(f"{record.session_id}#"))
        if record.usage is None:
            return record, None
        reply = _decoded(
            Reply,
            {
                "content": value["content"] or (),
                "stop_reason": record.stop_reason or "",
                "usage": record.usage,
                "model": record.reply_model or "",
                "request_id": record.request_id,
            },
        )
        return record, reply

    def tools(self) -> Iterator[ToolRecord]:
        """Yield the tool calls; where texts do not go along, without input and result."""
        return self._contents.take("tools.jsonl", self._tool)

    def _tool(self, value: Mapping[str, Any]) -> ToolRecord:
        record = _bare_tool(_decoded(ToolHead, value["head"])) if "head" in value else _decoded(ToolRecord, value)
        self._own_session(record.call.session_id)
        self._own(record.call.key.startswith(f"{record.call.session_id}#"))
        return record

    def hooks(self) -> Iterator[tuple[str, HookResult]]:
        """Yield what hooks said, with the session."""
        return self._contents.take(
            "hooks.jsonl",
            lambda value: (self._own_session(value["session_id"]), _decoded(HookResult, value["result"])),
        )

    def rulings(self) -> Iterator[Ruling]:
        """Yield what people ruled."""
        return self._contents.take("rulings.jsonl", lambda value: _decoded(Ruling, value))

    def _own_session(self, session_id: Any) -> str:
        self._own(isinstance(session_id, str) and self._session_id.fullmatch(session_id) is not None)
        return str(session_id)

    @staticmethod
    def _own(is_own: bool) -> None:
        if not is_own:
            raise ValueError("it belongs to another run or session")


def _decoded(kind: type[Kind], value: Any) -> Kind:
    from aircoding.store.decode import decode

    return decode(kind, value, what="it")


def _bare_brief(head: SessionHead) -> SessionBrief:
    """Return what is known of a brief whose texts did not go along."""
    _, task, _, role, _ = session_parts(head.session_id)
    return SessionBrief(
        session_id=head.session_id,
        role=role,
        model=head.model,
        mode=Mode.FULL,
        task=TaskSpec(id=task, title=task),
        worktree="",
        base_commit="",
        run_revision="",
        instruction="",
    )


def _bare_tool(head: ToolHead) -> ToolRecord:
    """Return what is known of a tool call whose texts did not go along."""
    call = ToolCall(
        key=head.key,
        session_id=head.session_id,
        turn=head.turn,
        index=head.index,
        tool_use_id=head.tool_use_id,
        name=head.name,
        input={},
    )
    said = "its texts did not go along"
    decision = (
        None
        if head.effect is None
        else Decision(effect=head.effect, act=head.name, reason=said, fingerprint=Digest(""))
    )
    result = None if head.is_error is None else ToolResult(text="", is_error=head.is_error)
    return ToolRecord(
        call=call,
        state=head.state,
        decision=decision,
        result=result,
        started_at=head.started_at,
        finished_at=head.finished_at,
    )
