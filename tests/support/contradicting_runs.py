"""A run on record whose rules contradict each other: what questions about omissions, conflicts and costs are put to."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleet.worlds import done, make_fleet, script, use, write

__all__ = ["contradicting_run"]

SCOPED = "---\nkind: project\nid: licence\npaths:\n  - b.txt\n---\nBegin with a licence line.\n"
FILES = {
    ".air/shared/rules/licence.md": SCOPED,
    ".air/shared/rules/indent.md": "---\nkind: project\n---\n## Indent\n\nUse tabs for indentation.\n",
    "AGENTS.md": "# Style\n\nUse spaces for indentation.\n",
}
TASKS = [
    {"id": "T1", "title": "One", "write_area": ["a.txt"]},
    {"id": "T2", "title": "Two", "write_area": ["b.txt"], "depends_on": ["T1"]},
]


def contradicting_run(paths: pytest.TempPathFactory) -> Path:
    """Record a run of two tasks of several turns, and return its project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIR_HOME", str(paths.mktemp("home")))
        patch.setenv("HOME", str(paths.mktemp("user")))
        turns = [
            script("executor", "T1", use("fs_read", path="a.txt"), write("a.txt", "two\n"), done()),
            script("executor", "T2", write("b.txt", "two\n"), done()),
        ]
        fleet = make_fleet(paths.mktemp("run") / "project", TASKS, turns, files=FILES)
        assert fleet.drive() == "done"
        fleet.store.close()
    return fleet.root
