"""`context blame`, `diff`, `expand` and `cache` on a run on record, by any selector; the commands of the page run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet.worlds import done, make_fleet, script, use

from aircoding.app.questions.selectors import previous_id, selected_id
from aircoding.cli.main import main
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest, ManifestId
from aircoding.store import open_store

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "read-a-prompt.md"
COMMANDS = [
    shlex.split(line)[1:]
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for line in block.splitlines()
]
RULES = "# Working here\n\n- Use the standard library only.\n- \x1b[31mNo colours.\n"
LONG = "".join(f"line {number} of a long output\n" for number in range(2_000))

Say = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after a run of two tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIR_HOME", str(tmp_path_factory.mktemp("home")))
        tasks = [{"id": "T1", "title": "One", "reads": ["a.txt"]}, {"id": "T2", "title": "Two"}]
        turns = {"T1": use("fs_read", path="a.txt"), "T2": use("shell", command="cat long.txt")}
        scripts = [script("executor", name, turn, done()) for name, turn in turns.items()]
        project = tmp_path_factory.mktemp("read") / "project"
        fleet = make_fleet(project, tasks, scripts, files={"AGENTS.md": RULES, "long.txt": LONG}, concurrency=1)
        assert fleet.drive() == "done"
        fleet.store.close()
    return project


@pytest.fixture
def say(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command of `aircoding context` in the project, and return its exit code and what it printed."""
    monkeypatch.chdir(root)

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["context", *arguments])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out + said.err

    return run


def document(say: Say, *arguments: str) -> dict[str, Any]:
    code, text = say(*arguments, "--json")
    assert code == 0, text
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_commands_of_the_page_run(say: Say, command: list[str]) -> None:
    assert command[0] == "context"
    code, text = say(*command[1:])
    assert (code, bool(text.strip())) == (0, True), text


def test_blame_names_source_and_line_and_cannot_be_used_to_paint_a_terminal(say: Say) -> None:
    _, text = say("blame", "newest/T1", "--source", "AGENTS.md")

    rows = [line for line in text.splitlines() if line.startswith("L3 AGENTS.md:")]
    assert [re.split(r"\s+", row)[1] for row in rows] == [f"AGENTS.md:{n}" for n in range(1, 5)]
    assert rows[2].endswith(") - Use the standard library only.")
    assert len({row.index(")") for row in rows}) == 1, "columns do not line up"
    assert "\x1b" not in text
    assert "\\u{001b}[31mNo colours." in text


def test_blame_counts_blocks_as_show_prints_them(say: Say) -> None:
    _, shown = say("show", document(say, "list")["assemblies"][0]["manifest_id"], "--prompt")
    pointers = re.findall(r"^--- (/\S+)", shown, re.MULTILINE)
    place = pointers.index("/system/0") + 1

    by_number = document(say, "blame", "newest/T2", "--block", str(place))["blame"]

    assert {line["block"] for line in by_number} == {"/system/0/text"}
    assert by_number == document(say, "blame", "newest/T2", "--block", "/system/0/text")["blame"]
    code, text = say("blame", "newest/T2", "--block", "999")
    assert (code, "the prompt has no block 999" in text) == (2, True)


def test_selectors_name_turns_sessions_tasks_and_what_stood_before(say: Say, root: Path) -> None:
    heads = document(say, "list", "--limit", "50")["assemblies"]
    own = sorted((head["turn"], head["manifest_id"]) for head in heads if head["task_id"] == "T1")
    with open_store(root / ".air/local/air.db") as store:
        ids = [
            selected_id(store, given)
            for given in ("newest/T1@1", "r1/T1@2", "newest/T1/executor", "r1:T1:1:executor:1@1", own[0][1][:8])
        ]
        assert ids == [own[0][1], own[1][1], own[-1][1], own[0][1], own[0][1]]
        manifest = store.assemblies.get(ManifestId(own[1][1])).manifest
        assert previous_id(store, manifest) == own[0][1]
    for wrong in ("newest/T9", "newest/T1@99", "no-run/T1", "r1:T9:1:executor:1", "m-nothing"):
        code, text = say("blame", wrong)
        assert (code, "error: " in text) == (2, True), text
    code, text = say("diff", "newest/T1@1")
    assert (code, "nothing stands before it" in text) == (2, True)


def test_a_difference_has_its_words_as_json_and_its_exit_code(say: Say) -> None:
    found = document(say, "diff", "newest/T1@1", "newest/T2@1")

    task = next(one for one in found["texts"] if one["after"] and one["after"].startswith("L5:air:task/T2@"))
    assert {"kind": "removed", "text": "T1"} in task["parts"]
    assert not [one for one in found["difference"]["added"] if one["source"]["uri"].startswith("air:task/")]
    assert document(say, "diff", "newest/T1@1", "newest/T2@1", "--stat")["texts"] == []
    assert say("diff", "newest/T1@1", "newest/T2@1", "--exit-code")[0] == 1
    assert say("diff", "newest/T1", "newest/T1", "--exit-code") == (0, "no difference in content\n")
    assert say("diff", "newest/T1", "--stat", "--words")[0] == 2


def test_expand_gives_the_text_of_then_and_says_whether_the_file_is_another(say: Say, root: Path) -> None:
    _, before = say("expand", "a.txt", "--manifest", "newest/T1", "--now")
    (root / "a.txt").write_text("API_KEY=sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9\n")
    _, after = say("expand", "a.txt", "--manifest", "newest/T1", "--now")
    (root / "a.txt").unlink()
    _, gone = say("expand", "project:a.txt", "--now")
    (root / "a.txt").write_text("one\n")

    assert "now: the source is the same" in before
    assert "one\n--- now: the source is another" in after
    assert "; lines 1-1 of 1:\n" in after
    assert "[REDACTED:" in after
    assert "sk-ant" not in after
    assert "--- now: it is not there" in gone


def test_expand_gives_a_large_output_whole_by_each_name_that_the_worker_had(say: Say) -> None:
    shown = "".join(line["text"] for line in document(say, "blame", "newest/T2", "--layer", "L8")["blame"])
    (whole,) = re.findall(r"air:artifact/([0-9a-f]{64})", shown)
    (short,) = re.findall(r'"artifact": "([0-9a-f]+)"', shown)
    assert "line 1000 of" not in shown

    for name in (f"air:artifact/{whole}", whole, short):
        found = document(say, "expand", name)["expansions"]
        assert len(found) == 1
        assert "line 1000 of a long output" in found[0]["referent"]["text"], name


def test_expand_says_when_nothing_has_the_name(say: Say) -> None:
    code, text = say("expand", "nothing-of-that-name")
    assert (code, "nothing on record is called nothing-of-that-name" in text) == (2, True)


def test_every_reference_of_an_assembly_can_be_expanded(say: Say, root: Path) -> None:
    with open_store(root / ".air/local/air.db") as store:
        manifest_id = selected_id(store, "newest/T1")
        manifest = store.assemblies.get(manifest_id).manifest
    for note in manifest.outcomes[::4]:
        code, text = say("expand", note.segment_id, "--manifest", manifest_id)
        assert code == 0, text


def test_a_text_that_is_no_longer_kept_is_answered_by_its_digest(
    say: Say, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aircoding.errors import NotFoundError
    from aircoding.store.assemblies import AssemblyStore
    from aircoding.store.texts import TextStore

    def lost(_store: AssemblyStore, manifest_id: str) -> None:
        raise NotFoundError(f"{manifest_id} cannot be rebuilt", code="not_found.text")

    def nothing(_store: TextStore, _digest: Digest) -> None:
        return None

    monkeypatch.setattr(AssemblyStore, "snapshot", lost)
    monkeypatch.setattr(TextStore, "get", nothing)
    code, text = say("expand", "AGENTS.md")

    assert code == 1
    assert f"the text is no longer kept; its sha256 was {sha256_text(RULES.rstrip())[:8]}" in text


def test_cache_compares_with_the_turn_before_with_another_worker_and_with_any(say: Say) -> None:
    _, turn = say("cache", "newest/T1@2")
    _, worker = say("cache", "newest/T2@1")
    named = document(say, "cache", "newest/T2@1", "--against", "newest/T1@1")["cache"]["against"]

    assert "(the turn before: r1:T1:1:executor:1, turn 1" in turn
    assert "(another worker: r1:T1:1:executor:1, turn 2" in worker
    assert "first that differs: L" in worker
    assert "  there stood: L" in worker
    assert (named["turn"], named["prefix"]["same_session"]) == (1, False)
