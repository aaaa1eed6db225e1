"""Names of conflicts that stay the same from turn to turn and from run to run, so that a ruling keeps."""

from __future__ import annotations

import re

from aircoding.records.conflicts import ConflictKind
from aircoding.records.digests import sha256_text
from aircoding.records.segments import Segment

__all__ = ["conflict_id", "source_place", "unversioned"]

_VERSION = re.compile(r"(?::\d+-\d+)?(?:~short)?@[0-9a-f]{8}$")
_OF_SESSION = re.compile(r"air:session/[^/]+/(\w+)[^@]*")


def conflict_id(kind: ConflictKind, *parts: str) -> str:
    """Return the id of a conflict between places; neither digests nor lines belong in `parts`."""
    return f"c-{kind.value}-" + sha256_text("\n".join(parts))[:10]


def source_place(segment: Segment) -> str:
    """Return where a text comes from, without digest, lines and session, which an edit elsewhere would change."""
    return _OF_SESSION.sub(r"air:session/\1", segment.source.uri)


def unversioned(party: str) -> str:
    """Return a party without what may change while it stays the same: digest, lines, the session."""
    return _OF_SESSION.sub(r"air:session/\1", _VERSION.sub("", party))
