"""What one worker, or another tool, sees for one subject: what is in it, what stayed out, and what contradicts. Pure.

A view is what tests of a context and comparisons of two versions of a project look at; a prompt of ours and the
account of another tool become the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from aircoding.audit.remedies import remedy
from aircoding.audit.texts import request_texts, segment_texts
from aircoding.context.manifest import latest_outcomes
from aircoding.context.tokens import estimate_tokens
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import AssembledContext, SegmentRecord
from aircoding.records.segments import place_of
from aircoding.records.snapshot import Estimator
from aircoding.rules.tools.account import FileEntry, ToolAccount
from aircoding.rules.tree import tree_uri

__all__ = ["LeftOut", "Part", "View", "account_view", "context_view"]

_SESSION = re.compile(r"air:session/[^/]+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One text that is in. `place` is what it is whatever it says, `by` what let it in."""

    place: str
    uri: str
    layer: str
    scope: str
    form: str
    text_digest: Digest
    tokens: int
    rule_id: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    by: str = ""
    text: str = field(default="", repr=False, metadata={"json": False})


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One candidate that is not in as it stands, and what decided."""

    place: str
    uri: str
    layer: str
    outcome: str
    reason: str
    detail: str
    by: str
    remedy: str = ""
    rule_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All of it: parts in their order, what was left out by place, contradictions, and tokens by layer.

    `blocks` are the texts as they are sent (`audit.texts.request_texts`: a tool is the text of its JSON), or loaded.
    """

    parts: tuple[Part, ...]
    left_out: tuple[LeftOut, ...] = ()
    conflicts: tuple[str, ...] = ()
    layer_tokens: Mapping[str, int] = field(default_factory=dict)
    blocks: tuple[str, ...] = field(default=(), repr=False, metadata={"json": False})

    @property
    def tokens(self) -> int:
        """All tokens, as they are estimated."""
        return sum(self.layer_tokens.values())


def context_view(context: AssembledContext) -> View:
    """Return the view of an assembled prompt."""
    manifest = context.manifest
    texts = segment_texts(context)
    return View(
        parts=tuple(_part(record, texts[record.segment_id], number) for number, record in _numbered(manifest.segments)),
        left_out=tuple(
            LeftOut(
                place=place_of(note.segment_id),
                uri=note.uri,
                layer=note.layer.value,
                outcome=note.outcome.value,
                reason=note.reason.value if note.reason is not None else "",
                detail=note.detail,
                by=note.by,
                remedy=remedy(note),
                rule_id=note.rule_id,
            )
            for note in sorted(latest_outcomes(manifest.outcomes), key=lambda one: one.segment_id)
            if note.outcome is not OutcomeKind.INCLUDED
        ),
        conflicts=tuple(sorted({f"{one.kind.value}: {one.detail}" for one in context.conflicts})),
        layer_tokens={
            layer.value: used.used for layer, used in manifest.budget.per_layer.items() if used.used or used.omitted
        },
        blocks=tuple(text for _, text in request_texts(context)),
    )


def _numbered(records: tuple[SegmentRecord, ...]) -> list[tuple[int, SegmentRecord]]:
    """Number the segments of one place, so that each has a name of its own."""
    seen: dict[str, int] = {}
    numbered = []
    for record in records:
        place = _place(record.segment_id)
        seen[place] = seen.get(place, -1) + 1
        numbered.append((seen[place], record))
    return numbered


def _place(segment_id: str) -> str:
    """Return the place of a segment, without the session: two workers on one task are to be compared."""
    return _SESSION.sub("air:session/", place_of(segment_id))


def _part(record: SegmentRecord, text: str, number: int) -> Part:
    place = _place(record.segment_id)
    return Part(
        place=f"{place}~{number}" if number else place,
        uri=record.source.uri,
        layer=record.layer.value,
        scope=record.scope.value,
        form=record.form.value,
        text_digest=record.source.text_digest,
        tokens=record.tokens,
        rule_id=record.rule_id,
        start_line=record.source.start_line,
        end_line=record.source.end_line,
        by=record.selected_by,
        text=text,
    )


def account_view(account: ToolAccount) -> View:
    """Return the view of what another tool loads; its files are the parts, with tokens as ours are estimated."""
    loaded = [one for one in account.entries if one.reaches]
    parts = tuple(_file_part(one, account.texts.get(one.path, "")) for one in loaded)
    return View(
        parts=parts,
        left_out=tuple(
            LeftOut(
                place=one.path,
                uri=tree_uri(one.path),
                layer="",
                outcome=one.verdict.value,
                reason=one.cause.value if one.cause is not None else "",
                detail=one.why,
                by=one.path,
            )
            for one in account.entries
            if not one.reaches or one.lost
        ),
        layer_tokens={account.tool.value: sum(part.tokens for part in parts)},
        blocks=tuple(part.text for part in parts),
    )


_digest = lru_cache(maxsize=1024)(sha256_text)
"""A file is loaded for thousands of paths."""


def _file_part(entry: FileEntry, text: str) -> Part:
    return Part(
        place=entry.path,
        uri=tree_uri(entry.path),
        layer="",
        scope=entry.when.value if entry.when is not None else "",
        form=entry.verdict.value,
        text_digest=_digest(text),
        tokens=estimate_tokens(text, Estimator()),
        by=entry.why,
        text=text,
    )
