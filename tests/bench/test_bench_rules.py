"""What `rules explain` costs as a process, on the largest of the real trees."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest
from support.projects import make_commit, make_project

from aircoding.rules.tools.explain import FOREIGN_TOOLS

TREES = Path(__file__).parents[2].parent / "shared" / "data" / "rule-trees"
NAME = "pydantic-ai"
PATH = "pydantic_ai_slim/pydantic_ai/models/openai.py"
RUNS = 20
MOST_MILLISECONDS = 400.0

pytestmark = [
    pytest.mark.bench,
    pytest.mark.shared,
    pytest.mark.skipif(not TREES.is_dir(), reason=f"the rule trees are not beside the checkout ({TREES.name})"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {path: b"" for path in (TREES / f"{NAME}.paths.txt").read_text().split("\n") if path}
    for path in (TREES / NAME).rglob("*"):
        if path.is_file():
            files[path.relative_to(TREES / NAME).as_posix()] = path.read_bytes()
    return make_commit(make_project(tmp_path_factory.mktemp("rules") / NAME, files))


@pytest.mark.parametrize("tool", [None, *FOREIGN_TOOLS], ids=lambda tool: "ours" if tool is None else tool.value)
def test_explain_answers_at_once(root: Path, tool: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    """The processor time counts: on a machine that is shared the clock measures the others."""
    command = [sys.executable, "-m", "aircoding", "rules", "explain", PATH, *(["--as", tool] if tool else [])]
    clock, spent = [], []
    for _ in range(RUNS):
        before, start = _spent(), time.perf_counter()
        env = {**os.environ, "HOME": str(root.parent)}  # not the project itself: rule files of a home are not searched
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL, env=env)
        clock.append((time.perf_counter() - start) * 1_000)
        spent.append((_spent() - before) * 1_000)
    with capsys.disabled():
        print(f"\n{tool or 'ours'}: {median(spent):.0f} ms of processor time, {median(clock):.0f} ms by the clock")
    assert median(spent) < MOST_MILLISECONDS


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
