"""A segment: one piece of text from one source in one layer, the unit of everything that follows."""

from __future__ import annotations

from dataclasses import dataclass, field

from aircoding.records.ids import Digest, SegmentId
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust

__all__ = ["LAPSED", "REMOVED", "UNUSABLE", "Barred", "Claim", "Finding", "Segment", "Source", "is_unusable"]
__all__ += ["place_of"]

REMOVED, LAPSED, UNUSABLE = "~removed", "~lapsed", "~unusable"
"""Ends of the places of notices about a text that stands in a prompt: its source is gone; another text took its
place; its source cannot be used as it is now, and the text still holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a text comes from.

    `uri` is one of `project:PATH` (relative to the project root), `user:PATH` (relative to
    `~/.air`), `~/PATH` and `/PATH` (rule files of the user and of the machine), `resource:PATH`
    (packaged), `git:OBJECT:PATH`, `air:run/…`, `air:session/…`, `plugin:NAME/…`, `hook:NAME/…`.
    `digest` is of the raw bytes of the whole source, `text_digest` of the text that the segment
    carries (secrets masked). Lines count from 1, both ends included.
    """

    uri: str
    digest: Digest
    text_digest: Digest
    start_line: int | None = None
    end_line: int | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """Why a source says that its own candidate cannot be used; the candidate is still accounted for."""

    outcome: OutcomeKind
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a summary, excerpt or finding was made from: the digest that the file had then."""

    uri: str
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One hit of the screener in a text; `start` and `end` are UTF-8 byte offsets in it."""

    kind: str
    code: str
    start: int
    end: int
    start_line: int
    end_line: int
    blocks: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A candidate for the prompt, as a source gives it.

    `text` is the whole form. `excerpt` and `reference` are the smaller forms, where the source
    can make them: an excerpt is a part of the text, a reference is one line that names the source
    and how to fetch it. `required` means that it must be kept whole or the assembly fails.
    `paths` are the globs that scope a rule, `paths_line` the line of its file where they stand; `tags` and the
    `triggers` of a skill's body have theirs. `importers` are the files that take this
    text in where it is no rule file by itself. `sequence` orders the texts of one level: what its owner reads last
    stands last.
    `priority` is the explicit weight of the owner (0 is neutral), `recency` counts up with time
    within one snapshot. `level` is the rule level (see `rules.precedence`), `identity` the name
    under which another level can override it. `confirmed` says that the user confirmed a rule.
    """

    segment_id: SegmentId
    layer: Layer
    scope: Scope
    trust: Trust
    kind: SegmentKind
    source: Source
    text: str
    title: str = ""
    excerpt: str | None = None
    reference: str | None = None
    required: bool = False
    priority: int = 0
    recency: int = 0
    rule_id: str | None = None
    rule_kind: str | None = None
    identity: str | None = None
    level: int = 0
    sequence: int = 0
    native: bool = True
    confirmed: bool = False
    paths: tuple[str, ...] = ()
    paths_line: int | None = None
    tags: tuple[str, ...] = ()
    tags_line: int | None = None
    triggers: tuple[str, ...] = ()
    triggers_line: int | None = None
    importers: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    barred: Barred | None = None
    relevance_terms: tuple[str, ...] = field(default=())


def is_unusable(segment: Segment) -> bool:
    """Whether there is a text that cannot be used as it is; a source that holds none is not there."""
    why = segment.barred
    if why is None:
        return False
    return why.outcome is OutcomeKind.QUARANTINED or why.reason in {Reason.UNREADABLE, Reason.PERMISSION}


def place_of(segment_id: str) -> str:
    """Return the part of a segment id that stays the same when the text changes: layer, source, part of it."""
    return segment_id.rsplit("@", 1)[0]
