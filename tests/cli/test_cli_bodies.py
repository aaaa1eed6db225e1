"""`[store] bodies = "digests"`: after a run its texts are in no file of the record, and its account answers."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest
from fleet.worlds import done, git, script, write
from support.demo_runs import air, rows

from aircoding.app.trusting import trust_project
from aircoding.settings import load_settings
from aircoding.store.dictionary import DICTIONARY

RULE = "Every harbour keeps a marmalade ledger of its own."
TASK = "Write down what the northern lighthouse whispered."
OUTPUT = "velvet-thunder-output"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after a small run whose texts are not to be kept."""
    root = tmp_path_factory.mktemp("project") / "p"
    task = {
        "id": "T1",
        "title": "Items",
        "description": TASK,
        "write_area": ["a.txt"],
        "verify": ["cat a.txt"],
    }
    files = {
        ".gitignore": ".air/local/\n",
        ".air/config.toml": '[store]\nbodies = "digests"\n',
        ".air/shared/plan/tasks.yaml": json.dumps({"version": 1, "goal": "test", "tasks": [task]}),
        ".air/shared/rules/left-out.md": "---\nkind: project\npaths: [docs/**]\n---\nNever here.\n",
        "AGENTS.md": f"{RULE}\n",
        "script.yaml": json.dumps({"scripts": [script("executor", "T1", write("a.txt", f"{OUTPUT}\n"), done())]}),
        "a.txt": "one\n",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIR_HOME", str(root.parent / "home"))
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git(root, "init", "-q", "--initial-branch=main")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "First")
        trust_project(root)
        ended = air(root, "run", "--provider", "scripted:script.yaml", "--yes", "--json")
        assert ended.code == 0, ended.output
    return root


@pytest.fixture(autouse=True)
def _home(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIR_HOME", str(project.parent / "home"))


def test_no_text_of_a_prompt_is_in_any_file_of_the_record(project: Path) -> None:
    assert rows(project, "SELECT count(*) FROM texts WHERE body IS NOT NULL") == [(0,)]
    for file in (project / ".air/local").glob("*.db*"):
        raw = file.read_bytes()
        streams = [
            _inflated(raw[match.start() :]) for match in re.finditer(rb"x[\x01\x20\x5e\x7d\x9c\xbb\xda\xf9]", raw)
        ]
        for text in (RULE, TASK, OUTPUT):
            assert text.encode() not in raw, (file.name, text)
            assert not any(text.encode() in stream for stream in streams), (file.name, text)


HEADER = re.compile(rb"x[\x01\x20\x5e\x7d\x9c\xbb\xda\xf9]")
"""How what zlib packed begins, at each level, with and without a dictionary."""


def _inflated(data: bytes) -> bytes:
    """What a compressed text that begins here would say, as far as it goes."""
    for unpacker in (zlib.decompressobj(), zlib.decompressobj(zdict=DICTIONARY)):
        try:
            return unpacker.decompress(data, 100_000)
        except zlib.error:
            continue
    return b""


def test_the_account_answers(project: Path) -> None:
    why_not = air(project, "context", "why-not", ".air/shared/rules/left-out.md", "--role", "executor")
    assert (why_not.code, "docs/**" in why_not.output) == (0, True)
    who = air(project, "context", "who-saw", "AGENTS.md", "--json")
    assert (who.code, [one["task_id"] for one in who.result["witnesses"] if one["saw"]]) == (0, ["T1"])  # type: ignore[attr-defined,index,union-attr]
    status = air(project, "status")
    assert (status.code, "1/1" in status.output) == (0, True)


@pytest.mark.parametrize("question", [["why", "marmalade"], ["replay", "--all"]])
def test_a_question_about_texts_says_that_they_are_not_kept(project: Path, question: list[str]) -> None:
    asked = air(project, "context", *question)
    assert (asked.code, "are not kept" in asked.output) == (2, True), asked.output


def test_a_project_cannot_keep_what_its_user_does_not_want_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIR_HOME", str(tmp_path / "home"))
    for folder, value in (("home", "digests"), ("p/.air", "full")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.toml").write_text(f'[store]\nbodies = "{value}"\n')
    assert load_settings(tmp_path / "p").store.bodies == "digests"
