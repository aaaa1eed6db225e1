"""`blame`, `why`, `why-not`, `who-saw` over a generated fleet: functions under 300 ms, commands under 1.5 s."""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pytest
from bench.fleet_store import FleetStore

from aircoding.app.questions.asking import Asked, Page
from aircoding.app.questions.blames import blame_recorded
from aircoding.app.questions.why import who_saw_subject, why_not_subject, why_text

FUNCTION_SECONDS, COMMAND_SECONDS, WORST_SECONDS = 0.3, 1.5, 3.0
SUBJECTS = 15
EVERYWHERE = Asked(run_id="all", role="executor")


def _subjects(fleet: FleetStore) -> list[str]:
    """Return paths and rules of the record, those that the generator names first."""
    with sqlite3.connect(fleet.database) as raw:
        uris = raw.execute("SELECT DISTINCT uri FROM outcomes WHERE uri LIKE 'project:%' ORDER BY uri").fetchall()
        rules = raw.execute("SELECT DISTINCT rule_id FROM outcomes WHERE rule_id IS NOT NULL ORDER BY 1").fetchall()
    raw.close()
    named = [fleet.standing_rule, fleet.changed_rule, fleet.scoped_rule, fleet.file]
    found = [*named, *(uri.removeprefix("project:") for (uri,) in uris), *(rule for (rule,) in rules)]
    return list(dict.fromkeys(found))[:SUBJECTS]


def _texts(fleet: FleetStore) -> list[str]:
    texts = [fleet.text_once, fleet.text_everywhere, fleet.text_once[4:30], "no text of theirs holds this"]
    words = {word for text in texts for word in text.split() if len(word) > 4}
    return [*texts, *sorted(words), *(f"word number {n}" for n in range(SUBJECTS))][:SUBJECTS]


def _manifests(fleet: FleetStore) -> list[str]:
    """Return assemblies from all over the record: early and late turns of early and late runs."""
    with sqlite3.connect(fleet.database) as raw:
        (last,) = raw.execute("SELECT max(assembly) FROM assemblies").fetchone()
        wanted = [1 + (last - 1) * number // (SUBJECTS - 1) for number in range(SUBJECTS)]
        marks = ", ".join("?" * SUBJECTS)
        found = raw.execute(f"SELECT manifest_id FROM assemblies WHERE assembly IN ({marks})", wanted).fetchall()
    raw.close()
    return [manifest_id for (manifest_id,) in found]


@dataclass(frozen=True)
class Taken:
    """Seconds of one kind of question."""

    median: float
    worst: float


def _taken(ask: Callable[[str], object], subjects: Iterable[str]) -> Taken:
    taken = []
    for subject in subjects:
        started = time.perf_counter()
        ask(subject)
        taken.append(time.perf_counter() - started)
    assert len(taken) == SUBJECTS
    return Taken(statistics.median(taken), max(taken))


def _check_functions(fleet: FleetStore) -> None:
    root, subjects = fleet.root, _subjects(fleet)
    figures = {
        "why-not": _taken(lambda one: why_not_subject(root, one, EVERYWHERE, manifest_id=None, page=Page()), subjects),
        "who-saw": _taken(lambda one: who_saw_subject(root, one, EVERYWHERE, page=Page()), subjects),
        "why": _taken(lambda one: why_text(root, one, EVERYWHERE, manifest_id=None, page=Page()), _texts(fleet)),
        "blame": _taken(lambda one: blame_recorded(root, one), _manifests(fleet)),
    }
    _print("functions", fleet, figures)
    _require(figures, FUNCTION_SECONDS)


def _print(what: str, fleet: FleetStore, figures: Mapping[str, Taken]) -> None:
    told = ", ".join(
        f"{name} {one.median * 1000:.0f} ms (worst {one.worst * 1000:.0f})" for name, one in figures.items()
    )
    print(f"\nmedians of {what} on {fleet.assemblies:,} assemblies: {told}")


def _require(figures: Mapping[str, Taken], most_seconds: float) -> None:
    slow = {name: one for name, one in figures.items() if one.median >= most_seconds or one.worst >= WORST_SECONDS}
    assert slow == {}


def _check_commands(fleet: FleetStore) -> None:
    environment = {**os.environ, "AIR_HOME": str(fleet.home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is not compiled each time that it starts

    def command(name: str, *options: str) -> Callable[[str], object]:
        arguments = [sys.executable, "-m", "aircoding", "context", name, *options]
        return lambda one: subprocess.run(
            [*arguments, one], cwd=fleet.root, env=environment, check=True, capture_output=True
        )

    figures = {
        "why-not": _taken(command("why-not", "--run", "all"), _subjects(fleet)),
        "who-saw": _taken(command("who-saw", "--run", "all"), _subjects(fleet)),
        "why": _taken(command("why", "--run", "all"), _texts(fleet)),
        "blame": _taken(command("blame"), _manifests(fleet)),
    }
    _print("commands", fleet, figures)
    _require(figures, COMMAND_SECONDS)


def test_questions_of_a_few_runs_are_answered_at_once(fleet_sample: FleetStore) -> None:
    _check_functions(fleet_sample)


@pytest.mark.bench
def test_questions_are_answered_at_once(fleet_store: FleetStore) -> None:
    _check_functions(fleet_store)
    _check_commands(fleet_store)


@pytest.mark.bench
def test_questions_are_answered_at_once_at_full_scale(full_fleet_store: FleetStore) -> None:
    _check_functions(full_fleet_store)
    _check_commands(full_fleet_store)


@pytest.mark.bench
def test_the_text_that_stands_once_is_found_once(fleet_store: FleetStore) -> None:
    found = why_text(fleet_store.root, fleet_store.text_once, Asked(run_id="all"), manifest_id=None, page=Page())

    assert found.total == 1
    assert found.sightings[0].manifest_id == fleet_store.once_manifest_id
