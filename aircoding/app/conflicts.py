"""Conflicts: list those on record and those that a plan would meet, show one, rule on one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.plan_conflicts import find_conflicts
from aircoding.app.plans import load_plan
from aircoding.app.project import Project, open_project, open_recorded
from aircoding.app.questions.asking import Page, Paged, on_page
from aircoding.app.rulings import is_recorded
from aircoding.context.conflicts import apply_ruling, may_rule
from aircoding.errors import NotFoundError, PlanError, UsageError
from aircoding.records.conflicts import Conflict, ConflictKind

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["ConflictEntry", "Conflicts", "RuleRequest", "RuledConflict", "list_conflicts", "rule_conflict"]
__all__ += ["show_conflict"]

_KINDS = tuple(f"c-{kind.value}-" for kind in ConflictKind)
_LEAST_ID_CHARS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictEntry:
    """A conflict with the run that had it last, and its tasks there; `run_id` is None for one that no run has met."""

    run_id: str | None
    tasks: tuple[str, ...]
    roles: tuple[str, ...]
    conflict: Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts(Paged):
    """A page of conflicts."""

    conflicts: tuple[ConflictEntry, ...]

    @property
    def items(self) -> tuple[ConflictEntry, ...]:
        """The conflicts."""
        return self.conflicts


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRequest:
    """A ruling: which party holds (`winner`: number, name or part of it), or that the task may go on (`accept`).

    `run_id` binds it to one run; None: it holds for the project.
    """

    start: Path
    conflict_id: str
    why: str
    winner: str | None = None
    accept: bool = False
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledConflict:
    """A conflict as it was ruled, and what to type so that the ruling takes effect."""

    conflict: Conflict
    run_id: str | None
    ruled_at: str
    next_step: str


def list_conflicts(
    start: Path, *, run_id: str | None, state: str | None, kind: str | None, task_id: str | None, page: Page
) -> Conflicts:
    """Return a page of the conflicts on record, those that stop a task first.

    Without a run each conflict stands once, as the newest run had it; before the first one there are none.
    """
    project = open_recorded(start)
    if run_id is None and not is_recorded(project):
        return Conflicts(conflicts=(), total=0, offset=page.offset)
    with project.open_store() as store:
        run = None if run_id is None else store.runs.get(run_id).run_id
        found = [
            entry
            for entry in _entries(store, run)
            if (state is None or entry.conflict.state == state)
            and (kind is None or entry.conflict.kind.value == kind)
            and (task_id is None or task_id in entry.tasks)
        ]
    found.sort(key=lambda one: (one.conflict.state != "open", not one.conflict.blocking, one.conflict.conflict_id))
    return Conflicts(conflicts=on_page(found, page), total=len(found), offset=page.offset)


def show_conflict(start: Path, conflict_id: str) -> ConflictEntry:
    """Return one conflict, of the record or of the project's plan; the start of an id is enough.

    Raises:
        NotFoundError: there is none.
        UsageError: several ids begin so.
    """
    return _find(open_recorded(start), conflict_id)


def rule_conflict(request: RuleRequest) -> RuledConflict:
    """Record a ruling.

    Raises:
        NotFoundError: there is no such conflict or run.
        UsageError: nobody can rule on this one, or not so; or the id is too short to mean one conflict for sure.
    """
    _require_long_enough(request.conflict_id)
    project = open_project(request.start)
    if not request.why.strip():
        raise UsageError("a ruling needs its reason", hint='give it in words: aircoding conflicts rule ID ... "why"')
    entry = _find(project, request.conflict_id)
    winner = _winner(entry.conflict, request)
    with project.open_store(create=True) as store:
        run = None if request.run_id is None else store.runs.get(request.run_id).run_id
        ruling = store.rulings.rule(
            entry.conflict.conflict_id, run_id=run, ruling=request.why.strip(), winner=winner, by="user"
        )
    return RuledConflict(
        conflict=apply_ruling(entry.conflict, ruling),
        run_id=run,
        ruled_at=ruling.ruled_at,
        next_step=_next_step(entry.conflict, run),
    )


def _require_long_enough(given: str) -> None:
    """Refuse an id that says too little: a ruling must not fall on what merely happens to be the only one there."""
    kind = next((kind for kind in _KINDS if given.startswith(kind)), "")
    only_kind = any(kind.startswith(given.strip()) for kind in _KINDS)
    if not only_kind and len(given.removeprefix(kind)) >= _LEAST_ID_CHARS:
        return
    raise UsageError(
        f"`{given}` is too short an id to rule on: at least {_LEAST_ID_CHARS} characters after the kind are needed",
        hint="`aircoding conflicts list` and `aircoding plan check` show whole ids",
        code="conflict.id",
    )


def _entries(store: Store, run_id: str | None) -> list[ConflictEntry]:
    rulings = {ruling.conflict_id: ruling for ruling in store.rulings.rulings(run_id)}
    newest = {one.conflict.conflict_id: one for one in store.rulings.conflicts(run_id)}
    return [
        ConflictEntry(
            run_id=one.run_id,
            tasks=one.tasks,
            roles=one.roles,
            conflict=apply_ruling(one.conflict, rulings.get(name)),
        )
        for name, one in newest.items()
    ]


def _find(project: Project, given: str) -> ConflictEntry:
    known: dict[str, ConflictEntry] = {one.conflict.conflict_id: one for one in _of_plan(project)}
    try:
        store = project.open_store()
    except NotFoundError:
        pass
    else:
        with store:
            known |= {entry.conflict.conflict_id: entry for entry in _entries(store, None)}
    found = [name for name in known if name == given] or [name for name in known if name.startswith(given)]
    if len(found) > 1:
        raise UsageError(
            f"{given} is the start of more than one id", hint=f"give more of it: {', '.join(sorted(found)[:5])}"
        )
    if not found:
        raise NotFoundError(
            f"there is no conflict {given}", hint="`aircoding conflicts list` and `aircoding plan check` show them"
        )
    return known[found[0]]


def _of_plan(project: Project) -> list[ConflictEntry]:
    """Return what the project's plan would meet, where it has a plan that can be read."""
    try:
        plan = load_plan(project, None)
    except (NotFoundError, PlanError):
        return []
    conflicts = find_conflicts(project, plan).conflicts
    return [ConflictEntry(run_id=None, tasks=_tasks(one), roles=(), conflict=one) for one in conflicts]


def _tasks(conflict: Conflict) -> tuple[str, ...]:
    prefix = "air:task/"
    return tuple(party.removeprefix(prefix) for party in conflict.parties if party.startswith(prefix))


def _winner(conflict: Conflict, request: RuleRequest) -> str:
    """Return the party that holds by a request."""
    if not may_rule(conflict.kind):
        hints = {
            ConflictKind.POLICY: f"change the text, or the line {conflict.winner} if you may",
            ConflictKind.EVIDENCE: "the file as it is holds; have the summary made anew",
        }
        raise UsageError(
            f"{conflict.conflict_id}: nobody can rule on a conflict of kind {conflict.kind.value}",
            hint=hints[conflict.kind],
            code="conflict.not_ruled",
        )
    if conflict.blocking:
        if not request.accept or request.winner is not None:
            raise UsageError(
                f"{conflict.conflict_id} stops its task, and only --accept lifts that",
                hint="to keep it stopped, rule nothing; or narrow the task, or let it carry the decision",
                code="conflict.ruling",
            )
        return conflict.parties[0]
    if request.accept or request.winner is None:
        parties = "; ".join(f"{number}: {party}" for number, party in enumerate(conflict.parties, 1))
        raise UsageError(
            f"{conflict.conflict_id} has two parties, and one of them must hold",
            hint=f"give --winner 1 or --winner 2 ({parties})",
            code="conflict.ruling",
        )
    return _party(conflict, request.winner)


def _party(conflict: Conflict, given: str) -> str:
    parties = conflict.parties
    if given.isdecimal():  # a number is a place, never a part of a name: digests are full of digits
        found = [party for number, party in enumerate(parties, 1) if number == int(given)]
    else:
        found = [one for one in parties if one == given] or [one for one in parties if given in one]
    if len(found) != 1:
        raise UsageError(
            f"{conflict.conflict_id} has {len(conflict.parties)} parties, and"
            f" {'none is' if not found else 'more than one is'} called {given}",
            hint=f"give --winner 1 for {conflict.parties[0]}, --winner 2 for {conflict.parties[1]}",
            code="conflict.ruling",
        )
    return found[0]


def _next_step(conflict: Conflict, run_id: str | None) -> str:
    if run_id is not None:
        return f"it counts for workers of run {run_id} that start from now on; a task that has ended stays as it is"
    if conflict.blocking:
        return "a task that was blocked stays so in its run; start a new one: aircoding run"
    shared = "text that a run's workers share changes with a new run"
    return f"it counts for workers that start from now on; {shared}: aircoding run"
