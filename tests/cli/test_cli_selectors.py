"""A recorded assembly is named as a person would: also one of a role that works for the run and for no task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.contexts import segment, snapshot
from support.records import run
from support.stores import empty_store

from aircoding.app.questions.selectors import previous_id, selected_id
from aircoding.context.assembler import assemble
from aircoding.errors import NotFoundError
from aircoding.records.ids import OF_RUN, ManifestId, RunId, TaskId, session_id
from aircoding.records.manifest import AssembledContext
from aircoding.store import Store

RECORDED = (
    ("r1", "T1", "executor", 1, 1),
    ("r1", OF_RUN, "main", 1, 1),
    ("r1", OF_RUN, "main", 1, 2),
    ("r1", OF_RUN, "scheduler", 1, 1),
    ("r2", "main", "executor", 1, 1),
    ("r2", "main", "main", 1, 1),
    ("r2", OF_RUN, "main", 1, 1),
    ("r2", OF_RUN, "main", 2, 1),
    ("r2", "a/reviewer", "executor", 1, 1),
    ("r2", "a", "reviewer", 1, 1),
)
"""Run, task, role, number of the session, turn; in the order in which they were recorded."""
Names = dict[ManifestId, tuple[str, str, str, int, int]]


@pytest.fixture(scope="module")
def recorded() -> Iterator[tuple[Store, Names]]:
    """A record of two runs, and which assembly is which."""
    with empty_store() as store:
        for number, run_id in enumerate(("r1", "r2"), start=1):
            store.runs.create(run(run_id, created_at=f"2026-11-0{number}T12:00:00.000000Z"))
        names: Names = {}
        for one in RECORDED:
            run_id, task, role, number, turn = one
            given = snapshot(segment("Some text."))
            session = session_id(RunId(run_id), TaskId(task), 1, role, number)
            # A role of the run has the run's own task; one that another program recorded may have none.
            task_id = None if task == OF_RUN and run_id == "r2" else task
            asked = replace(given.request, run_id=run_id, session_id=session, task_id=task_id, role=role, turn=turn)
            given = replace(given, request=asked)
            context = assemble(given)
            assert isinstance(context, AssembledContext)
            store.assemblies.record(context, snapshot=given)
            names[context.manifest_id] = one
        yield store, names


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("r1/T1", 0),
        ("r1/main", 2),
        ("r1/main@1", 1),
        ("r1/@run/main", 2),
        ("r1/scheduler", 3),
        ("r1:@run:1:main:1@1", 1),
        ("newest/main", 4),
        ("newest/main/main", 5),
        ("newest/@run/main", 7),
        ("r2/a/reviewer", 8),
        ("r2/a/reviewer@1", 8),
    ],
)
def test_a_selector_means_one_assembly(given: str, meant: int, recorded: tuple[Store, Names]) -> None:
    store, names = recorded
    assert names[selected_id(store, given)] == RECORDED[meant]


@pytest.mark.parametrize(("number", "before"), [(2, 1), (7, 6)])
def test_what_stood_before_is_of_the_same_task_and_role(
    number: int, before: int, recorded: tuple[Store, Names]
) -> None:
    store, names = recorded
    of = {one: manifest_id for manifest_id, one in names.items()}
    manifest = store.assemblies.get(of[RECORDED[number]]).manifest
    assert names[previous_id(store, manifest)] == RECORDED[before]


@pytest.mark.parametrize("number", [0, 1, 3, 5, 6])
def test_nothing_stands_before_the_first(number: int, recorded: tuple[Store, Names]) -> None:
    store, names = recorded
    of = {one: manifest_id for manifest_id, one in names.items()}
    with pytest.raises(NotFoundError, match="nothing stands before it"):
        previous_id(store, store.assemblies.get(of[RECORDED[number]]).manifest)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("r1/main@3", "no assembly r1/main@3 is on record; it has the turns 1 to 2"),
        ("r1/compactor", "no assembly r1/compactor is on record"),
        ("r9/main", "There is no run r9"),
    ],
)
def test_what_is_not_there_is_said(given: str, said: str, recorded: tuple[Store, Names]) -> None:
    with pytest.raises(NotFoundError) as told:
        selected_id(recorded[0], given)
    assert told.value.message.startswith(said)
