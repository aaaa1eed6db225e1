"""Which instructions an assembly loaded that its epoch did not have before, and what called them up; pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from aircoding.records.layers import SegmentKind
from aircoding.records.manifest import Manifest, SegmentRecord
from aircoding.records.selections import read_selection

__all__ = ["LOAD_REASONS", "loaded_by"]

LOAD_REASONS = ("session_start", "compact", "nested_traversal", "path_glob_match", "include")
"""Why instructions are loaded: the session begins; a new epoch does; a file deeper in the tree, or a scoped rule,
holds for a path that the session has touched; another file imports it."""

_INSTRUCTIONS = frozenset(
    {
        SegmentKind.IDENTITY,
        SegmentKind.RULE,
        SegmentKind.SKILLS_INDEX,
        SegmentKind.SKILL,
        SegmentKind.MEMORY,
        SegmentKind.CONTEXT,
        SegmentKind.PLAN,
        SegmentKind.ADR,
    }
)


def loaded_by(manifest: Manifest, before: Manifest | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the uris that are new in the epoch by reason, in the order of `LOAD_REASONS`.

    Args:
        manifest: of the assembly.
        before: of the turn before it; None: there is none.
    """
    goes_on = before is not None and before.epoch == manifest.epoch
    known = {record.source.uri for record in before.segments} if before is not None and goes_on else set()
    found: dict[str, dict[str, None]] = {reason: {} for reason in LOAD_REASONS}
    for record in _instructions(manifest):
        if record.source.uri not in known:
            reason = _reason(record, goes_on=goes_on, first=before is None)
            found[reason][record.source.uri] = None
    return tuple((reason, tuple(uris)) for reason, uris in found.items() if uris)


def _instructions(manifest: Manifest) -> Iterator[SegmentRecord]:
    return (record for record in manifest.segments if record.kind in _INSTRUCTIONS)


def _reason(record: SegmentRecord, *, goes_on: bool, first: bool) -> str:
    """A rule file that stands above the path for which it is in was met on the way to that path."""
    selection = read_selection(record.selected_by)
    if selection.importer is not None:
        return "include"
    if not goes_on:
        return "session_start" if first else "compact"
    if selection.by != "path":
        return "nested_traversal"
    folder = PurePosixPath(record.source.uri.removeprefix("project:")).parent
    return "nested_traversal" if PurePosixPath(selection.what).is_relative_to(folder) else "path_glob_match"
