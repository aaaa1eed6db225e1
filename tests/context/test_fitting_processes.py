"""The same project gives the same bytes in another process, folder, locale and time zone, whatever lists its files."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

from support.demo_runs import AIR
from support.projects import make_commit, make_project

from aircoding.sources.trust import trust_project

PLAN = """version: 1
goal: A parser
tasks:
- id: T1
  title: Let parse_header accept folded lines
  write_area: ["src/mail/**"]
  reads: ["src/**/*.py", README.md]
  acceptance: [folded headers are joined]
"""


def project_files() -> dict[str, str]:
    """A project whose files are more than a window of 200,000 tokens lets a session hold."""
    chance = random.Random(11)
    words = [f"{word}_{n}" for n in range(60) for word in ("parse", "header", "größe", "名前", "folded", "item")]

    def text(lines: int) -> str:
        return "".join(" ".join(chance.choices(words, k=9)) + "\n" for _ in range(lines))

    files = {f"src/{folder}/m{n:02}.py": text(120) for folder in ("mail", "web", "ä") for n in range(15)}
    files |= {f"{folder}AGENTS.md": f"# House\n\n{text(20)}" for folder in ("", "src/", "src/mail/", "docs/")}
    return files | {"README.md": text(50), ".air/shared/plan/tasks.yaml": PLAN}


def build(root: Path, home: Path, **environ: str) -> bytes:
    arguments = ["context", "build", "--role", "executor", "--task", "T1", "--model", "claude-haiku-4-5", "--json"]
    env = {**os.environ, "AIR_HOME": str(home), **environ}
    return subprocess.run([*AIR, *arguments], cwd=root, env=env, check=True, capture_output=True).stdout


def test_another_process_with_other_surroundings_gives_equal_bytes(tmp_path: Path) -> None:
    files, home = project_files(), tmp_path / "home"
    shuffled = list(files.items())
    random.Random(5).shuffle(shuffled)
    roots = [
        make_commit(make_project(tmp_path / "one", files)),
        make_commit(make_project(tmp_path / "other" / "deeper", dict(shuffled))),
    ]
    for root in roots:
        trust_project(home, root)

    one = build(roots[0], home, LC_ALL="C.UTF-8", TZ="UTC", PYTHONHASHSEED="1")
    two = build(roots[1], home, LC_ALL="C", TZ="Asia/Kathmandu", PYTHONHASHSEED="4242")

    assert one == two
    outcomes = {note["outcome"] for note in json.loads(one)["context"]["omissions"] if note["reason"] == "budget"}
    assert {"excerpted", "referenced"} <= outcomes, "the project is large enough to be cut"
