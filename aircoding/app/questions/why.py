"""Why a text stands in prompts, why another does not, and who saw it: for one worker, one run or the whole fleet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.questions.asking import Asked, Page, Paged, asked_within, on_page, record_of
from aircoding.app.questions.kept import require_texts
from aircoding.app.questions.selectors import selected_id
from aircoding.app.questions.tool_calls import calls_of
from aircoding.app.questions.tool_reads import ToolReads, tool_reads
from aircoding.audit.absences import Absence
from aircoding.audit.considerations import Consideration, consideration
from aircoding.audit.origins import Call
from aircoding.audit.place_groups import PlaceGroup, fold_places
from aircoding.audit.places import Place, why
from aircoding.audit.subjects import matches, split_version
from aircoding.audit.witnesses import SourceNow, Summary, Witness, who_saw
from aircoding.errors import NotFoundError
from aircoding.records.ids import ManifestId
from aircoding.records.seen import SeenSegment

if TYPE_CHECKING:
    from aircoding.records.manifest import SegmentRecord
    from aircoding.store import Store
    from aircoding.store.sightings import Named
    from aircoding.store.verdicts import WorkerCount, WorkerVerdict
    from aircoding.store.within import Within

__all__ = ["RoleCount", "WhoSaw", "Why", "WhyNot", "who_saw_subject", "why_not_subject", "why_text"]

_NOT_WHOLE = frozenset({"part", "missed", "other", "never"})
_HAD = frozenset({"seen", "part", "other"})
_STALE: frozenset[SourceNow] = frozenset({"changed", "gone"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot(Paged):
    """What became of a subject: a page of `total` groups, over `sessions` sessions; `run_id` None: of all runs.

    `by_text`: it is no name, and these are candidates whose text holds it; `unchecked` counts segments that were not
    read, `runs_without_texts` runs whose texts were let go, so that nothing can be found in them.
    `absence` says why there is nothing. `now`: of no recorded prompt, but of one that was assembled for the question.
    `reads` are calls that brought the file as a tool's result.
    """

    run_id: str | None
    considerations: tuple[Consideration, ...]
    sessions: int
    by_text: bool = False
    unchecked: int = 0
    runs_without_texts: int = 0
    absence: Absence | None = None
    now: bool = False
    reads: ToolReads = field(default_factory=ToolReads)

    @property
    def items(self) -> tuple[Consideration, ...]:
        """The groups."""
        return self.considerations


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(Paged):
    """Where a text stands: a page of `total` places; `run_id` None: of all runs.

    `places` are exact (of one run or assembly), `sightings` are segments whose text holds it, each with the assembly
    that it came in with (of many runs): only one of the two is filled. Where places were to be folded, `groups` has
    a page of `group_count` groups instead of them. `calls` has the tool calls that sightings are or are results of, by
    segment id. `unchecked` counts segments that were not
    read,
    `runs_without_texts` runs whose texts were let go.
    """

    run_id: str | None
    places: tuple[Place, ...]
    sightings: tuple[SeenSegment, ...]
    sessions: int
    unchecked: int = 0
    runs_without_texts: int = 0
    groups: tuple[PlaceGroup, ...] = field(default=(), metadata={"json": False})
    group_count: int = field(default=0, metadata={"json": False})
    calls: Mapping[str, Call] = field(default_factory=dict)

    @property
    def items(self) -> tuple[PlaceGroup, ...] | tuple[Place, ...] | tuple[SeenSegment, ...]:
        """The groups or places, whichever there are."""
        return self.groups or self.places or self.sightings

    @property
    def item_count(self) -> int:
        """All groups, where the page is of groups."""
        return self.group_count or self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleCount:
    """How many workers of one role there are, and how many of them saw a subject or a part of it."""

    role: str
    workers: int
    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoSaw(Paged):
    """Who saw a subject: all workers counted, and a page of `total` of them; `run_id` None: of all runs.

    `gone` says that all that is stale is so since its file is gone. `not_compared` counts workers that had the subject
    in runs that were taken in from elsewhere: the files here say nothing of theirs.
    """

    run_id: str | None
    summary: Summary
    witnesses: tuple[Witness, ...]
    reads: ToolReads = field(default_factory=ToolReads)
    roles: tuple[RoleCount, ...] = ()
    gone: bool = False
    not_compared: int = 0

    @property
    def items(self) -> tuple[Witness, ...]:
        """The workers."""
        return self.witnesses


def why_text(start: Path, text: str, asked: Asked, *, manifest_id: str | None, page: Page, fold: bool = False) -> Why:
    """Return where a text stands in recorded prompts: in one run or assembly exactly, over all runs by the text index.

    Within a session each place is told once, as it stood in the last assembly of its epoch. With `fold` the places of
    one text of one source in many prompts are one group, and the page is of groups.

    Raises:
        NotFoundError: it is no text at all, or nothing is on record.
    """
    if any("\ud800" <= each <= "\udfff" for each in text):
        raise NotFoundError(
            f"no text on record holds {text[:200]}: it is no valid UTF-8", hint="type the text as the record shows it"
        )
    with record_of(start) as (_, store):
        if manifest_id is not None:
            chosen = selected_id(store, manifest_id)
            require_texts(store, store.assemblies.account(chosen).manifest.run_id)
            context = store.assemblies.get(chosen)
            return _shown(context.manifest.run_id, why([context], text), page, fold=fold)
        within = asked_within(store, asked)
        if within.run_id is None:
            return _indexed(store, text, within, page)
        require_texts(store, within.run_id)
        ids = store.sightings.last_of_epochs(within)
        contexts = (store.assemblies.get(ManifestId(one)) for one in ids)
        return _shown(within.run_id, why(contexts, text), page, fold=fold)


def _shown(run_id: str, places: tuple[Place, ...], page: Page, *, fold: bool) -> Why:
    """Return a page of places; those of a session that stand at one place in several epochs are one."""
    once = tuple({(one.session_id, one.block, one.start, one.line): one for one in places}.values())
    groups = fold_places(once) if fold else ()
    return Why(
        run_id=run_id,
        places=() if fold else on_page(once, page),
        sightings=(),
        total=len(once),
        offset=page.offset,
        sessions=len({one.session_id for one in once}),
        groups=on_page(groups, page),
        group_count=len(groups),
    )


def _indexed(store: Store, text: str, within: Within, page: Page) -> Why:
    hits = store.search.find(text, candidates=False)
    kept = replace(within, with_texts=True)
    seen, total, sessions = store.sightings.places(hits.segments, kept, limit=page.limit, offset=page.offset)
    return Why(
        run_id=None,
        places=(),
        sightings=seen,
        total=total,
        offset=page.offset,
        sessions=sessions,
        unchecked=hits.unchecked,
        runs_without_texts=store.sightings.runs_without_texts(),
        calls=calls_of(store, seen),
    )


def why_not_subject(start: Path, subject: str, asked: Asked, *, manifest_id: str | None, page: Page) -> WhyNot:
    """Return each time that a path or rule was considered, the same outcome of many sessions as one.

    What is no name is looked for in the texts of candidates; what was never considered is explained.
    """
    with record_of(start) as (root, store):
        if manifest_id is not None:
            from aircoding.app.questions.why_in_one import why_not_in_one

            return why_not_in_one(store, root, start, subject, manifest_id, page)
        within = asked_within(store, asked)
        named = _numbers(_meant(store.sightings.outcomes_named(subject), subject))
        found = replace(_considered(store, named, within, page), reads=tool_reads(store, subject, within))
        if found.total:
            return found
        from aircoding.app.questions.unconsidered import AskedAbout, explain_absence

        run = None if within.run_id is None else store.runs.get(within.run_id)
        about = AskedAbout(
            names=frozenset(store.sightings.names(within)),
            base_commit="" if run is None else run.base_commit,
            task_id=within.task_id,
            plan=None if run is None else store.texts.get(run.plan_digest),
        )
        absence = explain_absence(root, start, subject, about)
        if absence.is_name and not absence.near:
            if within.run_id is not None:
                require_texts(store, within.run_id)
            hits = store.search.find(subject)
            kept = replace(within, with_texts=True)
            by_text = _considered(store, store.sightings.outcomes_of(hits.segment_ids), kept, page)
            gone = store.sightings.runs_without_texts()
            found = replace(
                by_text,
                by_text=by_text.total > 0,
                unchecked=hits.unchecked,
                runs_without_texts=gone,
                reads=found.reads,
            )
        looked_through = not (found.unchecked or found.runs_without_texts)
        return replace(found, absence=absence) if looked_through and not found.total else found


def _considered(store: Store, outcomes: Collection[int], within: Within, page: Page) -> WhyNot:
    groups, total, sessions = store.sightings.outcome_groups(outcomes, within, limit=page.limit, offset=page.offset)
    found = tuple(
        consideration(group.newest, sessions=group.sessions, runs=group.runs, variants=group.variants)
        for group in groups
    )
    return WhyNot(run_id=within.run_id, considerations=found, total=total, offset=page.offset, sessions=sessions)


def who_saw_subject(
    start: Path, subject: str, asked: Asked, *, page: Page, only_stale: bool = False, only_missed: bool = False
) -> WhoSaw:
    """Return which workers had a subject in a prompt. `PATH@DIGEST` asks for one version."""
    from aircoding.app.questions.staleness import foreign_runs, sources_now
    from aircoding.store.verdicts import SubjectRows, count_verdicts

    name, digest = split_version(subject)
    with record_of(start) as (root, store):
        within = asked_within(store, asked)
        named = _meant(store.sightings.segments_named(name), name)
        outcomes = _numbers(_meant(store.sightings.outcomes_named(name), name))
        now = sources_now(root, store, named)
        rows = SubjectRows(
            segments=_numbers(named),
            outcomes=outcomes,
            version=None if digest is None else _numbers(one for one in named if _has_digest(one, digest)),
            stale=frozenset(number for number, each in now.items() if each in _STALE),
        )
        foreign = foreign_runs(root, store)
        verdicts = [_of_here(one, foreign) for one in store.sightings.verdicts(rows, within)]
        asked_for = [
            one for one in verdicts if (one.stale or not only_stale) and (one.verdict in _NOT_WHOLE or not only_missed)
        ]
        workers = store.sightings.workers([one.worker for one in on_page(asked_for, page)], within)
        seen, told = store.sightings.of_workers(workers, rows.segments, rows.outcomes)
        reads = tool_reads(store, name, within)
    versions = {(one.segment_id, one.source_digest): now[one.number] for one in named}

    def now_of(record: SegmentRecord) -> SourceNow:
        return versions.get((record.segment_id, record.source.digest), "unknown")

    told_by = who_saw(workers, seen, told, name, digest=digest, is_stale=lambda one: now_of(one) in _STALE)
    return WhoSaw(
        run_id=within.run_id,
        summary=_counted(count_verdicts(verdicts)),
        witnesses=tuple(_with_source(one, foreign, now_of) for one in told_by),
        total=len(asked_for),
        offset=page.offset,
        reads=reads,
        roles=_by_role(verdicts),
        gone=bool(rows.stale) and all(now[number] == "gone" for number in rows.stale),
        not_compared=sum(one.worker[0] in foreign and one.verdict in _HAD for one in verdicts),
    )


def _of_here(one: WorkerVerdict, foreign: Collection[str]) -> WorkerVerdict:
    return one._replace(stale=False) if one.worker[0] in foreign else one


def _with_source(one: Witness, foreign: Collection[str], now_of: Callable[[SegmentRecord], SourceNow]) -> Witness:
    if one.newest is None or one.run_id in foreign:
        return replace(one, stale=False)
    return replace(one, now=now_of(one.newest))


def _by_role(verdicts: Iterable[WorkerVerdict]) -> tuple[RoleCount, ...]:
    workers: dict[str, list[bool]] = {}
    for one in verdicts:
        workers.setdefault(one.worker[2], []).append(one.verdict in {"seen", "part"})
    counts = (RoleCount(role=role, workers=len(some), seen=sum(some)) for role, some in sorted(workers.items()))
    return tuple(counts)


def _meant(named: Collection[Named], subject: str) -> list[Named]:
    return [one for one in named if matches(subject, one.uri, one.rule_id, one.segment_id)]


def _numbers(named: Iterable[Named]) -> frozenset[int]:
    return frozenset(one.number for one in named)


def _has_digest(one: Named, digest: str) -> bool:
    return one.source_digest.startswith(digest) or one.text_digest.startswith(digest)


def _counted(counts: Collection[WorkerCount]) -> Summary:
    by = dict.fromkeys(("seen", "part", "missed", "other", "never"), 0)
    reasons: dict[str, int] = {}
    for one in counts:
        by[one.verdict] += one.workers
        if one.verdict == "missed":
            reasons[one.reason] = reasons.get(one.reason, 0) + one.workers
    return Summary(
        workers=sum(by.values()),
        stale=sum(one.stale for one in counts),
        reasons=dict(sorted(reasons.items())),
        **by,
    )
