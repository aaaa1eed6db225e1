"""What the project has decided and plans: `.air/shared/plan/{AGENTS.md,plan.md,todo.md}`, `adr/*.md`, `c4/*` as L4."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aircoding.records.diagnostics import Diagnostic
from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind, Trust
from aircoding.records.profiles import LayerSelection
from aircoding.records.segments import Barred, Segment
from aircoding.records.tasks import Adr, TaskSpec
from aircoding.rules.sections import split_sections
from aircoding.sources.adr_files import AdrFile, parse_adr, with_successors
from aircoding.sources.excerpts import reference_line
from aircoding.sources.files import TextRead, list_folder, printable, read_text_file
from aircoding.sources.segments import Intake, barred, in_short, unique

__all__ = ["PLAN_FOLDER", "PlanDocs", "read_plan_docs", "run_plan", "task_plan"]

PLAN_FOLDER = ".air/shared/plan"
_CONSTRAINTS, _PLAN, _TODO = (f"{PLAN_FOLDER}/{name}" for name in ("AGENTS.md", "plan.md", "todo.md"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doc:
    """A document in three sizes: section by section, cut to one excerpt, and the line that names it."""

    path: str
    whole: tuple[Segment, ...]
    short: tuple[Segment, ...]
    brief: Segment
    adr: Adr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocs:
    """All plan documents, in order of their path. `adrs` are those that can be read, of any status."""

    docs: tuple[_Doc, ...]
    adrs: tuple[Adr, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_plan_docs(root: Path, *, intake: Intake, trusted: bool) -> PlanDocs:
    """Read the plan documents of the project at `root`; files that are not there leave nothing."""
    trust = Trust.PROJECT if trusted else Trust.EXTERNAL
    docs: list[_Doc] = []
    for path in (_CONSTRAINTS, _PLAN, _TODO, *_files(root, "c4")):
        read = read_text_file(root, path)
        if not read.absent:
            docs.append(_document(path, read, intake, trust))
    files: list[tuple[AdrFile, TextRead]] = []
    for path in _files(root, "adr", ".md"):
        read = read_text_file(root, path)
        if read.problem is None:
            files.append((parse_adr(read.text, f"project:{printable(path)}"), read))
        elif not read.absent:
            docs.append(_document(path, read, intake, trust))
    reads = {file.adr.uri: read for file, read in files}
    current = with_successors(file for file, _ in files)
    docs.extend(_decision(file, reads[file.adr.uri], intake, trust) for file in current)
    return PlanDocs(
        docs=tuple(sorted(docs, key=lambda doc: doc.path)),
        adrs=tuple(file.adr for file in current if file.fault is None),
        diagnostics=tuple(file.fault for file in current if file.fault is not None),
    )


def _files(root: Path, folder: str, suffix: str = "") -> list[str]:
    """Return the files directly in a folder of the plan, sorted, hidden ones left out."""
    base = f"{PLAN_FOLDER}/{folder}"
    names, _ = list_folder(root / base)
    return [f"{base}/{name}" for name in names if name.endswith(suffix) and not name.startswith(".")]


def _document(path: str, read: TextRead, intake: Intake, trust: Trust) -> _Doc:
    uri = f"project:{printable(path)}"
    brief = _brief(uri, reference_line(printable(path)), SegmentKind.PLAN, intake, trust, read)
    if read.problem is not None or not read.text.strip():
        detail = read.problem or "the file holds no text"
        reason = Reason.UNREADABLE if read.problem else Reason.INVALID
        why = Barred(outcome=OutcomeKind.OMITTED, reason=reason, detail=f"{uri}: {detail}")
        refused = barred(brief, why)
        return _Doc(path=path, whole=(refused,), short=(refused,), brief=refused)

    def part(text: str, fragment: str, start_line: int, end_line: int) -> Segment:
        segment = intake.segment(
            text,
            layer=Layer.L4,
            scope=Scope.RUN,
            kind=SegmentKind.PLAN,
            trust=trust,
            uri=uri,
            digest=read.digest,
            title=printable(path),
            fragment=fragment,
            start_line=start_line,
            end_line=end_line,
        )
        reference = reference_line(printable(path), start_line=start_line, end_line=end_line)
        return replace(segment, reference=reference)

    text = read.text.rstrip("\n")
    sections = split_sections(text)
    whole = tuple(part(one.text, one.slug, one.start_line, one.end_line) for one in sections)
    together = part(text, "all", 1, text.count("\n") + 1)
    short = whole if together.excerpt is None else (in_short(together),)
    return _Doc(path=path, whole=whole, short=short, brief=brief)


def _brief(uri: str, text: str, kind: SegmentKind, intake: Intake, trust: Trust, read: TextRead) -> Segment:
    return intake.segment(
        text,
        layer=Layer.L4,
        scope=Scope.RUN,
        kind=kind,
        trust=trust,
        uri=uri,
        digest=read.digest,
        fragment="reference",
        shortened=False,
    )


def _decision(file: AdrFile, read: TextRead, intake: Intake, trust: Trust) -> _Doc:
    adr, path = file.adr, file.adr.uri.removeprefix("project:")
    declared = ", ".join(f"`{glob}`" for glob in adr.interfaces)
    governs = f" Interfaces: {declared}." if declared else ""
    line = f"ADR {adr.id}: {adr.title}.{governs} {reference_line(path)}"
    brief = _brief(adr.uri, line, SegmentKind.ADR, intake, trust, read)
    body = file.body.strip("\n")
    first = file.body_start_line + len(file.body) - len(file.body.lstrip("\n"))
    whole = intake.segment(
        body,
        layer=Layer.L4,
        scope=Scope.RUN,
        kind=SegmentKind.ADR,
        trust=trust,
        uri=adr.uri,
        digest=read.digest,
        title=path,
        fragment="decision",
        start_line=first,
        end_line=first + body.count("\n"),
    )
    whole = replace(whole, reference=brief.text, relevance_terms=(adr.id.lower(),))
    why = _not_in_force(file)
    if why is not None:
        whole, brief = barred(whole, why), barred(brief, why)
    return _Doc(path=path, whole=(whole,), short=(brief,), brief=brief, adr=adr if why is None else None)


def _not_in_force(file: AdrFile) -> Barred | None:
    adr, fault = file.adr, file.fault
    if fault is not None:
        detail = f"{fault.uri}:{fault.line}: {fault.message}; {fault.hint}"
        return Barred(outcome=OutcomeKind.QUARANTINED, reason=Reason.INVALID, detail=detail)
    if adr.status == "accepted":
        return None
    reason = Reason.STALE if adr.status == "superseded" else Reason.DISABLED
    return Barred(outcome=OutcomeKind.OMITTED, reason=reason, detail=f"ADR {adr.id} is {adr.status}, not accepted")


def run_plan(docs: PlanDocs, selection: LayerSelection | None) -> tuple[Segment, ...]:
    """Return what every worker of a role gets of the plan, as much as its profile retrieves.

    full: everything whole. relevant: constraints whole, the plan in short, a line for each decision and for each
    other document. summary: constraints and plans in short, a line for each of the rest.
    """
    detail = selection.detail if selection is not None else "full"
    return unique(segment for doc in docs.docs for segment in _at_detail(doc, detail))


def _at_detail(doc: _Doc, detail: str) -> tuple[Segment, ...]:
    if detail == "full" or (detail == "relevant" and doc.path == _CONSTRAINTS):
        return doc.whole
    if doc.path in (_CONSTRAINTS, _PLAN) or (detail == "summary" and doc.path == _TODO):
        return doc.short
    return (doc.brief,)


def task_plan(
    docs: PlanDocs, task: TaskSpec, selection: LayerSelection | None, *, intake: Intake
) -> tuple[Segment, ...]:
    """Return the decisions that a task names, whole and for its session, where the role has only a line of each.

    A name that no accepted record has is accounted for.
    """
    if selection is not None and selection.detail != "relevant":
        return ()
    wanted = sorted(set(task.adr))
    found = {doc.adr.id: doc for doc in docs.docs if doc.adr is not None}
    named = (replace(segment, scope=Scope.SESSION) for name in wanted if name in found for segment in found[name].whole)
    missing = (_missing(name, task, intake, docs.adrs) for name in wanted if name not in found)
    return unique((*named, *missing))


def _missing(name: str, task: TaskSpec, intake: Intake, adrs: Iterable[Adr]) -> Segment:
    known = ", ".join(sorted(adr.id for adr in adrs if adr.status == "accepted")) or "none"
    segment = intake.segment(
        "",
        layer=Layer.L4,
        scope=Scope.SESSION,
        kind=SegmentKind.ADR,
        trust=Trust.BUILTIN,
        uri=f"air:adr/{name}",
    )
    detail = f"task {task.id} names ADR {name}; accepted are: {known}"
    return barred(segment, Barred(outcome=OutcomeKind.OMITTED, reason=Reason.UNREADABLE, detail=detail))
