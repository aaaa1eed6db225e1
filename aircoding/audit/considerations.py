"""What became of a candidate each time that it was considered, and what would change that. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aircoding.audit.remedies import remedy
from aircoding.records.manifest import Manifest, OutcomeRecord

__all__ = ["Consideration", "matches", "why_not"]


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


def matches(query: str, uri: str, rule_id: str | None, segment_id: str) -> bool:
    """Whether a path, rule id or segment id names this source: equal, or a path's tail after `/`."""
    plain = uri.split(":", 1)[-1]
    section = segment_id.split(":", 2)[-1].rsplit("@", 1)[0]
    names = {uri, plain, rule_id, segment_id, section}
    return query in names or plain.endswith("/" + query) or section.endswith("/" + query)


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
