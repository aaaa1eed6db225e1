"""What a reference in a prompt stands for: the whole text of a segment, a message, a large output. Pure.

Everything that an assembly considered is in its snapshot, with the text that it had then; so what was only referenced,
excerpted or left out is answered from there, never from a file as it is today.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from aircoding.audit.texts import node_text, segment_texts
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest
from aircoding.records.manifest import AssembledContext, SegmentRecord
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot

__all__ = ["Referent", "artifacts_named", "referents", "segment_referent"]

_ARTIFACT = re.compile(r"air:artifact/([0-9a-f]{64})")
_DIGEST = re.compile(r"[0-9a-f]{6,64}")
_SHORT = "~short"


@dataclass(frozen=True, slots=True, kw_only=True)
class Referent:
    """What a reference stands for. `digest` is of the raw source, `text_digest` of the text as it was taken (masked).

    `text` is None where it is no longer kept. `short` says that only the short form of the text was taken.
    """

    uri: str
    segment_id: str | None
    digest: Digest
    text_digest: Digest
    start_line: int | None
    end_line: int | None
    text: str | None
    short: bool = False


def referents(snapshot: Snapshot, reference: str, context: AssembledContext | None = None) -> tuple[Referent, ...]:
    """Return what `reference` stands for in an assembly, each text once, in source order; empty: nothing.

    It is a segment's id or the start of one, what an omission note calls it (`PATH#SECTION`, `PATH:1-20`), a uri, a
    path or the end of one, the start of a digest (of a source or a text), or the uri of a recorded message or block.
    The first of these that fits anything counts. With the assembly's `context` what the stages themselves wrote into
    it (notes, notices, tools) is found too.
    """
    reference = reference.strip()
    for test in _TESTS:
        found = [one for one in snapshot.segments if test(one, reference)] if reference else []
        if found:
            found.sort(key=lambda one: (one.source.uri, one.source.start_line or 0, one.segment_id))
            return _unique(segment_referent(one, one.text) for one in found)
    said = tuple(_messages(snapshot, reference))
    return said or (tuple(_written(context, reference)) if context is not None and reference else ())


def segment_referent(segment: Segment | SegmentRecord, text: str | None) -> Referent:
    """Return a segment with its text (None: it is not kept) as what a reference stands for."""
    source = segment.source
    return Referent(
        uri=source.uri,
        segment_id=segment.segment_id,
        digest=source.digest,
        text_digest=source.text_digest,
        start_line=source.start_line,
        end_line=source.end_line,
        text=text,
        short=segment.segment_id.rpartition("@")[0].endswith(_SHORT),
    )


def artifacts_named(snapshot: Snapshot, start: str) -> tuple[Digest, ...]:
    """Return the digests of large outputs that a session was told of and that begin with `start`."""
    told = (one.text for one in snapshot.segments)
    said = (node_text(block) for message in snapshot.messages for block in message.content)
    named = {digest for texts in (told, said) for text in texts for digest in _ARTIFACT.findall(text)}
    return tuple(Digest(one) for one in sorted(named) if one.startswith(start))


def _by_id(one: Segment | SegmentRecord, reference: str) -> bool:
    return one.segment_id == reference


def _by_start_of_id(one: Segment | SegmentRecord, reference: str) -> bool:
    return one.segment_id.startswith(reference) and re.match(r"L\d:", reference) is not None


def _by_part(one: Segment | SegmentRecord, reference: str) -> bool:
    name = one.segment_id.partition(":")[2].rpartition("@")[0].removesuffix(_SHORT)
    return reference in {name, name.partition(":")[2]}


def _by_source(one: Segment | SegmentRecord, reference: str) -> bool:
    return reference in {one.source.uri, one.source.uri.partition(":")[2]}


def _by_end_of_path(one: Segment | SegmentRecord, reference: str) -> bool:
    return one.source.uri.endswith(f"/{reference}")


def _by_digest(one: Segment | SegmentRecord, reference: str) -> bool:
    digests = (one.source.digest, one.source.text_digest)
    return _DIGEST.fullmatch(reference) is not None and any(digest.startswith(reference) for digest in digests)


_TESTS: tuple[Callable[[Segment | SegmentRecord, str], bool], ...] = (
    _by_id,
    _by_start_of_id,
    _by_part,
    _by_source,
    _by_end_of_path,
    _by_digest,
)


def _unique(found: Iterable[Referent]) -> tuple[Referent, ...]:
    kept = {(one.uri, one.text_digest, one.start_line): one for one in found}
    return tuple(kept.values())


def _written(context: AssembledContext, reference: str) -> Iterator[Referent]:
    for test in _TESTS:
        found = [one for one in context.manifest.segments if test(one, reference)]
        if found:
            texts = segment_texts(context)
            yield from _unique(segment_referent(one, texts[one.segment_id]) for one in found)
            return


def _messages(snapshot: Snapshot, reference: str) -> Iterator[Referent]:
    """Yield the blocks of a recorded message, or the one that is named."""
    for message in snapshot.messages:
        for number, block in enumerate(message.content):
            uri = f"{message.uri}/block/{number}"
            if reference in {message.uri, uri}:
                text = str(block["text"]) if block.get("type") == "text" else node_text(block)
                digest = sha256_text(text)
                yield Referent(
                    uri=uri,
                    segment_id=None,
                    digest=digest,
                    text_digest=digest,
                    start_line=None,
                    end_line=None,
                    text=text,
                )
