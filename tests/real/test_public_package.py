"""A public package as repository: three tasks by a scripted model, and its own tests pass on the merged result."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from support.demo_runs import air, rows

from aircoding.app.trusting import trust_project

pytestmark = pytest.mark.network

PACKAGE = "iniconfig==2.3.0"
TEST = "python -m pytest -q testing -p no:cacheprovider"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution, as a repository of its own."""
    folder = tmp_path_factory.mktemp("package")
    fetched = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"),
            *("--dest", str(folder), PACKAGE),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    archives = list(folder.glob("iniconfig-*.tar.gz"))
    if not archives:
        pytest.skip(f"the source distribution cannot be fetched: {fetched.stderr.strip()[-200:]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    root = next(path for path in folder.iterdir() if path.is_dir())
    (root / ".gitignore").write_text("__pycache__/\n*.egg-info/\n")
    return root


def _write(path: str, content: str) -> dict[str, object]:
    return {"name": "fs_write", "input": {"path": path, "content": content}}


def _session(task: str, files: list[dict[str, object]], verify: str) -> dict[str, object]:
    changed = [str(file["input"]["path"]) for file in files]  # type: ignore[index]
    result = {
        "status": "done",
        "summary": f"{task} is done.",
        "changed_files": changed,
        "verification": [{"command": verify, "passed": True, "detail": "ran here"}],
    }
    turns = [
        {"text": "I look around.", "tools": [{"name": "fs_glob", "input": {"pattern": "**/*.py"}}]},
        {"text": "I write.", "tools": files},
        {"text": "I verify.", "tools": [{"name": "shell", "input": {"command": verify}}]},
        {"text": "Done.", "tools": [{"name": "finish", "input": result}]},
    ]
    return {"match": {"role": "executor", "task": task}, "turns": turns}


def test_three_tasks_are_merged_and_the_packages_own_tests_pass(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = (
        '"""Count what an ini file holds."""\n\nfrom __future__ import annotations\n\nfrom . import IniConfig\n\n\n'
        "def count_options(config: IniConfig) -> int:\n"
        '    """Return the number of options over all sections."""\n'
        "    return sum(len(section) for section in config.sections.values())\n"
    )
    test = (
        "from iniconfig import IniConfig\nfrom iniconfig.counting import count_options\n\n\n"
        "def test_options_are_counted():\n"
        '    config = IniConfig("x.ini", "[a]\\nb=1\\nc=2\\n[d]\\ne=3\\n")\n    assert count_options(config) == 3\n'
    )
    source = "src/iniconfig" if (repository / "src").is_dir() else "iniconfig"
    tasks = [
        {"id": "code", "title": "Count options", "write_area": [f"{source}/counting.py", "testing/test_counting.py"]},
        {"id": "docs", "title": "Say so in the documentation", "write_area": ["COUNTING.rst"]},
        {"id": "both", "title": "Join the two", "depends_on": ["code", "docs"], "write_area": ["COUNTING.rst"]},
    ]
    for task in tasks:
        task["verify"] = [TEST]
    plan = {"version": 1, "goal": "Options can be counted", "tasks": tasks}
    scripts = [
        _session("code", [_write(f"{source}/counting.py", module), _write("testing/test_counting.py", test)], TEST),
        _session("docs", [_write("COUNTING.rst", "Counting\n========\n")], TEST),
        _session("both", [], TEST),
    ]
    scripts[2]["turns"][1:2] = [  # type: ignore[index]
        {"text": "I read.", "tools": [{"name": "fs_read", "input": {"path": "COUNTING.rst"}}]},
        {"text": "I write.", "tools": [_write("COUNTING.rst", "Counting\n========\n\nUse ``count_options``.\n")]},
    ]
    (repository / ".air/shared/plan").mkdir(parents=True)
    (repository / ".air/shared/plan/tasks.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))
    (repository / ".air/script.yaml").write_text(yaml.safe_dump({"scripts": scripts}, sort_keys=False))
    (repository / ".air/config.toml").write_text(
        f'[worktree.env]\nPYTHONPATH = "{source.removesuffix("/iniconfig")}"\n'
    )
    (repository / ".air/.gitignore").write_text("local/\n")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "T"],
        ["config", "user.email", "t@localhost"],
        ["add", "-A"],
        ["commit", "-q", "-m", "Import"],
    ):
        subprocess.run(["git", *arguments], cwd=repository, check=True)
    trust_project(repository)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)

    ended = air(repository, "run", "--provider", "scripted:.air/script.yaml", "--json")

    assert ended.code == 0, ended.output
    assert {state for (state,) in rows(repository, "SELECT state FROM tasks")} == {"done"}
    assert (repository / "COUNTING.rst").read_text().endswith("``count_options``.\n")
    merged = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "testing", "-p", "no:cacheprovider"],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository / source.removesuffix("iniconfig").rstrip("/"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert merged.returncode == 0, merged.stdout + merged.stderr
