"""One rule file's text as candidates: what all have in common, and our own files with their header."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.ids import Digest
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind
from aircoding.records.segments import Barred, Finding, Segment
from aircoding.rules.rule_budget import MAX_RULE_BYTES
from aircoding.rules.rule_file import Rule, parse_rule_file
from aircoding.sources.excerpts import reference_line
from aircoding.sources.files import TextRead
from aircoding.sources.rule_origin import RuleOrigin
from aircoding.sources.segments import Intake, barred

__all__ = ["MAX_RULE_BYTES", "RulePart", "RuleText", "barred_part", "blank_rule", "candidate", "empty_file"]
__all__ += ["encoding_remark", "file_warning", "native_rules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText:
    """The candidates of one file, and what is wrong with it."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePart:
    """A stretch of a file that becomes one candidate; lines count in the file. A required one has no cap.

    `commented` is the stretch with its comments, where it has some: they are screened, and not shown.
    """

    name: str
    text: str
    start_line: int
    end_line: int
    required: bool = False
    commented: str | None = None


def native_rules(origin: RuleOrigin, read: TextRead, intake: Intake) -> RuleText:
    """Return the rules of one of our own files; a rule with a fault in its header is quarantined."""
    file = parse_rule_file(read.text, origin.uri, origin.level)
    parts = [
        RulePart(
            name=rule.identity.rsplit("#", 1)[-1],
            text=rule.text,
            start_line=rule.start_line,
            end_line=rule.end_line,
            required=rule.required,
        )
        for rule in file.rules
    ]
    text = _candidates(origin, read, intake, parts)
    diagnostics = (*file.diagnostics, *text.diagnostics)
    if not file.rules:
        return RuleText(segments=text.segments, diagnostics=diagnostics)
    pairs = zip(text.segments, file.rules, strict=True)
    return RuleText(
        segments=tuple(_as_asked(origin, segment, rule) for segment, rule in pairs), diagnostics=diagnostics
    )


def _as_asked(origin: RuleOrigin, segment: Segment, rule: Rule) -> Segment:
    """Set what the header asks for."""
    scoped = bool(rule.paths or rule.tags)
    asked = replace(
        segment,
        scope=Scope.SESSION if scoped else origin.scope,
        rule_id=rule.rule_id or rule.identity,
        identity=rule.identity,
        rule_kind=rule.kind,
        required=rule.required and segment.barred is None and rule.fault is None,
        paths=rule.paths,
        paths_line=rule.paths_line,
        tags=rule.tags,
        tags_line=rule.tags_line,
    )
    if rule.fault is None:
        return asked
    fault = rule.fault
    place = f"{fault.uri}:{fault.line}: " if fault.line is not None else f"{fault.uri}: "
    detail = f"{place}{fault.message}" + (f"; {fault.hint}" if fault.hint else "")
    return barred(asked, Barred(outcome=OutcomeKind.QUARANTINED, reason=Reason.INVALID, detail=detail))


def _candidates(origin: RuleOrigin, read: TextRead, intake: Intake, parts: list[RulePart]) -> RuleText:
    """Make the candidates of a file up to its cap; each part beyond it is listed with its lines.

    What is required comes whole at any size: where it does not fit the window, nothing is sent.
    """
    if not parts:
        return empty_file(origin, read, intake)
    diagnostics = list(encoding_remark(origin, read))
    segments: list[Segment] = []
    used_bytes = 0
    for part in parts:
        size_bytes = len(part.text.encode("utf-8"))
        if part.required or used_bytes + size_bytes <= MAX_RULE_BYTES:
            used_bytes += size_bytes
            segments.append(candidate(origin, read, intake, part))
            continue
        message = (
            f"lines {part.start_line}-{part.end_line} ({size_bytes} bytes) lie beyond the {MAX_RULE_BYTES} bytes "
            "that are read of one rule file"
        )
        diagnostics.append(file_warning(origin, "too_long", message, "split the file"))
        why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.BUDGET, detail=message)
        segments.append(barred_part(origin, read, intake, part, why))
    return RuleText(segments=tuple(segments), diagnostics=tuple(diagnostics))


def empty_file(origin: RuleOrigin, read: TextRead, intake: Intake) -> RuleText:
    """Return a file that holds no text: it is listed, and costs nothing (E30)."""
    why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.INVALID, detail="the file holds no text")
    return RuleText(segments=(barred(blank_rule(origin, intake, read), why),))


def barred_part(origin: RuleOrigin, read: TextRead, intake: Intake, part: RulePart, why: Barred) -> Segment:
    """Return a stretch of a file that is not taken, without its text."""
    return barred(candidate(origin, read, intake, replace(part, text="")), why)


def candidate(origin: RuleOrigin, read: TextRead, intake: Intake, part: RulePart) -> Segment:
    """Return a stretch of a file as a segment of L3."""
    segment = intake.segment(
        part.text,
        layer=Layer.L3,
        scope=origin.scope,
        kind=SegmentKind.RULE,
        trust=origin.trust,
        uri=origin.uri,
        digest=_raw_digest(read),
        title=origin.title,
        fragment=part.name,
        start_line=part.start_line,
        end_line=part.end_line,
    )
    lossy = (_LOSSY,) if read.lossy else ()
    reference = _reference(origin, part) if segment.excerpt is not None else None
    findings = segment.findings + lossy
    return replace(segment, level=origin.level, sequence=origin.sequence, findings=findings, reference=reference)


def blank_rule(origin: RuleOrigin, intake: Intake, read: TextRead | None = None) -> Segment:
    """Return a candidate without text, for a file that is accounted for and cannot be used."""
    segment = intake.segment(
        "",
        layer=Layer.L3,
        scope=origin.scope,
        kind=SegmentKind.RULE,
        trust=origin.trust,
        uri=origin.uri,
        digest=_raw_digest(read) if read is not None else None,
        title=origin.title,
    )
    return replace(segment, level=origin.level, native=origin.native, paths=origin.paths)


def _raw_digest(read: TextRead) -> Digest | None:
    """A packaged text is its own source: it has no other bytes."""
    return read.digest if read.identity is not None else None


_LOSSY = Finding(
    kind="encoding",
    code="encoding.lossy",
    start=0,
    end=0,
    start_line=1,
    end_line=1,
    blocks=False,
    detail="bytes that are no UTF-8 were replaced",
)


def encoding_remark(origin: RuleOrigin, read: TextRead) -> tuple[Diagnostic, ...]:
    """Say that a file is no UTF-8, where it is none (E34)."""
    if not read.lossy:
        return ()
    message = "the file is no UTF-8; bytes that cannot be read were replaced"
    return (file_warning(origin, "encoding", message, "save it as UTF-8"),)


def file_warning(origin: RuleOrigin, code: str, message: str, hint: str) -> Diagnostic:
    """Return a warning about a whole file."""
    return Diagnostic(severity="warning", code=f"rule_file.{code}", message=message, uri=origin.uri, hint=hint)


def _reference(origin: RuleOrigin, part: RulePart) -> str | None:
    """Only what lies in the project can be read by a worker."""
    if not origin.uri.startswith("project:"):
        return None
    path = origin.uri.removeprefix("project:")
    return reference_line(path, start_line=part.start_line, end_line=part.end_line)
