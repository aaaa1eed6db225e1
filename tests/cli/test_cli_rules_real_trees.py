"""The rule trees of three public repositories: each answer is whole, and no order of a directory listing changes it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import air

from aircoding.app.rule_folders import RuleFolder, open_folder, read_folder
from aircoding.app.worker_rules import WorkerRequest, explain_in
from aircoding.records.jsonable import jsonable
from aircoding.rules.rule_names import classify
from aircoding.rules.tools.explain import FOREIGN_TOOLS, explain_as

TREES = Path(__file__).parents[2].parent / "shared" / "data" / "rule-trees"
NAMES = ("koku", "pydantic-ai", "task-master")
DRAWN, SAMPLE = 50, 10
"""Paths of each tree; two minutes for 50, so that every run takes a sample."""

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TREES.is_dir(), reason=f"the rule trees are not beside the checkout ({TREES.name})"),
]


def paths_of(name: str) -> list[str]:
    return (TREES / f"{name}.paths.txt").read_text().split("\n")


def planted(name: str, root: Path, order: random.Random) -> Path:
    """Make the tree with all its paths, in an order of its own; git cannot list it, so the folders are."""
    rules = {path.relative_to(TREES / name).as_posix() for path in (TREES / name).rglob("*") if path.is_file()}
    names = sorted({*rules, *(path for path in paths_of(name) if path)})
    order.shuffle(names)
    for path in names:
        made = root / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes((TREES / name / path).read_bytes() if path in rules else b"")
    (root / ".git").write_text("gitdir: nowhere\n")
    return root


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEX_HOME", raising=False)


def answers(around: RuleFolder, path: str) -> Iterator[tuple[str, Any]]:
    folder = replace(around, path=path)
    tree = read_folder(folder)
    for tool in FOREIGN_TOOLS:
        yield tool.value, jsonable(explain_as(tree, folder.path, tool))
    yield "worker", jsonable(explain_in(folder, tree, WorkerRequest()).files)


@pytest.mark.parametrize(
    ("name", "count"),
    [*((name, SAMPLE) for name in NAMES), *(pytest.param(name, DRAWN, marks=pytest.mark.bench) for name in NAMES)],
)
def test_e16_the_order_of_listings_changes_nothing_and_no_file_is_forgotten(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = random.Random(name).sample(sorted(path for path in paths_of(name) if path), count)
    first = planted(name, tmp_path / "first" / name, random.Random(1))
    second = planted(name, tmp_path / "second" / name, random.Random(2))
    files = {path.relative_to(first).as_posix() for path in first.rglob("*") if path.is_file()}
    rules = {path for path in files if classify(path) is not None}
    listed_first = open_folder(first)
    before = {path: dict(answers(listed_first, path)) for path in drawn}

    listed, shuffles = os.listdir, random.Random(3)

    def shuffled(path: Any = ".") -> list[Any]:
        names = listed(path)
        shuffles.shuffle(names)
        return names

    monkeypatch.setattr(os, "listdir", shuffled)
    listed_second = open_folder(second)
    for path in drawn:
        for tool, account in answers(listed_second, path):
            assert account == before[path][tool], (path, tool)
            held = [one["path"] for one in account["entries"]]
            assert len(held) == len(set(held))
            assert rules <= set(held), (path, tool)


@pytest.mark.parametrize("name", NAMES)
def test_compare_as_a_process_has_every_tool_and_fits_its_prose(name: str, tmp_path: Path) -> None:
    root = planted(name, tmp_path / name, random.Random(4))
    path = random.Random(name).choice(sorted(path for path in paths_of(name) if path))
    ended = air(root, "rules", "compare", path)
    assert ended.code == 0, ended.output
    assert "worker  codex" in ended.output
    prose = [line for line in ended.output.splitlines() if line.startswith(("- ", "  "))]
    assert prose
    assert all(len(line) <= 100 or " " not in line.strip("- ") for line in prose)
