"""Run the demo in processes of its own, kill it, resume it, and read what it left."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from aircoding.app.demo import make_demo_project
from support.warm import run_warm

AIR = [sys.executable, "-m", "aircoding"]
RUN = ["run", "--provider", "scripted:.air/demo-script.yaml", "--concurrency", "4", "--json"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its code, its last JSON line, all that it printed."""

    code: int
    result: dict[str, object]
    output: str


def demo_project(folder: Path) -> Path:
    """Make the demo's project, trusted in the present AIR_HOME."""
    return make_demo_project(folder)


def air(
    root: Path, *arguments: str, timeout_seconds: float = 120, program: Path | None = None, cold: bool = False
) -> Ended:
    """Run the command line in `root`, in a process of its own, and wait for it.

    It is forked from one that has imported the program (see `support.warm`). `cold` starts a new Python instead, with
    a seed of hashes of its own; so does `program`, a folder with another copy of the program.
    """
    if program is None and not cold:
        done = run(root, *arguments, timeout_seconds=timeout_seconds)
    else:
        env = _env() if program is None else {**_env(), "PYTHONPATH": str(program)}
        done = subprocess.run(
            [*AIR, *arguments], cwd=root, env=env, capture_output=True, text=True, timeout=timeout_seconds
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return Ended(done.returncode, json.loads(lines[-1]) if lines else {}, done.stdout + done.stderr)


def run(root: Path, *arguments: str, timeout_seconds: float = 600) -> subprocess.CompletedProcess[str]:
    """Run the command line in `root`, in a process that is forked from a warm one."""
    return run_warm("aircoding", list(arguments), cwd=root, env=_env(), timeout_seconds=timeout_seconds)


def kill_after(root: Path, arguments: list[str], seconds: float) -> bool:
    """Start a command, SIGKILL it after some time, and say whether it was still running."""
    try:
        run(root, *arguments, timeout_seconds=seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}


def final_tree(root: Path) -> str:
    """Return the tree of the branch that the run was started from."""
    return subprocess.run(
        ["git", "rev-parse", "main^{tree}"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def rows(root: Path, query: str) -> list[tuple[object, ...]]:
    """Ask the record."""
    connection = sqlite3.connect(f"file:{root}/.air/local/air.db?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _has_run(root: Path) -> bool:
    """Whether a run is on record; a kill may come before the file or its tables are made."""
    try:
        return bool(rows(root, "SELECT 1 FROM runs"))
    except sqlite3.OperationalError:
        return False


def kill_and_resume(root: Path, kills: int, chance: random.Random, *, longest_seconds: float = 6.0) -> Ended:
    """Start a run, kill it `kills` times at random moments, resume each time, and let it end."""
    arguments = RUN
    done = 0
    deadline = time.monotonic() + 60 + kills * longest_seconds * 3
    while done < kills and time.monotonic() < deadline:
        if not kill_after(root, arguments, chance.uniform(0.3, longest_seconds)):
            break
        done += 1
        arguments = ["resume", "--json"] if _has_run(root) else RUN
    return air(root, *arguments)
