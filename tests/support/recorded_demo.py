"""The demo, run once for all tests of a session: each module that asks its record has a copy of the project."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from aircoding.app.trusting import trust_project
from support.demo_runs import run

__all__ = ["demo_copy", "recorded_demo"]


def recorded_demo(factory: pytest.TempPathFactory) -> Path:
    """Return the project after `aircoding demo`, to be read only; the first process that asks for it runs the demo.

    `transcript.txt` is what the demo said. All processes of one session have the same project.
    """
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "recorded-demo"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        root, said = shared / "project", shared / "said.json"
        if not said.exists():
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("AIR_HOME", str(shared / "home"))
                ended = run(shared, "demo", "--dir", str(root))
            root.mkdir(exist_ok=True)
            (root / "transcript.txt").write_text(ended.stdout + ended.stderr)
            said.write_text(json.dumps([ended.returncode, ended.stdout + ended.stderr]))
        code, text = json.loads(said.read_text())
        assert code == 0, text
    return root


def demo_copy(factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the demo's project after its run; `home` beside it, an AIR_HOME, trusts it."""
    folder = factory.mktemp("demo")
    root = folder / "project"
    shutil.copytree(recorded_demo(factory), root, symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIR_HOME", str(folder / "home"))
        trust_project(root)
    return root
