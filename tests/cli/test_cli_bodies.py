"""`[store] bodies = "digests"`: after a run its texts are in no file of the record, and its account answers."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest
from fleet.worlds import done, git, script, write
from support.demo_runs import air, rows
from support.recorded_runs import bare_project, record_run

from aircoding.app.questions.asking import Asked, Page
from aircoding.app.questions.expansions import expand_reference
from aircoding.app.questions.why import why_not_subject, why_text
from aircoding.app.trusting import trust_project
from aircoding.errors import NotFoundError
from aircoding.settings import load_settings
from aircoding.store import open_store
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


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A project with two runs whose prompts hold the same text, the newer of which let its texts go."""
    root = bare_project(tmp_path / "shared")
    with open_store(root / ".air/local/air.db") as store:
        for run_id, day in (("r-kept", 1), ("r-gone", 2)):
            record_run(store, run_id, [f"{RULE}\n"], created_at=f"2026-12-0{day}T12:00:00Z")
        store.pruner.let_go(["r-gone"])
        store.pruner.sweep(held=frozenset(), ended_at=None)
    return root


def test_a_text_that_another_run_keeps_says_nothing_of_a_run_without_texts(shared: Path) -> None:
    everywhere = why_text(shared, "marmalade", Asked(run_id="all"), manifest_id=None, page=Page())
    by_text = why_not_subject(shared, "Never seen", Asked(run_id="all"), manifest_id=None, page=Page())
    (gone,) = rows(shared, "SELECT manifest_id FROM assemblies WHERE run_id = 'r-gone' LIMIT 1")
    with pytest.raises(NotFoundError, match="the texts of run r-gone are not kept"):
        why_text(shared, "marmalade", Asked(), manifest_id=str(gone[0]), page=Page())

    assert {one.run_id for one in everywhere.sightings} == {"r-kept"}
    assert (everywhere.total, everywhere.runs_without_texts) == (len(everywhere.sightings), 1)
    assert by_text.by_text
    assert {(one.run_id, one.runs) for one in by_text.considerations} == {("r-kept", 1)}


def test_a_reference_of_a_run_without_texts_is_not_filled_in_from_another(shared: Path) -> None:
    (gone,) = rows(shared, "SELECT manifest_id FROM assemblies WHERE run_id = 'r-gone' LIMIT 1")
    (kept,) = expand_reference(shared, "0.py")
    (named,) = expand_reference(shared, "0.py", manifest=str(gone[0]))

    assert kept.manifest_id in {each for (each,) in rows(shared, KEPT)}
    assert (kept.referent.text, named.referent.text) == (f"{RULE}\n", None)
    assert named.referent.text_digest == kept.referent.text_digest


KEPT = "SELECT manifest_id FROM assemblies WHERE run_id = 'r-kept'"


def test_a_project_cannot_keep_what_its_user_does_not_want_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIR_HOME", str(tmp_path / "home"))
    for folder, value in (("home", "digests"), ("p/.air", "full")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.toml").write_text(f'[store]\nbodies = "{value}"\n')
    assert load_settings(tmp_path / "p").store.bodies == "digests"
