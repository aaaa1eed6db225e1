"""What one turn adds to the assembly before it; pure.

Within an epoch everything that was sent stays where it was, so the nodes of the request, the
segments, and the outcomes of a turn begin with those of the turn before. Then only the rest is stored, and the list
counts from the turn where it was last stored whole (`*_since`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aircoding.records.digests import canonical_json
from aircoding.records.jsonable import jsonable
from aircoding.records.manifest import AssembledContext, LayoutSpan, OutcomeRecord
from aircoding.store.dictionary import deflate, inflate
from aircoding.store.skeleton import Mark, Skeleton

__all__ = [
    "KEYFRAME_TURNS",
    "Nodes",
    "account_of",
    "added_snapshot",
    "derived_omissions",
    "join_nodes",
    "nodes_of",
    "pack",
    "rest_after",
    "unpack",
]

Item = TypeVar("Item")

KEYFRAME_TURNS = 64
"""A list is stored whole again after so many turns, so that reading one never takes more rows than these hold."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The skeleton digests of a request's nodes and its layout spans: whole, or what a turn added."""

    tools: tuple[str, ...]
    system: tuple[str, ...]
    messages: tuple[str, ...]
    layout: tuple[tuple[str, int, int], ...]

    def after(self, earlier: Nodes) -> Nodes | None:
        """Return what is new since `earlier`, or None when that is not the beginning of this."""
        tools = rest_after(earlier.tools, self.tools)
        system = rest_after(earlier.system, self.system)
        messages = rest_after(earlier.messages, self.messages)
        layout = rest_after(earlier.layout, self.layout)
        if tools is None or system is None or messages is None or layout is None:
            return None
        return Nodes(tools, system, messages, layout)

    def packed(self, snapshot: Mapping[str, Any] | None = None) -> bytes:
        """Return it as a row stores it, with what the turn's snapshot adds to the one before (None: it is whole)."""
        parts = [self.tools, self.system, self.messages, self.layout]
        return pack(parts if snapshot is None else [*parts, snapshot])

    @classmethod
    def unpacked(cls, data: bytes) -> Nodes:
        """Return the nodes that `packed` gave."""
        tools, system, messages, layout, *_ = unpack(data)
        return cls(tuple(tools), tuple(system), tuple(messages), tuple(tuple(span) for span in layout))


def added_snapshot(delta: bytes) -> Mapping[str, Any] | None:
    """Return what a turn's snapshot adds to the one before; None: it was stored whole."""
    added: list[Mapping[str, Any]] = unpack(delta)[4:]
    return added[0] if added else None


def nodes_of(skeleton: Skeleton, layout: Sequence[LayoutSpan]) -> Nodes:
    """Return the nodes of a request that was taken apart."""
    spans = tuple((span.block, span.start, span.end) for span in layout)
    return Nodes(skeleton.tools, skeleton.system, skeleton.messages, spans)


def join_nodes(deltas: Sequence[bytes]) -> Nodes:
    """Return the whole from what each turn added, in order."""
    parts = [Nodes.unpacked(delta) for delta in deltas]
    return Nodes(
        tuple(digest for part in parts for digest in part.tools),
        tuple(digest for part in parts for digest in part.system),
        tuple(digest for part in parts for digest in part.messages),
        tuple(span for part in parts for span in part.layout),
    )


def rest_after(earlier: Sequence[Item], now: Sequence[Item]) -> tuple[Item, ...] | None:
    """Return what follows `earlier` in `now`, or None when `now` does not begin with it."""
    size = len(earlier)
    return tuple(now[size:]) if tuple(now[:size]) == tuple(earlier) else None


def pack(value: Any, like: bytes | None = None) -> bytes:
    """Return a JSON value compressed; `like` is what was given for one that is much like it (and stands by itself)."""
    raw = canonical_json(jsonable(value))
    return deflate(raw) if like is None else deflate(raw, inflate(like))


def unpack(data: bytes, like: bytes | None = None) -> Any:
    """Return what `pack` gave."""
    return json.loads(inflate(data) if like is None else inflate(data, inflate(like)))


def derived_omissions(outcomes: Sequence[OutcomeRecord]) -> tuple[OutcomeRecord, ...]:
    """Return the omissions that follow from the outcomes: the last of each candidate that is not `included`."""
    latest = {note.segment_id: note for note in outcomes}
    return tuple(note for note in latest.values() if note.outcome != "included")


def account_of(context: AssembledContext, marks: Sequence[Mark], like: bytes | None = None) -> bytes:
    """Return what of a context stands in no column and no list, compressed; `like` is that of the turn from which its
    nodes count.

    Omissions, conflicts and refs stand in the context as well as in the manifest; they are kept twice
    only where they differ.
    """
    manifest = context.manifest
    account = {
        "canonical_format": context.canonical_format,
        "marks": [[mark.pointer, mark.position, mark.value] for mark in marks],
        "cache": manifest.cache,
        "budget": manifest.budget,
        "versions": manifest.versions,
        "run_revision": manifest.run_revision,
        "policy_digest": manifest.policy_digest,
        "refs": manifest.refs,
        "omissions": None if context.omissions == derived_omissions(manifest.outcomes) else context.omissions,
        "context_conflicts": None if context.conflicts == manifest.conflicts else context.conflicts,
        "context_refs": None if context.refs == manifest.refs else context.refs,
    }
    return pack(account, like)
