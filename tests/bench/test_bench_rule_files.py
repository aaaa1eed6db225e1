"""Reading and assembling rule files of several tools: 200 and 2,000 of them, time in proportion."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.projects import Desk, make_project

from aircoding.context.assembler import assemble
from aircoding.records.ids import TaskId
from aircoding.records.manifest import AssembledContext
from aircoding.records.tasks import TaskSpec

pytestmark = pytest.mark.bench

COUNTS = (200, 2_000)


def files(count: int) -> dict[str, str]:
    """A quarter each of AGENTS.md, CLAUDE.md that imports it, scoped .claude/rules and Cursor rules."""
    found = {"src/a.py": "x = 1\n"}
    for number in range(count // 4):
        folder = f"src/pkg{number}"
        found[f"{folder}/AGENTS.md"] = f"# Package {number}\n\n## Tests\n\nRun `make test-{number}`.\n"
        found[f"{folder}/CLAUDE.md"] = f"@AGENTS.md\n\n## Notes\n\nKeep module {number} small.\n"
        found[f".claude/rules/r{number}.md"] = (
            f"---\npaths: ['{folder}/**/*.py']\n---\nPrefer dataclasses in {number}.\n"
        )
        found[f".cursor/rules/c{number}.mdc"] = f"---\nglobs: {folder}/**\n---\nName tests test_{number}.\n"
    return found


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_time_grows_with_the_number_of_files(tmp_path: Path) -> None:
    measured: dict[str, list[float]] = {"read": [], "read again": [], "assemble": []}
    for count in COUNTS:
        root = make_project(tmp_path / str(count), files(count))
        desk = Desk(root=root, home=tmp_path / "home")
        gatherer = desk.gatherer()
        measured["read"].append(seconds(gatherer.rules))
        measured["read again"].append(min(seconds(gatherer.rules) for _ in range(3)))
        brief = desk.brief(task=TaskSpec(id=TaskId("T1"), title="All", write_area=("src/**",)))
        frame = gatherer.gather(brief, turn=1, messages=(), frozen=None, touched_paths=())
        measured["assemble"].append(seconds(partial(assemble, frame)))
        assert isinstance(assemble(frame), AssembledContext)
    for what, (few, many) in measured.items():
        print(f"{what}: {few:.3f} s for {COUNTS[0]} rule files, {many:.3f} s for {COUNTS[1]}")
        assert many < few * 10 * 2.5 + 0.05
