"""Which workers saw a subject, decided by the database: the same verdicts as `audit.witnesses.who_saw` gives."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import CTE, ColumnElement, and_, case, func, literal, select

from aircoding.records.layers import OutcomeKind
from aircoding.store.accounts import ASSEMBLIES, OUTCOME_USES, OUTCOMES, SEGMENT_USES, SEGMENTS
from aircoding.store.naming import one_of
from aircoding.store.outcome_groups import place_of_id
from aircoding.store.within import Within, narrowed

__all__ = ["WORKER", "SubjectRows", "worker_verdicts"]

_IN_A_PROMPT = (OutcomeKind.INCLUDED, OutcomeKind.EXCERPTED, OutcomeKind.REFERENCED)
WORKER = (ASSEMBLIES.c.run_id, func.coalesce(ASSEMBLIES.c.task_id, "").label("task"), ASSEMBLIES.c.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRows:
    """The distinct segments and outcomes that a subject names, by the numbers of their rows.

    `version` are those of the segments that count as seen (None: all), `stale` those whose source is another one now.
    """

    segments: Collection[int]
    outcomes: Collection[int]
    version: Collection[int] | None = None
    stale: Collection[int] = ()


def worker_verdicts(subject: SubjectRows, within: Within) -> CTE:
    """Select each worker with its verdict, the reason why it missed the subject, and whether it holds a stale one."""
    everyone = narrowed(select(*WORKER).distinct(), ASSEMBLIES.c, within).cte("everyone")
    came_in = _came_in(subject, within)
    seen = (
        select(came_in.c.run_id, came_in.c.task, came_in.c.role, came_in.c.place)
        .where(came_in.c.wanted == 1)
        .distinct()
        .cte("seen")
    )
    newest = (
        select(came_in.c.run_id, came_in.c.task, came_in.c.role, func.max(came_in.c.stale).label("stale"))
        .where(came_in.c.age == 1)
        .group_by(came_in.c.run_id, came_in.c.task, came_in.c.role)
        .cte("newest")
    )
    sections = (
        select(seen.c.run_id, seen.c.task, seen.c.role, func.count().label("sections"))
        .group_by(seen.c.run_id, seen.c.task, seen.c.role)
        .cte("sections")
    )
    missed = _left_out(subject, within, seen)
    verdict = case(
        (and_(sections.c.sections > 0, missed.c.reason.is_not(None)), "part"),
        (sections.c.sections > 0, "seen"),
        (missed.c.reason.is_not(None), "missed"),
        (newest.c.stale.is_not(None), "other"),
        else_="never",
    )
    joined = (
        select(
            everyone.c.run_id,
            everyone.c.task,
            everyone.c.role,
            verdict.label("verdict"),
            case((sections.c.sections > 0, ""), else_=func.coalesce(missed.c.reason, "")).label("reason"),
            func.coalesce(newest.c.stale, 0).label("stale"),
        )
        .select_from(everyone)
        .outerjoin(sections, _same_worker(everyone, sections))
        .outerjoin(missed, _same_worker(everyone, missed))
        .outerjoin(newest, _same_worker(everyone, newest))
    )
    return joined.cte("verdicts")


def _came_in(subject: SubjectRows, within: Within) -> CTE:
    own_place = SEGMENTS.c.layer + ":" + SEGMENTS.c.uri
    wanted = (
        literal(1) if subject.version is None else case((one_of(SEGMENT_USES.c.segment, subject.version), 1), else_=0)
    )
    query = (
        select(
            *WORKER,
            func.coalesce(place_of_id(SEGMENTS.c.segment_id), own_place).label("place"),
            wanted.label("wanted"),
            case((one_of(SEGMENT_USES.c.segment, subject.stale), 1), else_=0).label("stale"),
            func.row_number()
            .over(
                partition_by=(*WORKER, SEGMENTS.c.uri),
                order_by=(ASSEMBLIES.c.assembly.desc(), SEGMENT_USES.c.position.desc()),
            )
            .label("age"),
        )
        .select_from(SEGMENT_USES)
        .join(SEGMENTS, SEGMENTS.c.segment == SEGMENT_USES.c.segment)
        .join(ASSEMBLIES, ASSEMBLIES.c.assembly == SEGMENT_USES.c.assembly)
        .where(one_of(SEGMENT_USES.c.segment, subject.segments, few_assemblies=within.run_id is not None))
    )
    return narrowed(query, ASSEMBLIES.c, within).cte("came_in")


def _left_out(subject: SubjectRows, within: Within, seen: CTE) -> CTE:
    """Select of each worker the reason why it was not shown something: of several the last."""
    place = place_of_id(OUTCOMES.c.segment_id)
    order = (ASSEMBLIES.c.assembly.desc(), OUTCOME_USES.c.position.desc())
    told = narrowed(
        select(
            *WORKER,
            place.label("place"),
            OUTCOMES.c.outcome,
            func.coalesce(OUTCOMES.c.reason, OUTCOMES.c.outcome).label("reason"),
            ASSEMBLIES.c.assembly,
            OUTCOME_USES.c.position,
            func.row_number().over(partition_by=(*WORKER, place), order_by=order).label("age"),
        )
        .select_from(OUTCOME_USES)
        .join(OUTCOMES, OUTCOMES.c.outcome_row == OUTCOME_USES.c.outcome_row)
        .join(ASSEMBLIES, ASSEMBLIES.c.assembly == OUTCOME_USES.c.assembly)
        .where(one_of(OUTCOME_USES.c.outcome_row, subject.outcomes, few_assemblies=within.run_id is not None)),
        ASSEMBLIES.c,
        within,
    ).cte("told")
    worker = (told.c.run_id, told.c.task, told.c.role)
    recent = func.row_number().over(partition_by=worker, order_by=(told.c.assembly.desc(), told.c.position.desc()))
    left = (
        select(*worker, told.c.reason, recent.label("recent"))
        .outerjoin(seen, and_(_same_worker(told, seen), seen.c.place == told.c.place))
        .where(told.c.age == 1, told.c.outcome.not_in(_IN_A_PROMPT), seen.c.place.is_(None))
        .cte("left_out")
    )
    # Grouped, though each worker has one: so the database makes an index of it, and does not read it for each worker.
    key = (left.c.run_id, left.c.task, left.c.role)
    return select(*key, func.max(left.c.reason).label("reason")).where(left.c.recent == 1).group_by(*key).cte("missed")


def _same_worker(one: CTE, other: CTE) -> ColumnElement[bool]:
    return and_(one.c.run_id == other.c.run_id, one.c.task == other.c.task, one.c.role == other.c.role)
