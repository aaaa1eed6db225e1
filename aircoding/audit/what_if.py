"""What a worker would have seen: a recorded epoch assembled again from other inputs. Pure.

A turn within an epoch keeps what the turns before it sent. So a what-if assembles each of them again, from the first
turn of the epoch on, as if its change had been there when the epoch began. What the model answered stays as recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from aircoding.audit.subjects import matches
from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.records.ids import SegmentId
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.segments import Segment, place_of
from aircoding.records.snapshot import Estimator, ModelLimits, Snapshot
from aircoding.records.tasks import Adr

__all__ = ["Change", "Overflowed", "assemble_epoch", "change_snapshot", "named_candidates", "near_names"]

_NEAR_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is another in a what-if; without any value everything is as it was.

    `without` are names of candidates that are left out (see `considerations.matches`). `added` are candidates that take
    the place of every candidate from the same source. `limits` is what the model takes, `estimator` how its tokens are
    estimated; None: as recorded.
    """

    without: tuple[str, ...] = ()
    added: tuple[Segment, ...] = ()
    limits: ModelLimits | None = None
    estimator: Estimator | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflowed:
    """What must be kept does not fit at some turn of the epoch: from there on nothing would have been sent."""

    turn: int
    overflow: Overflow


def change_snapshot(snapshot: Snapshot, change: Change) -> Snapshot:
    """Return the snapshot with the change, and without its frozen part: that is of an epoch without the change."""
    replaced = {one.source.uri for one in change.added}
    kept = (
        one
        for one in snapshot.segments
        if one.source.uri not in replaced
        and not _is_named(one, change.without)
        and not _only_imported(one, replaced, change.without)
    )
    added = [one for one in change.added if not _is_named(one, change.without)]
    limits = change.limits or snapshot.limits
    return replace(
        snapshot,
        request=replace(snapshot.request, model=limits.model),
        # A gatherer gives its candidates in the order of their ids.
        segments=tuple(sorted((*kept, *added), key=lambda one: one.segment_id)) if added else tuple(kept),
        adrs=tuple(one for one in snapshot.adrs if not _names_adr(one, change.without)),
        limits=limits,
        estimator=change.estimator or snapshot.estimator,
        frozen=None,
    )


def assemble_epoch(snapshots: Sequence[Snapshot]) -> AssembledContext | Overflowed:
    """Assemble the turns of an epoch in order and return the last one, or the first turn that does not fit.

    Args:
        snapshots: from the turn that opened the epoch; what each has frozen is taken from the turn before, not from it.
    """
    before: AssembledContext | None = None
    for snapshot in snapshots:
        built = assemble(replace(snapshot, frozen=None if before is None else frozen_from(before)))
        if isinstance(built, Overflow):
            return Overflowed(turn=snapshot.request.turn, overflow=built)
        before = built
    if before is None:
        raise ValueError("an epoch has at least one turn")
    return before


def named_candidates(snapshots: Iterable[Snapshot], name: str) -> tuple[SegmentId, ...]:
    """Return the candidates that a name means, each once, as they were first met."""
    found = (one.segment_id for snapshot in snapshots for one in snapshot.segments if _is_named(one, (name,)))
    return tuple(dict.fromkeys(found))


def near_names(snapshots: Iterable[Snapshot], name: str) -> tuple[str, ...]:
    """Return names of candidates that are written like `name`, the nearest first."""
    known: dict[str, str] = {}
    for snapshot in snapshots:
        for one in snapshot.segments:
            for shown in filter(None, (one.rule_id, _plain(one.source.uri), _plain(place_of(one.segment_id)))):
                known.setdefault(shown.lower(), shown)
                known.setdefault(shown.rsplit("/", 1)[-1].lower(), shown)
    close = get_close_matches(name.lower(), known, n=_NEAR_NAMES * 2, cutoff=0.5)
    return tuple(dict.fromkeys(known[each] for each in close))[:_NEAR_NAMES]


def _is_named(segment: Segment, names: Iterable[str]) -> bool:
    return any(matches(name, segment.source.uri, segment.rule_id, segment.segment_id) for name in names)


def _names_adr(adr: Adr, names: Iterable[str]) -> bool:
    return any(matches(name, adr.uri, adr.id, "") for name in names)


def _only_imported(segment: Segment, replaced: Collection[str], names: Iterable[str]) -> bool:
    """Whether every file that takes this text in is replaced or left out as a whole: it goes with them."""
    return bool(segment.importers) and all(
        uri in replaced or any(matches(name, uri, None, "") for name in names) for uri in segment.importers
    )


def _plain(name: str) -> str:
    """Return a uri, or the place of a segment, as a person would write it."""
    return name.split(":", 1)[-1] if not name.startswith("L") else name.split(":", 2)[-1]
