"""Take a snapshot apart into texts that are stored once, and put it together again; pure.

The snapshot of every assembly is kept so that `replay --with/--without/--window/--model` can
reassemble it with other inputs; the texts of candidates that were left out are a part of it. From
turn to turn little of it changes, so each field is a text of its own, segments go in stretches of one
scope and layer, and messages and the frozen part refer to what is stored already.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import groupby
from typing import Any

from aircoding.records.digests import canonical_json, sha256_text
from aircoding.records.ids import Digest
from aircoding.records.jsonable import jsonable
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Message, Snapshot
from aircoding.store.decode import decode
from aircoding.store.skeleton import join_node, needed_texts, split_message

__all__ = ["join_snapshot", "split_snapshot"]

_FORMS = ("text", "excerpt", "reference")
_OWN_WAY = ("segments", "messages", "frozen")

Texts = Callable[[frozenset[Digest]], Mapping[Digest, str]]
"""Reads texts in bulk.

Raises:
    NotFoundError: one is not kept.
"""


def split_snapshot(snapshot: Snapshot) -> tuple[Digest, dict[Digest, str]]:
    """Return the digest of the snapshot's index and all texts, the index included."""
    texts: dict[Digest, str] = {}

    def keep(text: str) -> Digest:
        digest = sha256_text(text)
        texts[digest] = text
        return digest

    def keep_json(value: Any) -> Digest:
        return keep(canonical_json(value).decode("utf-8"))

    def keep_message(message: Message) -> list[Any]:
        node, parts = split_message(message.role, message.content)
        texts.update(parts)
        return [message.index, message.role, message.uri, node]

    def keep_segment(segment: Segment) -> dict[str, Any]:
        value: dict[str, Any] = jsonable(segment)
        return value | {form: None if value[form] is None else keep(value[form]) for form in _FORMS}

    stretches = groupby(snapshot.segments, key=lambda segment: (segment.scope, segment.layer))
    frozen = snapshot.frozen
    index = {
        "fields": {
            field.name: keep_json(jsonable(getattr(snapshot, field.name)))
            for field in fields(Snapshot)
            if field.name not in _OWN_WAY
        },
        "segments": [keep_json([keep_segment(segment) for segment in stretch]) for _, stretch in stretches],
        "messages": [keep_message(message) for message in snapshot.messages],
        "frozen": frozen and [frozen.context.manifest_id, frozen.message_count],
    }
    return keep_json(index), texts


def join_snapshot(digest: Digest, read: Texts, context: Callable[[str], Any]) -> Snapshot:
    """Return the snapshot that `split_snapshot` took apart.

    Args:
        digest: of its index.
        read: reads texts in bulk.
        context: returns the assembly of a manifest id (the frozen part).

    Raises:
        NotFoundError: a text is not kept.
    """
    index = json.loads(read(frozenset({digest}))[digest])
    nodes = [node for _, _, _, node in index["messages"]]
    outer = read(frozenset([*index["fields"].values(), *index["segments"], *nodes]))
    segments = [segment for stretch in index["segments"] for segment in json.loads(outer[stretch])]
    named = {segment[form] for segment in segments for form in _FORMS if segment[form] is not None}
    inner = read(frozenset(named | needed_texts(outer[node] for node in nodes)))
    values = {name: json.loads(outer[at]) for name, at in index["fields"].items()}
    values["segments"] = [
        segment | {form: None if segment[form] is None else inner[segment[form]] for form in _FORMS}
        for segment in segments
    ]
    values["messages"] = [
        {"index": number, "role": role, "uri": uri, "content": join_node(outer[node], inner)["content"]}
        for number, role, uri, node in index["messages"]
    ]
    if index["frozen"] is not None:
        manifest_id, count = index["frozen"]
        values["frozen"] = {"context": context(manifest_id), "message_count": count}
    return decode(Snapshot, values, what=f"snapshot {digest[:12]}")
