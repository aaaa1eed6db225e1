"""The page that shows one assembly, as one file that stands alone: nothing is fetched, nothing leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aircoding.audit.inspection import Inspection
from aircoding.pages.drawing import environment, inline_asset, inline_source
from aircoding.records.layers import Reason
from aircoding.records.manifest import CacheMark, SegmentRecord
from aircoding.records.printable import visible_line
from aircoding.records.source_names import lines_of
from aircoding.records.words import counted

__all__ = ["inspector_page"]


def inspector_page(found: Inspection) -> str:
    """Return the whole page. Its policy lets in the style and the script that stand in it, and no request."""
    facts = segment_facts(found)
    style, script = inline_asset("inspector.css"), inline_asset("inspector.js")
    policy = (
        f"default-src 'none'; script-src {inline_source(script)}; style-src {inline_source(style)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        environment()
        .get_template("inspector.html.jinja")
        .render(
            found=found,
            manifest=found.manifest,
            style=style,
            script=script,
            policy=policy,
            sentences=_sentences(found),
            why_out=why_out,
            place=place,
            provenance=[provenance(values) for values in facts],
            prompt=prompt_data(found, facts),
            mark_words=mark_words,
            share=_share,
        )
    )


def place(record: SegmentRecord) -> str:
    """Return where a segment comes from: `PATH:FIRST-LAST`, where it has lines."""
    source = record.source
    return lines_of(source.uri, source.start_line, source.end_line)


def provenance(values: Sequence[str]) -> str:
    """Return what is known of a segment beside its heading, one `name: value` a line."""
    known = zip(FACTS, values, strict=True)
    return "\n".join(f"{name}: {value}" for name, value in known if value and name not in _IN_HEADING)


FACTS = (
    "source", "rule", "kind", "layer", "scope", "trust", "form", "shortened", "conflict", "tokens", "selected by",
    "revision", "digest of the source", "digest of the text", "segment",
)  # fmt: skip
"""What is known of a segment, in the order in which it is shown."""
_IN_HEADING = frozenset({"source", "kind", "layer", "digest of the text", "segment"})
"""What its heading says already, or what only a program asks for."""


def segment_facts(found: Inspection) -> tuple[Sequence[str], ...]:
    """Return what is known of each segment, in the order of FACTS; empty where there is nothing to say."""
    shortened = {row.segment: row.note.detail or why_out(row.note.reason) for row in found.omissions if row.segment}
    against: dict[int, list[str]] = {}
    for row in found.conflicts:
        for _, number in row.parties:
            if number is not None:
                against.setdefault(number, []).append(f"{row.subject}: {row.holds}")
    return tuple(
        _facts(record, shortened.get(number, ""), "; ".join(against.get(number, ())))
        for number, record in enumerate(found.segments, 1)
    )


def _facts(record: SegmentRecord, shortened: str, conflict: str) -> Sequence[str]:
    source = record.source
    return (
        visible_line(place(record)),
        visible_line(record.rule_id or ""),
        record.kind.value,
        f"{record.layer.value} {record.layer.heading}",
        record.scope.value,
        record.trust.value,
        record.form.value + (", required" if record.required else ""),
        visible_line(shortened),
        visible_line(conflict),
        f"{record.tokens:,}",
        visible_line(record.selected_by),
        visible_line(source.revision or ""),
        source.digest,
        source.text_digest if source.text_digest != source.digest else "",
        visible_line(record.segment_id),
    )


def prompt_data(found: Inspection, facts: Sequence[Sequence[str]]) -> Any:
    """Return the prompt as the page's script draws it: the facts of each segment, and the blocks with their pieces.

    A piece is `[segment number or 0, first line, continues, source lines, text]`; source lines are the first one's
    number where they count up, else one number a line (0: not certain).
    """
    numbers = {mark.mark: number for number, mark in enumerate(found.marks, 1)}
    return {
        "facts": FACTS,
        "segments": facts,
        "blocks": [
            {
                "title": visible_line(block.title),
                "pointer": visible_line(block.pointer),
                "mark": [numbers[block.mark.mark], mark_words(block.mark)] if block.mark else None,
                "pieces": [
                    [one.number or 0, one.line, int(one.continues), _source_lines(one.source_lines), one.text]
                    for one in block.pieces
                ],
            }
            for block in found.blocks
        ],
    }


def _source_lines(lines: Sequence[int | None]) -> Any:
    first = lines[0] if lines else None
    if first is not None and tuple(lines) == tuple(range(first, first + len(lines))):
        return first
    return [line or 0 for line in lines] if any(lines) else 0


def mark_words(mark: CacheMark) -> str:
    """Return what a cache mark stands for, to be read after its number."""
    words = f"{mark.prefix_tokens:,} tokens up to here"
    words += f", predicted {mark.predicted}" if mark.predicted else ""
    return words + (f", measured {mark.measured}" if mark.measured else "")


def why_out(reason: Reason | None) -> str:
    """Return a reason in words that follow `was left out` or `was shortened`."""
    return _WORDS[reason] if reason is not None else "no reason is on record"


_WORDS = {
    Reason.NOT_IN_PROFILE: "the role does not take in texts of this kind",
    Reason.MODE: "this mode composes less",
    Reason.PATH_NOT_MATCHED: "a rule for other paths than the task's",
    Reason.TAG_NOT_MATCHED: "a rule for tasks with other tags",
    Reason.TRIGGER_NOT_MATCHED: "none of its triggers is in the task",
    Reason.TOPIC_NOT_MATCHED: "about another topic than the request",
    Reason.BUDGET: "there was no room for it",
    Reason.OVERRIDDEN: "a later text of the same name holds",
    Reason.DUPLICATE: "the same text is in from elsewhere",
    Reason.QUARANTINED: "the screener blocked it",
    Reason.UNREADABLE: "it could not be read",
    Reason.INVALID: "its file has a fault",
    Reason.DISABLED: "the settings switch it off",
    Reason.STALE: "its source has changed since",
    Reason.PERMISSION: "a permission is missing",
}


def _sentences(found: Inspection) -> Sequence[tuple[str, str]]:
    """Return the summary: what is in, what was left out, what contradicts."""
    budget = found.manifest.budget
    inside = (
        f"{counted(len(found.segments), 'piece')} of text from {counted(found.sources, 'source')}:"
        f" about {found.expected_tokens:,} tokens, {_share(found.expected_tokens, budget.window)} of the window of"
        f" {budget.window:,}."
    )
    out = "Nothing: all that was considered is in."
    if found.omissions:
        listed = "; ".join(f"{count} because {why_out(reason)}" for reason, count in found.reasons)
        out = f"{counted(len(found.omissions), 'text')} considered, and left out or shortened: {listed}."
    against = "Nothing was found that contradicts."
    if found.conflicts:
        still_open = sum(1 for one in found.conflicts if one.state == "open")
        tail = f"{still_open} of them open" if still_open else "all of them settled"
        against = f"{counted(len(found.conflicts), 'conflict')}, {tail}."
    return (("What is in", inside), ("What was left out", out), ("What contradicts", against))


def _share(part: int, whole: int) -> str:
    """Return a share as a percentage that tells small ones from none."""
    percent = 100 * part / whole if whole else 0.0
    return f"{percent:.1f} %" if percent >= 0.1 or not part else "under 0.1 %"
