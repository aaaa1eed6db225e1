"""Skills as candidates of L3: one line each in the index of the run, and a body each for the sessions that it fits."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from aircoding.records.layers import Layer, OutcomeKind, Reason, Scope, SegmentKind
from aircoding.records.printable import shown_path
from aircoding.records.segments import Barred, Segment
from aircoding.rules.precedence import Level
from aircoding.rules.skill_file import Skill
from aircoding.sources.changes import changed_since
from aircoding.sources.segments import Intake, barred
from aircoding.sources.skill_files import FoundSkill, SkillSet

__all__ = ["body_segments", "changed_index", "index_segments"]

_HEADING = "Skills:"


def index_segments(skills: SkillSet, *, intake: Intake, index_chars: int) -> tuple[Segment, ...]:
    """Return a candidate for each line of the index, so that a hit takes out one line and not the list.

    Over `index_chars` the names stay and descriptions go, the user's first, then by name from the end; each of them is
    a candidate that says so (case E49). Without skills there is nothing (case E48).
    """
    lines = [(found, skill, _one_line(skill.description)) for found, skill in skills.on_demand]
    without = _without_description([(found, text) for found, _, text in lines], index_chars)
    segments: list[Segment] = []
    for found, skill, text in lines:
        short = f"- {_one_line(found.name)}"
        if found.uri in without:
            segments.append(_index_line(found, skill, short, intake))
            detail = f"the skills index may have {index_chars} characters (`[skills] index_chars`); the name stays"
            segments.append(barred(_part(found, skill, text, "description", intake), _budget(detail)))
        else:
            segments.append(replace(_index_line(found, skill, f"{short}: {text}", intake), reference=short))
    hidden = Barred(
        outcome=OutcomeKind.OMITTED,
        reason=Reason.DISABLED,
        detail="`disable-model-invocation` is true: agents are not told of this skill",
    )
    segments += [
        barred(_part(found, skill, _one_line(skill.description), "index", intake), hidden)
        for found, skill in skills.usable
        if not skill.model_invocable
    ]
    return tuple(segments)


def _without_description(lines: list[tuple[FoundSkill, str]], index_chars: int) -> set[str]:
    """Return the uris of the skills whose description does not fit."""
    size_chars = len(_HEADING) + sum(len(f"\n- {_one_line(found.name)}: {text}") for found, text in lines)
    dropped: set[str] = set()
    by_name = sorted(lines, key=lambda line: line[0].name, reverse=True)
    for found, text in sorted(by_name, key=lambda line: line[0].is_project):
        if size_chars <= index_chars:
            break
        size_chars -= len(f": {text}")
        dropped.add(found.uri)
    return dropped


def _one_line(text: str) -> str:
    """Return a text that cannot break out of its line (case E44); what cannot be seen is left to the screener."""
    return " ".join("".join(" " if unicodedata.category(char) == "Cc" else char for char in text).split())


def _index_line(found: FoundSkill, skill: Skill, text: str, intake: Intake) -> Segment:
    return replace(_part(found, skill, text, "index", intake), title=_HEADING, identity=found.name)


def _part(found: FoundSkill, skill: Skill, text: str, fragment: str, intake: Intake) -> Segment:
    return intake.segment(
        text,
        layer=Layer.L3,
        scope=Scope.RUN,
        kind=SegmentKind.SKILLS_INDEX,
        trust=found.trust,
        uri=found.uri,
        digest=found.digest,
        fragment=fragment,
        start_line=skill.description_line,
        end_line=skill.description_line,
        shortened=False,
    )


def _budget(detail: str) -> Barred:
    return Barred(outcome=OutcomeKind.OMITTED, reason=Reason.BUDGET, detail=detail)


def body_segments(skills: SkillSet, *, intake: Intake) -> tuple[Segment, ...]:
    """Return the body of each skill, for selection by triggers and paths, and each file that is not used."""
    return tuple(_body(found, intake) for found in skills.found)


def _body(found: FoundSkill, intake: Intake) -> Segment:
    skill = found.skill
    segment = intake.segment(
        skill.body if skill is not None else "",
        layer=Layer.L3,
        scope=Scope.SESSION,
        kind=SegmentKind.SKILL,
        trust=found.trust,
        uri=found.uri,
        digest=found.digest,
        title=shown_path(found.uri),
        fragment="body",
        start_line=skill.body_start_line if skill is not None else None,
        end_line=skill.body_end_line if skill is not None else None,
    )
    segment = replace(segment, level=Level.LEARNED)
    if found.barred is not None or skill is None:
        return barred(segment, found.barred or _EMPTY)
    if not skill.body:
        return barred(segment, _EMPTY)
    if not (skill.triggers or skill.paths):
        return barred(segment, _ON_DEMAND if skill.model_invocable else _NEVER)
    return replace(
        segment,
        reference=f"[not shown here; skill_read gives the skill in {shown_path(found.uri)}]"
        if segment.excerpt
        else None,
        triggers=skill.triggers,
        triggers_line=skill.triggers_line,
        paths=skill.paths,
        paths_line=skill.paths_line,
    )


_EMPTY = Barred(outcome=OutcomeKind.OMITTED, reason=Reason.INVALID, detail="the skill has no text below its header")
_ON_DEMAND = Barred(
    outcome=OutcomeKind.OMITTED,
    reason=Reason.TRIGGER_NOT_MATCHED,
    detail="the skill has no `triggers` and no `paths`; `skill_read` gives it on demand",
)
_NEVER = Barred(
    outcome=OutcomeKind.OMITTED,
    reason=Reason.DISABLED,
    detail="`disable-model-invocation` is true, and the skill has no `triggers` and no `paths`",
)


def changed_index(
    frozen: Iterable[Segment], now: Iterable[Segment], *, intake: Intake, has_tool: bool
) -> tuple[Segment, ...]:
    """Return what of a run's frozen index is another by now, for sessions that begin later.

    Where the run froze no tool that reads skills, new ones are listed and wait for the next run or a `reload`.
    """
    changed = changed_since(tuple(frozen), now, intake=intake)
    return changed if has_tool else tuple(one if one.barred else barred(one, _LATE) for one in changed)


_LATE = Barred(
    outcome=OutcomeKind.OMITTED,
    reason=Reason.DISABLED,
    detail="there was no skill when the run's tools were frozen; `aircoding reload` lets this one in",
)
