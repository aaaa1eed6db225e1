"""One rule file's text as candidates: our own files with their header, files of other tools as they stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.ids import Digest
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.segments import Barred, Finding, Segment
from aircoding.rules.rule_file import Rule, parse_rule_file
from aircoding.rules.sections import split_sections
from aircoding.sources.excerpts import reference_line
from aircoding.sources.files import TextRead
from aircoding.sources.segments import Intake, barred

__all__ = ["MAX_RULE_BYTES", "RuleOrigin", "RuleText", "blank_rule", "foreign_rules", "native_rules"]

MAX_RULE_BYTES = 262_144
"""What of one rule file is taken (256 KiB, five times the largest of three public projects); the rest is listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOrigin:
    """Where a rule file stands. `folder` is what it speaks for (empty: everything), `paths` the globs of that."""

    uri: str
    trust: Trust
    level: int
    native: bool = True
    scope: Scope = Scope.RUN
    paths: tuple[str, ...] = ()
    folder: str = ""

    @property
    def title(self) -> str:
        """The label above the text; made of paths alone, since words of the file are screened with its text."""
        scheme, path = self.uri.split(":", 1)
        shown = {"resource": f"Default {path.rsplit('/', 1)[-1]}", "user": f"~/.air/{path}"}.get(scheme, path)
        return shown + (f" (for {self.folder}/)" if self.folder else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText:
    """The candidates of one file, and what is wrong with it."""

    segments: tuple[Segment, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a file that becomes one candidate; lines count in the file. A required one has no cap."""

    name: str
    text: str
    start_line: int
    end_line: int
    required: bool = False


def native_rules(origin: RuleOrigin, read: TextRead, intake: Intake) -> RuleText:
    """Return the rules of one of our own files; a rule with a fault in its header is quarantined."""
    file = parse_rule_file(read.text, origin.uri, origin.level)
    parts = [_Part(_slug(rule), rule.text, rule.start_line, rule.end_line, rule.required) for rule in file.rules]
    text = _candidates(origin, read, intake, parts)
    diagnostics = (*file.diagnostics, *text.diagnostics)
    if not file.rules:
        return RuleText(segments=text.segments, diagnostics=diagnostics)
    pairs = zip(text.segments, file.rules, strict=True)
    return RuleText(
        segments=tuple(_as_asked(origin, segment, rule) for segment, rule in pairs), diagnostics=diagnostics
    )


def _slug(rule: Rule) -> str:
    return rule.identity.rsplit("#", 1)[-1]


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


def foreign_rules(origin: RuleOrigin, read: TextRead, intake: Intake, *, why_not: Barred | None = None) -> RuleText:
    """Return the text of another tool's rule file, section by section, so that a hit takes out one section only.

    With `why_not` the file cannot be used and is one candidate, its text kept for whoever asks what it would change.
    """
    lines = read.text.rstrip("\n").count("\n") + 1
    if why_not is None:
        parts = [_Part(one.slug, one.text, one.start_line, one.end_line) for one in split_sections(read.text)]
    else:
        parts = [_Part("", read.text, 1, lines)] if read.text.strip() else []
    text = _candidates(origin, read, intake, parts)
    segments = (replace(one, native=False, paths=origin.paths) for one in text.segments)
    if why_not is not None:
        return RuleText(segments=tuple(barred(one, why_not) for one in segments), diagnostics=text.diagnostics)
    return RuleText(segments=tuple(segments), diagnostics=text.diagnostics)


def _candidates(origin: RuleOrigin, read: TextRead, intake: Intake, parts: list[_Part]) -> RuleText:
    """Make the candidates of a file up to its cap; each part beyond it is listed with its lines.

    What is required comes whole at any size: where it does not fit the window, nothing is sent.
    """
    if not parts:
        why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.INVALID, detail="the file holds no text")
        return RuleText(segments=(barred(blank_rule(origin, intake, read), why),))
    diagnostics: list[Diagnostic] = []
    if read.lossy:
        message = "the file is no UTF-8; bytes that cannot be read were replaced"
        diagnostics.append(_warning(origin, "encoding", message, "save it as UTF-8"))
    segments: list[Segment] = []
    used_bytes = 0
    for part in parts:
        size_bytes = len(part.text.encode("utf-8"))
        if part.required or used_bytes + size_bytes <= MAX_RULE_BYTES:
            used_bytes += size_bytes
            segments.append(_candidate(origin, read, intake, part))
            continue
        message = (
            f"lines {part.start_line}-{part.end_line} ({size_bytes} bytes) lie beyond the {MAX_RULE_BYTES} bytes "
            "that are read of one rule file"
        )
        diagnostics.append(_warning(origin, "too_long", message, "split the file"))
        why = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.BUDGET, detail=message)
        segments.append(barred(_candidate(origin, read, intake, replace(part, text="")), why))
    return RuleText(segments=tuple(segments), diagnostics=tuple(diagnostics))


def _candidate(origin: RuleOrigin, read: TextRead, intake: Intake, part: _Part) -> Segment:
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
    return replace(segment, level=origin.level, findings=segment.findings + lossy, reference=reference)


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


def _warning(origin: RuleOrigin, code: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(severity="warning", code=f"rule_file.{code}", message=message, uri=origin.uri, hint=hint)


def _reference(origin: RuleOrigin, part: _Part) -> str | None:
    """Only what lies in the project can be read by a worker."""
    scheme, path = origin.uri.split(":", 1)
    return reference_line(path, start_line=part.start_line, end_line=part.end_line) if scheme == "project" else None
