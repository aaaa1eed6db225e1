"""Stage 4, detect: contradictions that code can find, with who wins and who must handle them (DESIGN section 4).

Commands and paths are judged as they are written, without a look at the disk. A conflict that was ruled before
keeps its ruling.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aircoding.context.draft import Draft, Item, Note, outcome
from aircoding.permissions.engine import decide
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.digests import sha256_text
from aircoding.records.layers import OutcomeKind, Reason, SegmentKind
from aircoding.records.policy import CommandAct, Decision, Effect, Judgement, Policy
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import Adr, TaskSpec
from aircoding.rules.directives import commands_in
from aircoding.rules.globs import overlap

__all__ = ["architecture_conflicts", "command_conflicts", "detect", "task_command_conflicts"]

_NAMES_COMMANDS = frozenset({SegmentKind.RULE, SegmentKind.PLAN, SegmentKind.ADR, SegmentKind.SKILL})
_CLAIMS = frozenset({SegmentKind.SUMMARY, SegmentKind.FILE, SegmentKind.FINDING, SegmentKind.ARTIFACT})


def detect(draft: Draft) -> tuple[Draft, tuple[Note, ...]]:
    """Note all conflicts, and take out evidence that its file has outlived."""
    snapshot = draft.snapshot
    found: list[Conflict] = []
    for item in draft.items:
        if item.segment.kind in _NAMES_COMMANDS:
            found.extend(command_conflicts(item.segment, snapshot.policy))
    if snapshot.task is not None and snapshot.frozen is None:
        found.extend(task_command_conflicts(snapshot.task, snapshot.policy))
        found.extend(architecture_conflicts(snapshot.task, snapshot.adrs))
        found.extend(_provider_conflicts(snapshot))
    kept, stale, notes = _split_stale(draft)
    found.extend(stale)
    ruled = {conflict.conflict_id: conflict for conflict in snapshot.rulings}
    unique = {conflict.conflict_id: ruled.get(conflict.conflict_id, conflict) for conflict in found}
    return draft.with_items(kept), (*notes, *unique.values())


def command_conflicts(segment: Segment, policy: Policy) -> tuple[Conflict, ...]:
    """Return the conflicts of commands that a text asks for with what the policy denies."""
    start = segment.source.start_line or 1
    return tuple(
        _policy_conflict(
            party=segment.segment_id,
            subject=command.command,
            place=f"{segment.source.uri}:{start + command.line - 1}",
            judgement=denied,
        )
        for command in commands_in(segment.text)
        if not command.forbidden and (denied := _denied(command.command, policy)) is not None
    )


def task_command_conflicts(task: TaskSpec, policy: Policy) -> tuple[Conflict, ...]:
    """Return the conflicts of a task's verify commands with the policy."""
    return tuple(
        _policy_conflict(
            party=f"air:task/{task.id}", subject=command, place=f"task {task.id}, verify", judgement=denied
        )
        for command in task.verify
        if (denied := _denied(command, policy)) is not None
    )


def _denied(command: str, policy: Policy) -> Judgement | None:
    """Return the line that denies a command, or None. An ask that nobody can answer is no contradiction."""
    decision: Decision = decide(CommandAct(command=command), replace(policy, interactive=True, confined=True))
    if decision.effect is not Effect.DENY:
        return None
    return next((part for part in decision.judgements if part.effect is Effect.DENY), None)


def _policy_conflict(*, party: str, subject: str, place: str, judgement: Judgement) -> Conflict:
    line = judgement.uri if judgement.line is None else f"{judgement.uri}:{judgement.line}"
    return Conflict(
        conflict_id=_conflict_id(ConflictKind.POLICY, party, subject),
        kind=ConflictKind.POLICY,
        parties=(party, line),
        subject=subject,
        detail=f"{place} asks for `{subject}`, which {line} denies ({judgement.pattern})",
        ruling="the policy holds",
        winner=line,
        route=Route.MAIN,
        blocking=False,
        ruled_by="policy",
    )


def architecture_conflicts(task: TaskSpec, adrs: Iterable[Adr]) -> tuple[Conflict, ...]:
    """Return the conflicts of a write area with interfaces that accepted decisions declare."""
    return tuple(
        Conflict(
            conflict_id=_conflict_id(ConflictKind.ARCHITECTURE, task.id, adr.id),
            kind=ConflictKind.ARCHITECTURE,
            parties=(f"air:task/{task.id}", adr.uri),
            subject=glob,
            detail=f"task {task.id} may write {area}, which meets {glob}, an interface of ADR {adr.id} ({adr.title})",
            ruling=f"nobody wins: the task waits until it carries `adr: [{adr.id}]` or the area is narrowed",
            winner=None,
            route=Route.ARCHITECTURE_DESIGNER,
            blocking=True,
            state="open",
        )
        for adr in sorted(adrs, key=lambda adr: adr.id)
        if adr.status == "accepted" and adr.id not in task.adr
        for area, glob in _first_meeting(task.write_area, adr.interfaces)
    )


def _first_meeting(areas: Iterable[str], globs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = ((area, glob) for area in areas for glob in globs if overlap(area, glob))
    first = next(pairs, None)
    return () if first is None else (first,)


def _provider_conflicts(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """A request that needs tools cannot go to a model without them."""
    if snapshot.limits.tools or not snapshot.tools:
        return ()
    model, role = snapshot.limits.model, snapshot.request.role
    return (
        Conflict(
            conflict_id=_conflict_id(ConflictKind.PROVIDER, model, "tools"),
            kind=ConflictKind.PROVIDER,
            parties=(f"model:{model}",),
            subject="tools",
            detail=f"the {role} needs {len(snapshot.tools)} tools, and {model} takes none",
            ruling="nobody wins: choose another model for this role",
            winner=None,
            route=Route.PROVIDER_ROUTING,
            blocking=True,
            state="open",
        ),
    )


def _split_stale(draft: Draft) -> tuple[tuple[Item, ...], tuple[Conflict, ...], tuple[Note, ...]]:
    kept: list[Item] = []
    conflicts: list[Conflict] = []
    notes: list[Note] = []
    for item in draft.items:
        claim = _outlived(item.segment, draft.snapshot)
        if claim is None:
            kept.append(item)
            continue
        detail = f"{item.segment.source.uri} was made from a version of {claim} that is no more"
        notes.append(outcome(item.segment, OutcomeKind.OMITTED, Reason.STALE, detail, tokens=item.tokens, by=claim))
        conflicts.append(
            Conflict(
                conflict_id=_conflict_id(ConflictKind.EVIDENCE, item.segment.segment_id, claim),
                kind=ConflictKind.EVIDENCE,
                parties=(item.segment.segment_id, claim),
                subject=claim,
                detail=detail,
                ruling="the file as it is now holds",
                winner=claim,
                route=Route.EXPERIENCE_MINER,
                blocking=False,
                ruled_by="evidence",
            )
        )
    return tuple(kept), tuple(conflicts), tuple(notes)


def _outlived(segment: Segment, snapshot: Snapshot) -> str | None:
    """Return the uri whose file differs from what the segment was made from."""
    if segment.kind not in _CLAIMS:
        return None
    return next(
        (
            claim.uri
            for claim in segment.claims
            if claim.uri in snapshot.digests and snapshot.digests[claim.uri] != claim.digest
        ),
        None,
    )


def _conflict_id(kind: ConflictKind, *parts: str) -> str:
    return f"c-{kind.value}-" + sha256_text("\n".join(parts))[:10]
