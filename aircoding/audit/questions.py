"""Why, why not, and who saw: pure functions over manifests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.audit.remedies import remedy
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import AssembledContext, Manifest, OutcomeRecord, SegmentRecord

__all__ = ["Consideration", "Place", "Witness", "matches", "who_saw", "why", "why_not"]

_IN = frozenset({OutcomeKind.INCLUDED, OutcomeKind.EXCERPTED, OutcomeKind.REFERENCED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place where a text stands in a request. `start` and `end` are byte offsets in the block."""

    manifest_id: str
    session_id: str
    task_id: str | None
    role: str
    turn: int
    block: str
    start: int
    end: int
    line: str
    segment: SegmentRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Consideration:
    """One time that a candidate was considered, what became of it, and what would change that."""

    manifest_id: str
    session_id: str
    task_id: str | None
    attempt: int | None
    role: str
    outcome: OutcomeRecord
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """One worker and whether it saw: `saw` is the first segment that was in, `missed` why none was.

    `sections_seen` counts the segments of the subject (a file's sections) that were in a prompt of this worker;
    `left_out` are those that were in none.
    """

    task_id: str | None
    role: str
    session_ids: tuple[str, ...]
    manifest_id: str
    saw: SegmentRecord | None
    missed: Consideration | None
    sections_seen: int = 0
    left_out: tuple[Consideration, ...] = ()


def matches(query: str, uri: str, rule_id: str | None, segment_id: str) -> bool:
    """Whether a path, rule id or segment id names this source: equal, or a path's tail after `/`."""
    plain = uri.split(":", 1)[-1]
    section = segment_id.split(":", 2)[-1].rsplit("@", 1)[0]
    names = {uri, plain, rule_id, segment_id, section}
    return query in names or plain.endswith("/" + query) or section.endswith("/" + query)


def why(contexts: Iterable[AssembledContext], text: str) -> tuple[Place, ...]:
    """Return every place where `text` stands, in request order; a place of layout has no segment."""
    needle = text.encode("utf-8")
    places: list[Place] = []
    for context in contexts:
        for block, value in _texts(context):
            data = value.encode("utf-8")
            at = data.find(needle) if needle else -1
            while at >= 0:
                places.append(_place(context.manifest, block, data, at, at + len(needle)))
                at = data.find(needle, at + len(needle))
    return tuple(places)


def _texts(context: AssembledContext) -> Iterable[tuple[str, str]]:
    """Yield each text of a request with its pointer; tool calls count as their JSON node."""
    stack: list[tuple[str, object]] = [(f"/{name}", list(part)) for name, part in context.request.items()]
    while stack:
        pointer, node = stack.pop(0)
        if isinstance(node, dict):
            stack[:0] = [(f"{pointer}/{key}", value) for key, value in node.items()]
        elif isinstance(node, (list, tuple)):
            stack[:0] = [(f"{pointer}/{number}", value) for number, value in enumerate(node)]
        elif isinstance(node, str):
            yield pointer, node


def _place(manifest: Manifest, block: str, data: bytes, start: int, end: int) -> Place:
    line_start = data.rfind(b"\n", 0, start) + 1
    line_end = data.find(b"\n", end)
    line = data[line_start : line_end if line_end >= 0 else len(data)]
    return Place(
        manifest_id=manifest.manifest_id,
        session_id=manifest.session_id,
        task_id=manifest.task_id,
        role=manifest.role,
        turn=manifest.turn,
        block=block,
        start=start,
        end=end,
        line=line.decode("utf-8", "replace"),
        segment=_owner(manifest, block, start),
    )


def _owner(manifest: Manifest, block: str, offset: int) -> SegmentRecord | None:
    """Return the segment that owns a byte: by its span, else by the whole node around it."""
    around: SegmentRecord | None = None
    for record in manifest.segments:
        for span in record.spans:
            if span.start is None:
                if block.startswith(span.block + "/"):
                    around = record
            elif span.block == block and span.start <= offset < (span.end or 0):
                return record
    return around


def why_not(manifests: Iterable[Manifest], query: str) -> tuple[Consideration, ...]:
    """Return each time that a path, rule or segment was considered, the newest record of each assembly.

    Included ones are among them: their outcome says so. An empty answer means never considered.
    """
    found: list[Consideration] = []
    for manifest in manifests:
        latest = {
            note.segment_id: note
            for note in manifest.outcomes
            if matches(query, note.uri, note.rule_id, note.segment_id)
        }
        found.extend(_consideration(manifest, note) for note in latest.values())
    return tuple(found)


def _consideration(manifest: Manifest, note: OutcomeRecord) -> Consideration:
    return Consideration(
        manifest_id=manifest.manifest_id,
        session_id=manifest.session_id,
        task_id=manifest.task_id,
        attempt=manifest.attempt,
        role=manifest.role,
        outcome=note,
        remedy=remedy(note),
    )


def who_saw(manifests: Iterable[Manifest], query: str, *, digest: str | None = None) -> tuple[Witness, ...]:
    """Return one witness for each task and role, in that order: who had it in a prompt, and who did not.

    With `digest` only that version counts as seen (by the start of its raw or its text digest).
    """
    groups: dict[tuple[str, str], list[Manifest]] = {}
    for manifest in manifests:
        groups.setdefault((manifest.task_id or "", manifest.role), []).append(manifest)
    return tuple(_witness(group, query, digest) for _, group in sorted(groups.items()))


def _witness(group: list[Manifest], query: str, digest: str | None) -> Witness:
    found = [(manifest, record) for manifest in group for record in _seen(manifest, query, digest)]
    seen = {_unversioned(record.segment_id) for _, record in found}
    missed = {_unversioned(one.outcome.segment_id): one for one in why_not(group, query)}
    first = found[0][0] if found else group[0]
    return Witness(
        task_id=first.task_id,
        role=first.role,
        session_ids=tuple(dict.fromkeys(manifest.session_id for manifest in group)),
        manifest_id=first.manifest_id,
        saw=found[0][1] if found else None,
        missed=None if found or not missed else list(missed.values())[-1],
        sections_seen=len(seen),
        left_out=tuple(one for key, one in missed.items() if key not in seen and one.outcome.outcome not in _IN),
    )


def _unversioned(segment_id: str) -> str:
    return segment_id.rpartition("@")[0]


def _seen(manifest: Manifest, query: str, digest: str | None) -> Iterable[SegmentRecord]:
    for record in manifest.segments:
        source = record.source
        if not matches(query, source.uri, record.rule_id, record.segment_id):
            continue
        if digest is None or source.digest.startswith(digest) or source.text_digest.startswith(digest):
            yield record
