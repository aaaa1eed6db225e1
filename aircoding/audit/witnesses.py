"""Which workers had a source in a prompt, and which had not. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.audit.considerations import Consideration, matches, why_not
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import Manifest, SegmentRecord

__all__ = ["Witness", "who_saw"]

_IN = frozenset({OutcomeKind.INCLUDED, OutcomeKind.EXCERPTED, OutcomeKind.REFERENCED})


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
