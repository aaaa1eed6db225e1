"""Take a snapshot apart into texts that are stored once, and put it together again; pure.

The snapshot of every assembly is kept so that `replay --with/--without/--window/--model` can
reassemble it with other inputs; the texts of candidates that were left out are a part of it. From
turn to turn little of it changes, so each field is a text of its own, segments go in stretches of one
scope and layer, and messages and the frozen part refer to what is stored already. An index lists them; of a later
turn only what differs from the index of the turn before is stored, with what its assembly adds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import groupby
from typing import Any

from aircoding.records.digests import canonical_json, sha256_text
from aircoding.records.ids import Digest
from aircoding.records.jsonable import jsonable
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Message, Snapshot
from aircoding.store.decode import decode
from aircoding.store.skeleton import join_node, needed_texts, split_message

__all__ = ["StoredSnapshot", "index_after", "join_snapshot", "split_snapshot"]

_FORMS = ("text", "excerpt", "reference")
_OWN_WAY = ("request", "created_at", "segments", "messages", "frozen")
_FIELDS = tuple(field.name for field in fields(Snapshot) if field.name not in _OWN_WAY)
_INLINE_CHARACTERS = 256
"""A field whose JSON is no longer stands in the index itself, in a list: a text of its own takes more room."""
_OLD_FIELDS = ("request", "created_at")
"""What indexes of before kept as texts of their own as well."""

Texts = Callable[[frozenset[Digest]], Mapping[Digest, str]]
"""Reads texts in bulk.

Raises:
    NotFoundError: one is not kept.
"""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A snapshot that is on record: its index, and how that is kept: the digest of the last one that was stored whole,
    and what differs from the turn before (None: it was stored whole with this turn).
    """

    digest: Digest
    index: Mapping[str, Any]
    snapshot: Snapshot
    added: Mapping[str, Any] | None = None


def split_snapshot(snapshot: Snapshot, base: StoredSnapshot | None = None) -> tuple[StoredSnapshot, dict[Digest, str]]:
    """Return the snapshot as it is to be stored, and all texts that `base` has not; without `base` its index is one.

    Args:
        snapshot: what an assembly was made of.
        base: the one of the turn before, where it is known.
    """
    texts: dict[Digest, str] = {}

    def field(name: str) -> Any:
        value = getattr(snapshot, name)
        if base is not None and _same(value, getattr(base.snapshot, name)):
            return base.index["fields"][name]
        text = canonical_json(jsonable(value)).decode("utf-8")
        return _keep(text, texts) if len(text) > _INLINE_CHARACTERS else [json.loads(text)]

    frozen = snapshot.frozen
    index: dict[str, Any] = {
        "request": jsonable(snapshot.request),
        "created_at": snapshot.created_at,
        "fields": {name: field(name) for name in _FIELDS},
        "segments": _segments(snapshot, base, texts),
        "messages": _messages(snapshot, base, texts),
        "frozen": frozen and [frozen.context.manifest_id, frozen.message_count],
    }
    if base is not None:
        return StoredSnapshot(base.digest, index, snapshot, _since(base.index, index)), texts
    digest = _keep(canonical_json(index).decode("utf-8"), texts)
    return StoredSnapshot(digest, index, snapshot), texts


def _keep(text: str, texts: dict[Digest, str]) -> Digest:
    digest = sha256_text(text)
    texts[digest] = text
    return digest


def _same(value: Any, before: Any) -> bool:
    """Whether a field is the same as before, without a look at what is equal but another object, if that is large."""
    return value is before or (type(value) is type(before) and bool(value == before))


def _segments(snapshot: Snapshot, base: StoredSnapshot | None, texts: dict[Digest, str]) -> list[Digest]:
    if base is not None and snapshot.segments == base.snapshot.segments:
        return list(base.index["segments"])
    there = set(base.index["segments"]) if base is not None else set()
    digests = []
    for _, stretch in groupby(snapshot.segments, key=lambda segment: (segment.scope, segment.layer)):
        digest, parts = _stretch(tuple(stretch))
        digests.append(digest)
        if digest not in there:
            texts.update(parts)
    return digests


@lru_cache(maxsize=256)
def _stretch(segments: tuple[Segment, ...]) -> tuple[Digest, Mapping[Digest, str]]:
    """Return the digest of a stretch of segments and its texts; the workers of a fleet share most."""
    texts: dict[Digest, str] = {}

    def kept(segment: Segment) -> dict[str, Any]:
        value: dict[str, Any] = jsonable(segment)
        return value | {form: None if value[form] is None else _keep(value[form], texts) for form in _FORMS}

    return _keep(canonical_json([kept(segment) for segment in segments]).decode("utf-8"), texts), texts


def _messages(snapshot: Snapshot, base: StoredSnapshot | None, texts: dict[Digest, str]) -> list[list[Any]]:
    known = base.snapshot.messages if base is not None else ()
    size = len(known)
    begins = size > 0 and snapshot.messages[:size] == known
    kept: list[list[Any]] = list(base.index["messages"]) if begins and base is not None else []
    return [*kept, *(_message(snapshot, one, texts) for one in snapshot.messages[len(kept) :])]


def _message(snapshot: Snapshot, message: Message, texts: dict[Digest, str]) -> list[Any]:
    node, parts = split_message(message.role, message.content)
    texts.update(parts)
    uri = None if message.uri == _usual_uri(snapshot.request.session_id, message.index) else message.uri
    return [message.index, message.role, uri, node]


def _usual_uri(session_id: str, number: int) -> str:
    return f"air:session/{session_id}/message/{number}"


def _since(before: Mapping[str, Any], index: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of an index differs from the one before it."""
    added: dict[str, Any] = {
        "request": {name: value for name, value in index["request"].items() if before["request"].get(name) != value},
        "created_at": index["created_at"],
        "fields": {name: value for name, value in index["fields"].items() if before["fields"].get(name) != value},
        "frozen": index["frozen"],
    }
    if index["segments"] != before["segments"]:
        added["segments"] = index["segments"]
    size = len(before["messages"])
    if index["messages"][:size] == before["messages"]:
        return added | {"messages_after": index["messages"][size:]}
    return added | {"messages": index["messages"]}


def index_after(whole: Mapping[str, Any], added: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the index of a turn from the last that was stored whole and what each turn after it added."""
    index = dict(whole)
    for part in added:
        index |= {name: part[name] for name in ("created_at", "frozen", "segments", "messages") if name in part}
        index["request"] = {**index["request"], **part["request"]}
        index["fields"] = {**index["fields"], **part["fields"]}
        index["messages"] = [*index["messages"], *part.get("messages_after", ())]
    return index


def _named(kept: Mapping[str, Any]) -> list[Digest]:
    """Return the digests of the fields that are texts of their own."""
    return [Digest(at) for at in kept.values() if isinstance(at, str)]


def join_snapshot(index: Mapping[str, Any], read: Texts, context: Callable[[str], Any]) -> Snapshot:
    """Return the snapshot that `split_snapshot` took apart.

    Args:
        index: its whole index.
        read: reads texts in bulk.
        context: returns the assembly of a manifest id (the frozen part).

    Raises:
        NotFoundError: a text is not kept.
    """
    nodes = [node for _, _, _, node in index["messages"]]
    outer = read(frozenset([*_named(index["fields"]), *index["segments"], *nodes]))
    segments = [segment for stretch in index["segments"] for segment in json.loads(outer[stretch])]
    named = {segment[form] for segment in segments for form in _FORMS if segment[form] is not None}
    inner = read(frozenset(named | needed_texts(outer[node] for node in nodes)))
    values = {name: at[0] if isinstance(at, list) else json.loads(outer[at]) for name, at in index["fields"].items()}
    values |= {name: index[name] for name in _OLD_FIELDS if name in index}
    values["segments"] = [
        segment | {form: None if segment[form] is None else inner[segment[form]] for form in _FORMS}
        for segment in segments
    ]
    session = values["request"]["session_id"]
    values["messages"] = [
        {
            "index": number,
            "role": role,
            "uri": _usual_uri(session, number) if uri is None else uri,
            "content": join_node(outer[node], inner)["content"],
        }
        for number, role, uri, node in index["messages"]
    ]
    if index["frozen"] is not None:
        manifest_id, count = index["frozen"]
        values["frozen"] = {"context": context(manifest_id), "message_count": count}
    return decode(Snapshot, values, what=f"the snapshot of {session}")
