"""The planted contradictions and near misses of `tests/context/conflict_cases.yaml`, as snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from aircoding.context.conflicts import detect
from aircoding.context.draft import begin
from aircoding.context.precedence import precede
from aircoding.context.quarantine import screen
from aircoding.context.selection import select
from aircoding.records.conflicts import Conflict
from aircoding.records.digests import sha256_text
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.segments import Claim, Segment
from aircoding.records.snapshot import Snapshot
from aircoding.records.tasks import Adr
from support.contexts import EXECUTOR, LIMITS, READ_TOOL, TASK, message, segment, snapshot
from support.projects import effective_policy

CASES = Path(__file__).parents[1] / "context" / "conflict_cases.yaml"
_LAYERS = {"plan": Layer.L4, "adr": Layer.L4, "file": Layer.L6}


@dataclass(frozen=True)
class Case:
    """One case: its kind, whether a conflict is planted, and the snapshot that holds it."""

    kind: str
    name: str
    planted: bool
    snapshot: Snapshot


def load_cases() -> tuple[Case, ...]:
    """Return all cases in file order."""
    data = yaml.safe_load(CASES.read_text(encoding="utf-8"))
    return tuple(
        Case(kind, case["name"], group == "planted", _snapshot(case))
        for group, kinds in data.items()
        for kind, cases in kinds.items()
        for case in cases
    )


def conflicts_of(given: Snapshot) -> tuple[Conflict, ...]:
    """Return what the stages up to `detect` note on a snapshot."""
    draft = begin(given)
    notes: tuple[Any, ...] = ()
    for stage in (select, screen, precede, detect):
        draft, notes = stage(draft)
    return tuple(note for note in notes if isinstance(note, Conflict))


def _snapshot(case: Mapping[str, Any]) -> Snapshot:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in case.get("task", {}).items()}
    task = replace(TASK, **fields)
    segments = [_rule(rule, number) for number, rule in enumerate(case.get("rules", ()), 1)]
    segments += _said(case)
    if task.description:
        uri = f"air:task/{task.id}"
        segments.append(segment(task.description, layer=Layer.L5, kind=SegmentKind.TASK, trust=Trust.USER, uri=uri))
    more: dict[str, Any] = {}
    if "claims" in case:
        claimed, more["digests"], more["baselines"] = _claims(case["claims"])
        segments.append(claimed)
    blocks = [dict(block) for block in case.get("messages", ())]
    return snapshot(
        *segments,
        task=task,
        policy=effective_policy(EXECUTOR, task),
        limits=replace(LIMITS, **case.get("limits", {})),
        tools=(READ_TOOL,) if case.get("tools", True) else (),
        messages=(message(0, "user", *blocks),) if blocks else (),
        adrs=tuple(_adr(adr) for adr in case.get("adrs", ())),
        **more,
    )


def _rule(given: str | Mapping[str, Any], number: int) -> Segment:
    rule = dict(given) if isinstance(given, Mapping) else {"text": given}
    kind = SegmentKind(rule.pop("kind", "rule"))
    trust = Trust(rule.pop("trust", "project"))
    uri = rule.pop("uri", f"project:rules/{number}.md")
    paths = tuple(rule.pop("paths", ()))
    scope = Scope.SESSION if paths else Scope.RUN
    layer = _LAYERS.get(kind.value, Layer.L3)
    rule.setdefault("level", 3)
    # A scoped rule is in when the task writes where it holds; the cases are about two that could both be in.
    return segment(rule.pop("text"), layer=layer, scope=scope, kind=kind, trust=trust, uri=uri, paths=paths, **rule)


def _said(case: Mapping[str, Any]) -> Iterator[Segment]:
    if "says" in case:
        yield segment(
            case["says"],
            layer=Layer.L9,
            scope=Scope.TURN,
            kind=SegmentKind.INSTRUCTION,
            trust=Trust.USER,
            uri="air:session/r1:T1:1:executor:1/instruction",
        )
    if "message" in case:
        yield segment(
            case["message"],
            layer=Layer.L5,
            kind=SegmentKind.MESSAGE,
            trust=Trust.USER,
            uri="air:session/r1:T1:1:executor:1/message/1",
        )


def _claims(given: Mapping[str, Any]) -> tuple[Segment, dict[str, Any], dict[str, Any]]:
    claims: list[Claim] = []
    digests: dict[str, Any] = {}
    baselines: dict[str, Any] = {}
    for uri, claim in (("project:src/a.py", given), ("project:src/b.py", given.get("also", {}))):
        if "of" in claim:
            claims.append(Claim(uri=uri, digest=sha256_text(claim["of"])))
        if "now" in claim:
            digests[uri] = sha256_text(claim["now"])
        if "baseline" in claim:
            baselines[uri] = sha256_text(claim["baseline"])
    kind = SegmentKind(given["kind"])
    held = segment("It has two functions.", kind=kind, uri="air:summary/1", claims=tuple(claims))
    return held, digests, baselines


def _adr(given: Mapping[str, Any]) -> Adr:
    return Adr(
        id=given["id"],
        status=given.get("status", "accepted"),
        title="A decision",
        interfaces=tuple(given["interfaces"]),
        supersedes=(),
        uri=f"project:.air/shared/plan/adr/{given['id']}.md",
    )
