"""What a store holds of a run, as the lines of a bundle: read through the store, masked, texts once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aircoding.app.money import spending_line
from aircoding.app.rulings import run_conflicts
from aircoding.audit.redaction import MachineNames, Secrets, masked_context, masked_value
from aircoding.audit.sharing import Shared
from aircoding.records.digests import canonical_json, sha256_bytes, sha256_text
from aircoding.records.ids import Digest, ManifestId
from aircoding.records.jsonable import jsonable
from aircoding.records.manifest import AssembledContext
from aircoding.records.runs import Run
from aircoding.records.sessions import SessionHead
from aircoding.records.snapshot import Snapshot

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["RunRecords"]

_DIGEST = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_LOCAL = ("imported_at", "imported_from", "bodies", "texts_let_go_at")
"""What a store says of its own copy of a run."""


class RunRecords:
    """The lines of each file of one run's bundle; `redacted` counts the assemblies that had to be masked so far."""

    def __init__(
        self,
        store: Store,
        run: Run,
        *,
        secrets: Secrets,
        names: MachineNames,
        shared: Shared,
        texts: bool,
        mask_paths: bool,
    ) -> None:
        self._store, self._run, self._shared = store, run, shared
        self._secrets, self._names, self._mask_paths = secrets, names, mask_paths
        self._sessions = store.index.sessions(run.run_id)
        self._renamed: dict[str, str] = {}
        self.texts = texts
        self.redacted = 0

    def files(self) -> Iterator[tuple[str, Iterable[Any]]]:
        """Yield each file's name with its lines; texts and parts come along through `shared`."""
        named = self._named_texts() if self.texts else []
        yield "run.jsonl", [self._told(self._of_run())]
        yield "events.jsonl", (self._told(event) for event in self._store.events.read(self._run.run_id))
        yield "sessions.jsonl", (self._session(head) for head in self._sessions)
        yield "assemblies.jsonl", self._assemblies()
        yield "calls.jsonl", self._calls()
        yield "tools.jsonl", (self._tool(record) for head in self._sessions for record in self._tool_records(head))
        yield "hooks.jsonl", self._hooks()
        yield "rulings.jsonl", (self._told(one) for one in self._store.rulings.rulings(self._run.run_id))
        if self.texts:
            yield "messages.jsonl", self._messages()
            yield "steering.jsonl", self._steering()
            yield "snapshots.jsonl", self._snapshots()
            yield "texts.jsonl", named

    def report(self) -> dict[str, Any]:
        """Return what the page of the run shows, masked as all that was never a prompt."""
        store, run = self._store, self._run.run_id
        facts = {
            "run": self._of_run(),
            "spending": spending_line(store.calls.spending(run)),
            "tasks": store.runs.task_states(run),
            "costs": store.queries.costs(run),
            "left_out": store.rulings.left_out(run),
            "conflicts": run_conflicts(store, run),
            "prompts": store.index.heads(run_id=run),
        }
        told: dict[str, Any] = masked_value(jsonable(facts), self._account)
        return told

    def _of_run(self) -> dict[str, Any]:
        value: dict[str, Any] = jsonable(self._run)
        return {name: item for name, item in value.items() if name not in _LOCAL}

    def _prompt(self, text: str) -> str:
        masked = self._secrets(text)
        return self._names(masked) if self._mask_paths else masked

    def _account(self, text: str) -> str:
        told = self._names(self._secrets(text))
        return _DIGEST.sub(lambda match: self._renamed.get(match[0], match[0]), told) if self._renamed else told

    def _told(self, value: Any) -> Any:
        """Return a value that was never a prompt: secrets and names of the machine masked."""
        return self._shared.plain(masked_value(jsonable(value), self._account))

    def _said(self, value: Any) -> Any:
        """Return a value that stood in prompts: secrets masked."""
        return self._shared.plain(masked_value(jsonable(value), self._prompt))

    def _part(self, value: Any) -> Any:
        return self._shared.part(masked_value(jsonable(value), self._prompt))

    def _told_part(self, value: Any) -> Any:
        return self._shared.part(masked_value(jsonable(value), self._account))

    def _named_texts(self) -> list[Any]:
        """Keep the texts that events and results name by digest: plans, outputs, diffs; return which they are."""
        store, named = self._store, []
        seen: set[str] = set()
        waiting = {str(self._run.plan_digest), self._run.run_revision}
        waiting |= set(_DIGEST.findall(_json(store.events.read(self._run.run_id))))
        for head in self._sessions:
            waiting |= set(_DIGEST.findall(_json([record.result for record in self._tool_records(head)])))
        while waiting - seen:
            digest = min(waiting - seen)
            seen.add(digest)
            text = store.texts.get(Digest(digest))
            if text is None:
                continue
            waiting |= set(_DIGEST.findall(text))
            masked = self._prompt(text)
            if masked != text:
                self._renamed[digest] = sha256_text(masked)
            named.append({"named": self._shared.text(masked)})
        return named

    def _session(self, head: SessionHead) -> Any:
        brief = None
        if self.texts:
            brief = self._told(self._store.sessions.brief(head.session_id))
        outcome = self._store.sessions.outcome(head.session_id)
        return {"head": self._told(head), "brief": brief, "outcome": outcome and self._told(outcome)}

    def _messages(self) -> Iterator[Any]:
        for head in self._sessions:
            for message in self._store.sessions.messages(head.session_id):
                content = [self._part(block) for block in message.content]
                yield {"session_id": head.session_id, "index": message.index, "role": message.role, "content": content}

    def _steering(self) -> Iterator[Any]:
        turns: dict[str, int] = {}
        for one in self._store.index.heads(run_id=self._run.run_id):
            turns[one.session_id] = max(one.turn, turns.get(one.session_id, 0))
        for head in self._sessions:
            for turn in range(1, turns.get(head.session_id, 0) + 2):
                for entry in self._store.sessions.steering(head.session_id, turn):
                    yield {"session_id": head.session_id, "entry": self._said(entry)}

    def _manifests(self) -> list[ManifestId]:
        return [ManifestId(head.manifest_id) for head in self._store.index.heads(run_id=self._run.run_id)]

    def _assemblies(self) -> Iterator[Any]:
        log = self._store.assemblies
        for manifest_id in self._manifests():
            if not self.texts:
                yield self._assembly(log.account(manifest_id), None, request=False)
                continue
            context = log.get(manifest_id)
            masked = masked_context(context, self._prompt)
            before = log.masked_digest(manifest_id)
            if masked is not None or before is not None:
                self.redacted += 1
                context = masked or context
                yield self._assembly(context, sha256_bytes(canonical_json(context.request)), request=True)
            else:
                yield self._assembly(context, None, request=True)

    def _assembly(self, context: AssembledContext, masked_digest: Digest | None, *, request: bool) -> Any:
        manifest = replace(
            context.manifest, cache=tuple(replace(mark, measured=None) for mark in context.manifest.cache)
        )
        value = self._told(replace(manifest, segments=(), outcomes=(), layout=()))
        value["segments"] = [self._told_part(record) for record in manifest.segments]
        value["outcomes"] = [self._told_part(record) for record in manifest.outcomes]
        value["layout"] = [[span.block, span.start, span.end] for span in manifest.layout]
        nodes = {name: [self._shared.part(node) for node in items] for name, items in context.request.items()}
        return {
            "manifest_id": context.manifest_id,
            "masked_digest": masked_digest,
            "token_estimate": jsonable(context.token_estimate),
            "canonical_format": context.canonical_format,
            "manifest": value,
            "omissions": [self._told_part(record) for record in context.omissions],
            "conflicts": self._told(context.conflicts),
            "refs": self._told(context.refs),
            "request": nodes if request else None,
        }

    def _snapshots(self) -> Iterator[Any]:
        for manifest_id in self._manifests():
            yield {"manifest_id": manifest_id, "snapshot": self._snapshot(self._store.assemblies.snapshot(manifest_id))}

    def _snapshot(self, snapshot: Snapshot) -> Any:
        frozen = snapshot.frozen
        value = jsonable(replace(snapshot, frozen=None))
        for name in ("segments", "messages", "tools"):
            value[name] = [self._part(item) for item in value[name]]
        for name in ("policy", "profile", "task"):
            value[name] = None if value[name] is None else self._part(value[name])
        rest = {name: item for name, item in value.items() if name not in _SHARED}
        value |= self._said(rest)
        value["frozen"] = frozen and {"manifest_id": frozen.context.manifest_id, "message_count": frozen.message_count}
        return value

    def _calls(self) -> Iterator[Any]:
        for record in self._store.queries.calls(run_id=self._run.run_id, limit=None):
            reply = self._store.calls.paid_reply(record.key, record.tries) if self.texts else None
            content = None if reply is None else [self._part(block) for block in reply.content]
            yield {"record": self._told(replace(record, reply_digest=None)), "content": content}

    def _tool_records(self, head: SessionHead) -> Iterable[Any]:
        """Return a session's tool calls; without their texts where these do not go along."""
        if self.texts:
            return self._store.tools.records(head.session_id)
        return self._store.index.tools(head.session_id)

    def _tool(self, record: Any) -> Any:
        if not self.texts:
            return {"head": self._told(record)}
        call, result = record.call, record.result
        value = self._told(replace(record, call=replace(call, input={}), result=result and replace(result, text="")))
        value["call"]["input"] = self._said(call.input)
        if result is not None:
            value["result"]["text"] = self._said(result.text)
        return value

    def _hooks(self) -> Iterator[Any]:
        for head in self._sessions:
            if not self.texts:
                continue
            for result in self._store.hooks.results(head.session_id):
                yield {
                    "session_id": head.session_id,
                    "result": self._told(replace(result, text="")) | {"text": self._said(result.text)},
                }


_SHARED = ("segments", "messages", "tools", "policy", "profile", "task", "frozen")


def _json(value: Any) -> str:
    return canonical_json(jsonable(value)).decode("utf-8")
