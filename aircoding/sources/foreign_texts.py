"""The text of another tool's rule file as candidates: by sections, without comments, cut where it is too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aircoding.records.layers import Layer, OutcomeKind, Reason, SegmentKind
from aircoding.records.printable import shown_path
from aircoding.records.segments import Barred, Segment
from aircoding.rules.comments import Uncommented, without_block_comments
from aircoding.rules.foreign_header import ForeignHeader, RuleMode
from aircoding.rules.rule_budget import MAX_RULE_BYTES
from aircoding.rules.rule_use import UsedFile
from aircoding.rules.sections import split_sections
from aircoding.sources.excerpts import head_end, tail_start
from aircoding.sources.files import TextRead
from aircoding.sources.rule_origin import RuleOrigin
from aircoding.sources.rule_texts import (
    RulePart,
    RuleText,
    barred_part,
    blank_rule,
    candidate,
    empty_file,
    encoding_remark,
    file_warning,
)
from aircoding.sources.segments import Intake, barred

__all__ = ["foreign_rules", "left_out", "pointer", "without_pointers"]

_HEAD, _TAIL = 70, 20
"""Hundredths of what is taken of a file that is too long: from its beginning and its end (Hermes, read 2026-08)."""
_POINTER = "~pointer"
_POINTERS_TITLE = "Rules to read when they apply"
_MAX_DESCRIPTION = 500


def foreign_rules(origin: RuleOrigin, read: TextRead, intake: Intake, used: UsedFile) -> RuleText:
    """Return the text of a file section by section, so that a hit takes out one section only."""
    parts = _parts(used)
    if not parts:
        return _without_text(origin, read, intake, used)
    most_bytes = used.most_bytes if used.most_bytes is not None else MAX_RULE_BYTES
    cut = _cut(parts, most_bytes, shown_path(origin.uri))
    segments = [_screened(origin, read, intake, part) for part in cut.parts]
    remarks = encoding_remark(origin, read)
    if cut.gap is not None:
        why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.BUDGET, detail=cut.detail)
        segments.append(barred_part(origin, read, intake, cut.gap, why))
        hint = "shorten the file, or raise `[rules] max_bytes`"
        remarks = (*remarks, file_warning(origin, "too_long", cut.detail, hint))
    line = used.header.patterns_line if used.header.patterns else None
    return RuleText(
        segments=tuple(
            replace(one, native=False, paths=origin.paths, paths_line=line, importers=origin.importers)
            for one in segments
        ),
        diagnostics=remarks,
    )


def _parts(used: UsedFile) -> list[RulePart]:
    header = used.header
    body = without_block_comments(header.body) if used.uncommented else Uncommented(header.body, frozenset())
    lines, offset = header.body.split("\n"), header.body_start_line - 1
    sections = split_sections(body.text)
    if not sections:
        return []
    starts = [1, *(one.start_line for one in sections[1:])]
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    return [
        RulePart(
            name=one.slug,
            text=body.lines(one.start_line, one.end_line),
            start_line=one.start_line + offset,
            end_line=one.end_line + offset,
            commented="\n".join(lines[start - 1 : end]) if _any_within(body.emptied, start, end) else None,
        )
        for one, start, end in zip(sections, starts, ends, strict=True)
    ]


def _any_within(emptied: frozenset[int], start: int, end: int) -> bool:
    return any(start <= line <= end for line in emptied)


def _without_text(origin: RuleOrigin, read: TextRead, intake: Intake, used: UsedFile) -> RuleText:
    """A file of comments only: nothing to show, unless what it hides must be reported."""
    if used.header.body.strip():
        part = RulePart(name="_", text="", start_line=1, end_line=read.text.count("\n") + 1, commented=read.text)
        hidden = _screened(origin, read, intake, part)
        if hidden.text:
            return RuleText(segments=(replace(hidden, native=False, paths=origin.paths),))
    return empty_file(origin, read, intake)


def _screened(origin: RuleOrigin, read: TextRead, intake: Intake, part: RulePart) -> Segment:
    """Screen a section with its comments before they are left out: hidden text is a place for attacks (E29).

    A hit leaves the section as it was written, so that all of it is quarantined; a mere warning stays with the text.
    """
    shown = candidate(origin, read, intake, part)
    if part.commented is None:
        return shown
    written = candidate(origin, read, intake, replace(part, text=part.commented))
    if any(hit.blocks for hit in written.findings):
        return written
    known = {hit.code for hit in shown.findings}
    hidden = (
        replace(hit, start=0, end=0, detail=f"in a comment: {hit.detail}")
        for hit in written.findings
        if hit.code not in known
    )
    return replace(shown, findings=(*shown.findings, *hidden))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """What of a file is shown; `gap` is the stretch that is not, `detail` what is said of it."""

    parts: tuple[RulePart, ...]
    gap: RulePart | None = None
    detail: str = ""


def _cut(parts: Sequence[RulePart], most_bytes: int, path: str) -> _Cut:
    """Cut a file to head and tail at line ends, with a marker that says what is shown of it (E32)."""
    data = "\n".join(part.text for part in parts).encode("utf-8", "surrogatepass")
    if len(data) <= most_bytes:
        return _Cut(parts=tuple(parts))
    head = head_end(data, most_bytes * _HEAD // 100)
    tail_bytes = most_bytes * _TAIL // 100
    tail = max(head, tail_start(data, len(data) - tail_bytes)) if tail_bytes else len(data)
    heads: list[RulePart] = []
    tails: list[RulePart] = []
    place = 0
    for part in parts:
        end = place + len(part.text.encode("utf-8", "surrogatepass"))
        if place < head:
            text = _decoded(data[place : min(end, head)])
            whole = end <= head
            last = part.end_line if whole else part.start_line + text.rstrip("\n").count("\n")
            heads.append(replace(part, text=text.rstrip("\n"), end_line=last))
        if end > tail and tail < len(data):
            skipped = _decoded(data[place : max(place, tail)]).count("\n")
            name = part.name if place >= tail else f"{part.name}~end"
            text = _decoded(data[max(place, tail) : end])
            tails.append(replace(part, name=name, text=text, start_line=part.start_line + skipped))
        place = end + 1
    first = heads[-1].end_line + 1 if heads else parts[0].start_line
    last = max(first, tails[0].start_line - 1 if tails else parts[-1].end_line)
    kept = head + len(data) - tail
    detail = f"{kept} of {len(data)} bytes of {path} are shown; lines {first}-{last} are left out"
    marker = f"[… {detail} …]"
    if heads:
        heads[-1] = replace(heads[-1], text=f"{heads[-1].text}\n{marker}")
    elif tails:
        tails[0] = replace(tails[0], text=f"{marker}\n{tails[0].text}")
    gap = RulePart(name="", text="", start_line=first, end_line=last)
    return _Cut(parts=(*heads, *tails), gap=gap, detail=detail)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def pointer(origin: RuleOrigin, read: TextRead, intake: Intake, header: ForeignHeader) -> RuleText:
    """Return one line that names a file which the agent is to read when its description fits, or when it is named."""
    described = " ".join(header.description.split())[:_MAX_DESCRIPTION]
    when = described if header.mode is RuleMode.DESCRIBED else "when somebody names it"
    segment = intake.segment(
        f"- {shown_path(origin.uri)}: {when}",
        layer=Layer.L3,
        scope=origin.scope,
        kind=SegmentKind.GUIDANCE,
        trust=origin.trust,
        uri=origin.uri,
        digest=read.digest,
        title=_POINTERS_TITLE,
        fragment=_POINTER,
        shortened=False,
    )
    placed = replace(segment, level=origin.level, native=False, paths=origin.paths)
    return RuleText(segments=(placed,), diagnostics=encoding_remark(origin, read))


def without_pointers(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the candidates for a role that has no tool to read a file with."""
    why = Barred(
        outcome=OutcomeKind.OMITTED,
        reason=Reason.NOT_IN_PROFILE,
        detail="it is read when it applies, and the role has no tool to read files with",
    )
    return tuple(barred(one, why) if _is_pointer(one) else one for one in segments)


def _is_pointer(segment: Segment) -> bool:
    return segment.barred is None and segment.segment_id.rsplit("@", 1)[0].endswith(f"#{_POINTER}")


def left_out(origin: RuleOrigin, read: TextRead, intake: Intake, why: Barred) -> RuleText:
    """Return a file that is not used as one candidate, its text kept for whoever asks what it would change."""
    if read.problem is None and read.text.strip() and len(read.text.encode("utf-8")) <= MAX_RULE_BYTES:
        lines = read.text.rstrip("\n").count("\n") + 1
        whole = candidate(origin, read, intake, RulePart(name="", text=read.text, start_line=1, end_line=lines))
    else:
        whole = blank_rule(origin, intake, read)
    placed = replace(whole, native=origin.native, paths=origin.paths)
    return RuleText(segments=(barred(placed, why),), diagnostics=encoding_remark(origin, read))
