"""A graph of 10,000 tasks: time to load, to validate and to plan waves, and memory; each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench

REPO = Path(__file__).parents[2]
TASKS = 10_000
MAX_LOAD_SECONDS = 4.0
MAX_PLAN_SECONDS = 1.0
MAX_MEMORY_MB = 300

MEASURE = """
import json, resource, sys, time

text = open(sys.argv[1], encoding="utf-8").read()
from aircoding.graph.plan_file import parse_plan
from aircoding.graph.task_graph import TaskGraph
from aircoding.graph.waves import plan_waves

start = time.process_time()
plan = parse_plan(text, "project:tasks.yaml")
loaded = time.process_time()
graph = TaskGraph.of(plan)
graph.critical_path()
waves = plan_waves(graph)
done = time.process_time()
print(json.dumps({
    "tasks": len(graph),
    "waves": len(waves.waves),
    "bytes": len(text),
    "load_seconds": round(loaded - start, 2),
    "plan_seconds": round(done - loaded, 2),
    "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
}))
"""

SHAPES = {
    "own files": lambda n: f'["src/module{n}/**", tests/test_{n}.py]',
    "one folder": lambda n: f"[src/file_{n}.py, src/file_{n}_test.py]",
    "a shared file in ten": lambda n: f'["src/module{n}/**"{", CHANGELOG.md" if n % 10 == 0 else ""}]',
    "by name anywhere": lambda n: f'["**/part_{n}.py"]',
}


def plan_of(area) -> str:
    rows = ["version: 1", "goal: a graph as large as a big migration", "tasks:"]
    for n in range(TASKS):
        before = sorted({n // 2, n // 3}) if n > 2 else [0] if n else []
        rows += [
            f"  - id: T{n}",
            f"    title: Move module {n} to the new interface",
            "    description: |",
            f"      Replace the calls of the old interface in module {n}.",
            "      Keep the behaviour; add a test for each call that changes.",
            f"    depends_on: [{', '.join(f'T{one}' for one in before)}]",
            f"    write_area: {area(n)}",
            f"    reads: [docs/interface.md, src/module{n}/main.py]",
            "    acceptance: [no call of the old interface is left, the tests pass]",
            f'    verify: ["python -m pytest tests/test_{n}.py"]',
            "    tags: [migration]",
        ]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_ten_thousand_tasks(shape, tmp_path, capsys):
    path = tmp_path / "tasks.yaml"
    path.write_text(plan_of(SHAPES[shape]))
    command = [sys.executable, "-c", MEASURE, str(path)]
    found = json.loads(subprocess.run(command, cwd=REPO, check=True, capture_output=True, text=True).stdout)
    with capsys.disabled():
        print(f"\n{shape}: {found}")
    assert found["tasks"] == TASKS
    assert found["load_seconds"] < MAX_LOAD_SECONDS
    assert found["plan_seconds"] < MAX_PLAN_SECONDS
    assert found["peak_memory_mb"] < MAX_MEMORY_MB
