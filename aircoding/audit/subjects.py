"""What a person may call a source: a path or its tail, a rule, `FILE#section`, a segment id. Pure."""

from __future__ import annotations

import re

from aircoding.records.segments import place_of

__all__ = ["matches", "section_of", "split_version"]

_VERSION = re.compile(r"[0-9a-f]{4,64}")


def matches(subject: str, uri: str, rule_id: str | None, segment_id: str) -> bool:
    """Whether a subject names this source: its uri, its path or the path's tail after `/`, its rule, its section.

    What the program itself makes (`air:…`) has no tail: `T1` names no task's result.
    """
    plain = uri.split(":", 1)[-1]
    section = section_of(segment_id)
    if subject in {uri, plain, rule_id, segment_id, section}:
        return True
    tail = f"/{subject}"
    return not uri.startswith("air:") and (plain.endswith(tail) or section.endswith(tail))


def section_of(segment_id: str) -> str:
    """Return a segment's source without its scheme, and which part of it: `AGENTS.md#style`."""
    return place_of(segment_id).split(":", 2)[-1]


def split_version(subject: str) -> tuple[str, str | None]:
    """Split `PATH@DIGEST` where it ends in the start of a digest; else there is no digest."""
    name, found, digest = subject.rpartition("@")
    return (name, digest) if found and _VERSION.fullmatch(digest) else (subject, None)
