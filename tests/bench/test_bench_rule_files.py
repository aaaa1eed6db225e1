"""Rule files of several tools and skills: 200 and 30 of them, 2,000 and 300, time in proportion."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
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
from aircoding.sources.skill_files import read_skills

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
    for number in range(count * 3 // 20):
        found[f".agents/skills/skill-{number}/SKILL.md"] = (
            f"---\nname: skill-{number}\ndescription: Carry out step {number} of a release.\n"
            f"triggers: [step {number}]\n---\n\n# Step {number}\n\nRun `make step-{number}`, then look at its output.\n"
        )
    return found


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_time_grows_with_the_number_of_files(tmp_path: Path) -> None:
    measured: dict[str, list[float]] = {"read": [], "read again": [], "read skills": [], "assemble": []}
    for count in COUNTS:
        root = make_project(tmp_path / str(count), files(count))
        desk = Desk(root=root, home=tmp_path / "home")
        gatherer = desk.gatherer()
        measured["read"].append(seconds(gatherer.rules))
        measured["read again"].append(min(seconds(gatherer.rules) for _ in range(3)))
        measured["read skills"].append(seconds(partial(read_skills, root, tmp_path / "home", trusted=True)))
        brief = desk.brief(task=TaskSpec(id=TaskId("T1"), title="All", write_area=("src/**",)))
        frame = gatherer.gather(brief, turn=1, messages=(), frozen=None, touched_paths=())
        measured["assemble"].append(seconds(partial(assemble, frame)))
        assert isinstance(assemble(frame), AssembledContext)
    for what, (few, many) in measured.items():
        print(f"{what}: {few:.3f} s for {COUNTS[0]} rule files, {many:.3f} s for {COUNTS[1]}")
        assert many < few * 10 * 2.5 + 0.05


@pytest.mark.parametrize(
    "asked",
    [
        ["rules", "explain", "src/pkg7/a.py"],
        ["rules", "explain", "src/pkg7/a.py", "--as", "claude-code"],
        ["skills", "list"],
    ],
    ids=["ours", "claude-code", "skills"],
)
def test_a_cold_start_grows_with_the_number_of_files(tmp_path: Path, asked: list[str]) -> None:
    spent: list[float] = []
    for count in COUNTS:
        root = make_project(tmp_path / str(count), files(count))
        env = {**os.environ, "HOME": str(tmp_path), "AIR_HOME": str(tmp_path / "home")}
        spent.append(min(_process_seconds([sys.executable, "-m", "aircoding", *asked], root, env) for _ in range(3)))
    few, many = spent
    print(f"{' '.join(asked)}: {few:.3f} s of processor time for {COUNTS[0]} rule files, {many:.3f} s for {COUNTS[1]}")
    assert many < few * 10


def _process_seconds(command: list[str], root: Path, env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=root, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
