"""A store as a fleet leaves it after months: a thousand runs, a hundred thousand assemblies, by a fixed seed.

`python -m bench.fleet_store --out FOLDER --runs N --seed S` (in `tests/`) makes a project with its record in FOLDER.
Sources, snapshots, assemblies and the writing of them are the product's own; what models and tools said is made up.
The same numbers give the same digests. `AIR_FLEET_STORE=FOLDER` lets the tests that ask a thousand runs ask that one.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from bench.fleet_project import (
    CHANGED_RULE,
    EVERYWHERE,
    PACKAGES,
    SCOPED_RULE,
    STANDING_RULE,
    package_of,
    path_of,
    project_files,
)
from bench.fleet_sessions import (
    FilesInMemory,
    Plotted,
    appended,
    conversation,
    plotted_sessions,
    with_marker,
)
from bench.fleet_words import Words
from support.projects import Desk, effective_policy, make_commit, make_intake, make_project, write_tree

from aircoding.context.assembler import assemble
from aircoding.context.freezing import frozen_from
from aircoding.permissions.in_words import task_policy_in_words
from aircoding.records.digests import canonical_json
from aircoding.records.events import Event
from aircoding.records.ids import Digest, RunId, TaskId
from aircoding.records.jsonable import jsonable
from aircoding.records.layers import Layer, Scope, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.runs import Run
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Message, Snapshot
from aircoding.records.tasks import TaskSpec
from aircoding.sources.reads import current_digests, read_files
from aircoding.sources.role_text import instruction_segments
from aircoding.sources.task_text import evidence_segments, task_segments
from aircoding.sources.trust import trust_project
from aircoding.store import Store, open_store

__all__ = ["FleetStore", "made_before", "make_fleet_store"]

RUNS_PER_VERSION = 25
"""Runs between two changes of the rules."""
CHECKED_EVERY = 50
"""Of the turns that bring nothing but messages, how many are assembled by all stages besides."""
_ABOUT = "fleet.json"
_TEMPLATE = TaskId("TEMPLATE")
_START = datetime(2026, 1, 5, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStore:
    """A project with its record, what is in it, and subjects that questions can be asked about.

    `raw_bytes` is the sum of the canonical JSON of all requests, `prompt_tokens` that of their expected tokens.
    """

    root: Path
    home: Path
    database: Path
    runs: int
    assemblies: int
    prompt_tokens: int
    raw_bytes: int
    generated_seconds: float
    standing_rule: str
    changed_rule: str
    scoped_rule: str
    file: str
    text_everywhere: str
    text_once: str
    once_manifest_id: str
    a_manifest_id: str
    a_run_id: str


@dataclass(slots=True)
class _Totals:
    assemblies: int = 0
    prompt_tokens: int = 0
    raw_bytes: int = 0
    once: str = ""
    middle: str = ""


def make_fleet_store(root: Path, home: Path, *, runs: int, seed: int = 4) -> FleetStore:
    """Make a project in `root` (must not exist) with the record of `runs` runs of some hundred assemblies each."""
    started = time.perf_counter()
    words, totals = Words(seed), _Totals()
    make_project(root, project_files(words, seed, 0))
    trust_project(home, root)
    database = root / ".air" / "local" / "air.db"
    database.parent.mkdir(parents=True)
    once = "The ledger of marmalade number 4711 does not agree with itself."
    at = _Clock()
    with open_store(database, now=at.now) as store:
        bench = _Bench(root, home, store, words, seed, totals)
        for number in range(runs):
            if number % RUNS_PER_VERSION == 0:
                bench.turn_to_version(number // RUNS_PER_VERSION)
            at.at = _START + timedelta(hours=6 * number)
            sentence = once if number == runs * 3 // 7 else ""
            store.together(partial(bench.run, number=number, at=at, sentence=sentence), now=at.now)
    return FleetStore(
        root=root,
        home=home,
        database=database,
        runs=runs,
        assemblies=totals.assemblies,
        prompt_tokens=totals.prompt_tokens,
        raw_bytes=totals.raw_bytes,
        generated_seconds=time.perf_counter() - started,
        standing_rule=STANDING_RULE,
        changed_rule=CHANGED_RULE,
        scoped_rule=SCOPED_RULE,
        file=path_of("orders", "store"),
        text_everywhere=EVERYWHERE,
        text_once=once,
        once_manifest_id=totals.once,
        a_manifest_id=totals.middle,
        a_run_id=_run_id(runs // 2),
    )


def _run_id(number: int) -> str:
    return f"run-{number:05}"


@dataclass(slots=True)
class _Clock:
    at: datetime = _START

    def now(self) -> str:
        return self.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Bench:
    """Makes one run after the other."""

    def __init__(self, root: Path, home: Path, store: Store, words: Words, seed: int, totals: _Totals) -> None:
        self._root, self._home, self._store, self._words, self._seed = root, home, store, words, seed
        self._whole_store = store
        self._totals = totals
        self._intake = make_intake()
        self._templates: dict[str, Snapshot] = {}
        self._revision = ""
        self._quiet_turns = 0
        self._files = dict(project_files(words, seed, 0))

    def turn_to_version(self, version: int) -> None:
        """Change the rules in the project, and read what every role gets of them."""
        self._store = self._whole_store  # that of the run before was one transaction, and is closed
        files = project_files(self._words, self._seed, version)
        write_tree(self._root, files)
        if version % 2 == 0:
            (self._root / ".air/shared/rules/layout.md").unlink(missing_ok=True)
        make_commit(self._root)
        desk = Desk(root=self._root, home=self._home)
        desk.blobs = self._store.texts  # type: ignore[assignment]  # the record keeps the revision
        gatherer = desk.gatherer()
        self._revision = gatherer.freeze_run()
        task = TaskSpec(id=_TEMPLATE, title="Template", write_area=tuple(f"src/{one}/**" for one in PACKAGES))
        self._templates = {
            role: desk.snapshot(desk.brief(role, task=task, run_revision=self._revision))
            for role in ("executor", "reviewer", "debugger")
        }

    def run(self, store: Store, *, number: int, at: _Clock, sentence: str) -> None:
        """Record one run: its sessions with their turns."""
        self._store = store
        chance = random.Random(f"{self._seed}/run/{number}")
        run_id = _run_id(number)
        plotted = list(plotted_sessions(run_id, self._revision, self._words, chance))
        tasks = {one.brief.task.id: one.brief.task for one in plotted}
        self._store.runs.create(
            Run(
                run_id=RunId(run_id),
                goal=" ".join(self._words.some(chance, 9)),
                status="running",
                created_at=at.now(),
                project_root=str(self._root),
                base_commit="0" * 40,
                target_branch="main",
                integration_branch=f"air/{run_id}/integration",
                provider="anthropic:claude-sonnet-5-5",
                model="claude-sonnet-5-5",
                concurrency=8,
                plan_digest=Digest("0" * 64),
                run_revision=self._revision,
            )
        )
        named = [{"id": task.id, "title": task.title} for task in tasks.values()]
        self._event(run_id, at, "run.started", payload={"tasks": named})
        for name in tasks:
            self._event(run_id, at, "task.dispatched", task_id=name, payload={"attempt": 1})
        worktree = FilesInMemory(self._files)
        for position, one in enumerate(plotted):
            self._session(one, worktree, at, chance, sentence if position == 2 else "")
        for name in tasks:
            self._event(run_id, at, "task.done", task_id=name, payload={})
        self._store.runs.finish(run_id, "done")
        self._edit_files(chance, tasks.values())

    def _event(self, run_id: str, at: _Clock, type_: str, *, task_id: str | None = None, payload: dict) -> None:  # type: ignore[type-arg]
        self._store.events.append(
            Event(run_id=RunId(run_id), type=type_, at=at.now(), task_id=task_id, payload=payload)
        )

    def _session(
        self, plotted: Plotted, worktree: FilesInMemory, at: _Clock, chance: random.Random, sentence: str
    ) -> None:
        brief = plotted.brief
        self._store.sessions.open(brief)
        opening = self._opening(plotted, worktree, at)
        talk = conversation(plotted, self._files, self._words, chance)
        messages: tuple[Message, ...] = ()
        touched: tuple[str, ...] = ()
        context: AssembledContext | None = None
        known = {package_of(area) for area in brief.task.write_area}
        for turn in range(1, plotted.turns + 1):
            places = {package_of(path) for path in touched}
            at.at += timedelta(seconds=19)
            snapshot = replace(
                opening,
                request=replace(opening.request, turn=turn),
                created_at=at.now(),
                messages=messages,
                touched_paths=touched,
                frozen=None if context is None else frozen_from(context),
            )
            made = self._assembled(snapshot, quiet=turn > 1 and places <= known)
            known |= places
            if not isinstance(made, AssembledContext):
                break  # the window is full: a real session would compact
            context = made
            self._store.assemblies.record(context, snapshot=snapshot)
            self._count(context, turn, sentence)
            added, path = next(talk, ((), ""))
            if sentence and turn == 3 and added:
                added = (added[0], with_marker(added[1], sentence))
            for message in added:
                self._store.sessions.append_message(brief.session_id, message.index, message.role, message.content)
            messages += added
            touched = tuple(sorted({*touched, path} - {""}))

    def _assembled(self, snapshot: Snapshot, *, quiet: bool) -> AssembledContext | Overflow:
        """Assemble; a turn that brings nothing but messages takes a shorter way, checked now and then."""
        if not quiet:
            return assemble(snapshot)
        made = appended(snapshot)
        self._quiet_turns += 1
        if self._quiet_turns % CHECKED_EVERY == 1:
            assert made == assemble(snapshot)
        return made

    def _count(self, context: AssembledContext, turn: int, sentence: str) -> None:
        totals = self._totals
        totals.assemblies += 1
        totals.prompt_tokens += context.token_estimate.expected
        totals.raw_bytes += len(canonical_json(context.request))
        totals.middle = context.manifest_id if turn == 6 else totals.middle
        totals.once = context.manifest_id if sentence and turn == 4 else totals.once

    def _opening(self, plotted: Plotted, worktree: FilesInMemory, at: _Clock) -> Snapshot:
        """Return the snapshot of a session's first turn: what its role shares, and what is its own."""
        brief, template = plotted.brief, self._templates[plotted.brief.role]
        policy = effective_policy(template.profile, brief.task)
        run, task, attempt, role, _ = brief.session_id.split(":")
        own = (
            self._intake.segment(
                task_policy_in_words(policy),
                layer=Layer.L2,
                scope=Scope.SESSION,
                kind=SegmentKind.POLICY,
                trust=Trust.BUILTIN,
                uri=f"air:policy/{task}",
                shortened=False,
            ),
            *task_segments(brief, intake=self._intake),
            *read_files(worktree, brief.task.reads, policy=policy, intake=self._intake, trusted=True),  # type: ignore[arg-type]
            *evidence_segments(brief.evidence, intake=self._intake),
            *instruction_segments(brief, template.profile, now=at.now(), intake=self._intake),
        )
        segments = (*(one for one in template.segments if not _is_own(one)), *own)
        return replace(
            template,
            request=replace(
                template.request,
                run_id=run,
                run_revision=self._revision,
                session_id=brief.session_id,
                task_id=task,
                attempt=int(attempt),
                role=role,
                model=brief.model,
            ),
            task=brief.task,
            policy=policy,
            limits=replace(template.limits, model=brief.model, window_tokens=plotted.window_tokens),
            segments=segments,
            digests=current_digests(worktree, segments),  # type: ignore[arg-type]
        )

    def _edit_files(self, chance: random.Random, tasks: object) -> None:
        """Leave the changes of a run in the files that later runs read."""
        files = dict(self._files)
        for task in tasks:  # type: ignore[attr-defined]
            for path in task.reads[:1]:
                lines = files[path].split("\n")
                first = chance.randrange(len(lines) - 12)
                lines[first : first + 6] = self._words.code(chance, 7).rstrip("\n").split("\n")
                files[path] = "\n".join(lines)
        self._files = files


def _is_own(segment: Segment) -> bool:
    """Whether a segment is of the template's task."""
    return segment.layer is Layer.L9 or segment.source.uri in {f"air:task/{_TEMPLATE}", f"air:policy/{_TEMPLATE}"}


def made_before(folder: Path) -> FleetStore:
    """Return the store that the command line made in a folder."""
    return FleetStore(**json.loads((folder / _ABOUT).read_text("utf-8")) | _places(folder, Path))


def _places(folder: Path, kind: Callable[[Path], Any]) -> dict[str, Any]:
    root = folder / "project"
    return {"root": kind(root), "home": kind(folder / "home"), "database": kind(root / ".air/local/air.db")}


def main() -> None:
    """Make a store from the command line and say what is in it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True, help="the folder to make")
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--seed", type=int, default=4)
    given = options.parse_args()
    fleet = make_fleet_store(given.out / "project", given.out / "home", runs=given.runs, seed=given.seed)
    (given.out / _ABOUT).write_text(json.dumps(jsonable(replace(fleet, **_places(given.out, str)))), "utf-8")
    print(fleet)


if __name__ == "__main__":
    main()
