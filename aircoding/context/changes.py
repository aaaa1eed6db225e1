"""What an epoch under way has not told its session yet: late, changed, removed sources (DESIGN section 2, epochs).

Sources are read anew for every turn and compared by digest with what was sent. Texts that instruct come as they are
now; of a file that somebody else changed, its name, its digest and a short diff.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aircoding.context.conflicts.rulings import apply_ruling, ruling_words
from aircoding.context.draft import Item, outcome
from aircoding.context.tokens import estimate_tokens
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest, SegmentId
from aircoding.records.layers import Form, Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, OutcomeRecord, SegmentRecord
from aircoding.records.segments import LAPSED, REMOVED, UNUSABLE, Segment, Source, is_unusable, place_of
from aircoding.records.snapshot import Snapshot

__all__ = ["News", "news_of"]

_ONCE_A_SESSION = frozenset({SegmentKind.MEMORY, SegmentKind.SKILLS_INDEX, SegmentKind.IDENTITY})
"""Taken when the session starts; what is written meanwhile surfaces in the next one."""
_INSTRUCTS = frozenset({SegmentKind.RULE, SegmentKind.POLICY, SegmentKind.PLAN, SegmentKind.ADR, SegmentKind.SKILL})
_MOST_DIFF_LINES = 60
_MOST_DIFF_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class News:
    """What this turn has to say besides the recorded messages; `changed` are the places that were sent before."""

    items: tuple[Item, ...]
    outcomes: tuple[OutcomeRecord, ...]
    changed: frozenset[str]


def news_of(snapshot: Snapshot, items: tuple[Item, ...], notes: tuple[OutcomeRecord, ...]) -> News:
    """Return what an epoch under way has to tell.

    Args:
        snapshot: with its frozen part.
        items: every candidate that selection, screening and precedence let in as things are now.
        notes: what those stages noted of the others.
    """
    assert snapshot.frozen is not None  # noqa: S101 - only an epoch under way has news
    sent = snapshot.frozen.context.manifest
    known = _known(sent.segments)
    latest = {note.segment_id: note.reason for note in sent.outcomes}
    told: list[Item] = []
    held_back: list[OutcomeRecord] = []
    changed: set[str] = set()
    for item in items:
        segment, place = item.segment, place_of(item.segment.segment_id)
        if segment.kind in _NO_NEWS or (place in known and known[place] == segment.source.text_digest):
            continue
        if place not in known and latest.get(segment.segment_id) is Reason.BUDGET:
            continue
        back = _held_back(snapshot, item)
        if back is not None:
            held_back.append(back)
            continue
        told.append(item)
        if known.get(place) is not None:
            changed.add(place)
    told += (_notice(snapshot, one) for one in _lapsed(snapshot, sent.segments, known, notes))
    told += (_notice(snapshot, one) for one in _foreign_changes(snapshot))
    told += (_notice(snapshot, one) for one in _rulings(snapshot, known, notes))
    return News(tuple(told), tuple(held_back), frozenset(changed))


_NO_NEWS = frozenset({SegmentKind.TIME, SegmentKind.TOOL})


def _known(records: tuple[SegmentRecord, ...]) -> dict[str, Digest | None]:
    """Return for each place the digest of the text that the session has of it; None: it was told of its end."""
    known: dict[str, Digest | None] = {}
    for record in records:
        place = place_of(record.segment_id)
        for end in (REMOVED, LAPSED):
            if place.endswith(end):
                known[place.removesuffix(end)] = None
                break
        else:
            for end in (REMOVED, LAPSED, UNUSABLE):
                known.pop(place + end, None)
        known[place] = record.source.text_digest
    return known


def _held_back(snapshot: Snapshot, item: Item) -> OutcomeRecord | None:
    """Return why a candidate that is new is not told though it is let in; None when it is."""
    segment = item.segment
    if segment.kind in _ONCE_A_SESSION:
        detail = f"{segment.kind.value} is taken once a session; this version surfaces in the next one"
        return outcome(segment, OutcomeKind.OMITTED, Reason.DISABLED, detail, tokens=item.tokens, by="epoch")
    if segment.kind is not SegmentKind.FILE:
        return None
    assert snapshot.frozen is not None  # noqa: S101 - only an epoch under way has news
    sent = snapshot.frozen.context.manifest
    uri = segment.source.uri
    if uri in snapshot.baselines or any(one.source.uri == uri for one in sent.segments if one.kind is SegmentKind.FILE):
        detail = "the session has it: as it was shown, and as its own calls or a notice have told since"
        return outcome(segment, OutcomeKind.DUPLICATE, Reason.DUPLICATE, detail, tokens=item.tokens, by="epoch")
    if any(note.uri == uri and note.reason is Reason.BUDGET for note in sent.outcomes):
        detail = "an earlier version did not fit when the epoch began; within an epoch nothing is fitted again"
        return outcome(segment, OutcomeKind.OMITTED, Reason.BUDGET, detail, tokens=item.tokens, by="epoch")
    return None


@dataclass(frozen=True, slots=True)
class _Told:
    """A notice to be made: which source, in which version, in which words.

    `revision` is what the session had of a file when it was told.
    """

    name: str
    layer: Layer
    trust: Trust
    uri: str
    digest: Digest
    text: str
    revision: str | None = None


def _notice(snapshot: Snapshot, told: _Told) -> Item:
    digest = sha256_text(told.text)
    segment = Segment(
        segment_id=SegmentId(f"{told.name}@{digest[:8]}"),
        layer=told.layer,
        scope=Scope.TURN,
        trust=told.trust,
        kind=SegmentKind.NOTICE,
        source=Source(uri=told.uri, digest=told.digest, text_digest=digest, revision=told.revision),
        text=told.text,
    )
    return Item(segment, Form.WHOLE, told.text, estimate_tokens(told.text, snapshot.estimator), "epoch")


def _lapsed(
    snapshot: Snapshot,
    records: tuple[SegmentRecord, ...],
    known: Mapping[str, Digest | None],
    notes: tuple[OutcomeRecord, ...],
) -> Iterator[_Told]:
    """Yield a notice for each text that was sent and holds no more, or cannot be used as it is now."""
    there = {place_of(one.segment_id) for one in snapshot.segments if one.barred is None}
    broken = {one.source.uri for one in snapshot.segments if is_unusable(one)}
    beaten = {place_of(note.segment_id): note for note in notes if note.reason in {Reason.OVERRIDDEN, Reason.DUPLICATE}}
    for record in _in_force(records, known):
        place = place_of(record.segment_id)
        end, words, note = "", "", beaten.get(place)
        # A copy elsewhere takes nothing from a text that is as it was.
        if note is not None and (note.reason is Reason.OVERRIDDEN or note.segment_id != record.segment_id):
            end, words = LAPSED, f" holds no more as it stands above: {note.detail}."
        elif place in there or record.scope in {Scope.FLEET, Scope.RUN}:
            continue
        elif record.source.uri not in broken:
            end, words = REMOVED, " was removed. It no longer holds."
        elif place + UNUSABLE not in known:
            end, words = UNUSABLE, " was changed and cannot be used as it is now; the version above still holds."
        if end:
            text = f"{_where(record)}{words}"
            yield _Told(place + end, record.layer, Trust.BUILTIN, record.source.uri, Digest(""), text)


def _in_force(records: tuple[SegmentRecord, ...], known: Mapping[str, Digest | None]) -> Iterator[SegmentRecord]:
    """Yield the newest record of each place that instructs."""
    latest = {place_of(record.segment_id): record for record in records if record.kind in _INSTRUCTS}
    return (record for place, record in latest.items() if known.get(place) is not None)


def _where(record: SegmentRecord) -> str:
    source = record.source
    lines = f", lines {source.start_line}-{source.end_line}" if source.start_line is not None else ""
    return f"The {record.kind.value} that stood in {source.uri}{lines}"


def _foreign_changes(snapshot: Snapshot) -> Iterator[_Told]:
    """Yield a notice for each file that is neither as the session last saw or left it nor as it was told since."""
    assert snapshot.frozen is not None  # noqa: S101 - only an epoch under way has news
    context = snapshot.frozen.context
    shown: dict[str, SegmentRecord] = {}
    told: dict[str, Source] = {}
    for record in context.manifest.segments:
        if record.kind is SegmentKind.FILE:
            shown[record.source.uri] = record
        elif record.kind is SegmentKind.NOTICE and record.layer is Layer.L6:
            told[record.source.uri] = record.source
    for uri in sorted({*shown, *snapshot.baselines}):
        now = snapshot.digests.get(uri)
        seen = snapshot.baselines.get(uri) or (shown[uri].source.digest if uri in shown else None)
        last = told.get(uri)
        # A notice counts until the session itself has read or changed the file again.
        believed = last.digest if last is not None and last.revision == seen else seen
        if now is None or now == believed:
            continue
        trust = shown[uri].trust if uri in shown else Trust.BUILTIN
        text = f"{uri.removeprefix('project:')} was changed by somebody else. "
        text += (
            "It is again as you last saw it." if now == seen else _change(snapshot, context, shown.get(uri), seen, now)
        )
        yield _Told(f"L6:{uri}#changed", Layer.L6, trust, uri, now, text, revision=seen)


def _rulings(
    snapshot: Snapshot, known: Mapping[str, Digest | None], notes: tuple[OutcomeRecord, ...]
) -> Iterator[_Told]:
    """Yield what a person has ruled since on a conflict of this epoch, where no text lapsed by it that says so."""
    assert snapshot.frozen is not None  # noqa: S101 - only an epoch under way has news
    before = {one.conflict_id: one for one in snapshot.frozen.context.conflicts}
    applied = {note.by for note in notes}
    for ruling in snapshot.rulings:
        conflict = before.get(ruling.conflict_id)
        name = f"L7:air:conflict/{ruling.conflict_id}#{ruling.ruled_at}"
        if conflict is None or name in known or apply_ruling(conflict, ruling) == conflict:
            continue
        if f"ruling:{ruling.conflict_id}" not in applied:
            text = ruling_words(conflict, ruling)
            yield _Told(name, Layer.L7, Trust.USER, f"air:conflict/{ruling.conflict_id}", sha256_text(text), text)


def _change(
    snapshot: Snapshot, context: AssembledContext, record: SegmentRecord | None, seen: Digest | None, now: Digest
) -> str:
    if not now:
        return "It is no longer there."
    again = f"It has the digest {now[:12]} now; read it again before you rely on it."
    current = next((one for one in snapshot.segments if record and _part_of(one) == _part_of(record)), None)
    if record is None or current is None or record.form is not Form.WHOLE or record.source.digest != seen:
        return again
    before = "".join(_text_at(context, span.block, span.start, span.end) for span in record.spans)
    lines = list(difflib.unified_diff(before.splitlines(), current.text.splitlines(), "before", "now", lineterm=""))
    diff = "\n".join(lines)
    if not lines:
        return again
    if len(lines) > _MOST_DIFF_LINES or len(diff) > _MOST_DIFF_CHARS:
        return f"{again} The change has {len(lines)} lines and is not shown."
    return f"{again} What changed in the part that you were shown:\n{diff}"


def _part_of(one: Segment | SegmentRecord) -> tuple[SegmentKind, str, int | None]:
    """Return what stays the same of a file's part when lines are added to it: kind, file, first line."""
    return one.kind, one.source.uri, one.source.start_line


def _text_at(context: AssembledContext, pointer: str, start: int | None, end: int | None) -> str:
    node: object = context.request
    for part in pointer.strip("/").split("/"):
        node = node[int(part)] if isinstance(node, (list, tuple)) else node[part]  # type: ignore[index]
    return str(node).encode("utf-8")[start:end].decode("utf-8")
