"""`context replay` with other inputs: what a worker would have seen, from a record of real sessions."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet.worlds import done, make_fleet, script, use, write
from support.demo_runs import rows

from aircoding.cli.main import main

LICENCE = "---\nkind: project\nid: licence\npaths:\n  - b.txt\n---\nBegin with a licence line.\n"
FILES = {
    ".air/shared/rules/licence.md": LICENCE,
    ".air/shared/rules/project-rules.md": "---\nkind: project\n---\n## Scope\n\nStay in scope, says the project.\n",
    "CLAUDE.md": "Claude words. @docs/more.md\n",
    "docs/more.md": "More words.\n",
    "notes/idea.md": "---\nkind: project\n---\nIdeas are welcome.\n",
}

Said = tuple[int, str, dict[str, Any]]
Ask = Callable[..., Said]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A recorded run of one task with three turns, and the home that trusts its project."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIR_HOME", str(home))
        patch.setenv("HOME", str(tmp_path_factory.mktemp("user")))
        tasks = [{"id": "T1", "title": "One", "write_area": ["a.txt"]}]
        turns = script("executor", "T1", use("fs_read", path="a.txt"), write("a.txt", "two\n"), done())
        fleet = make_fleet(tmp_path_factory.mktemp("run") / "project", tasks, [turns], files=FILES)
        assert fleet.drive() == "done"
        fleet.store.close()
    return fleet.root, home


@pytest.fixture
def ask(world: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Run `aircoding context replay` on a turn of the run and return its code, its text and its JSON."""
    root, home = world
    monkeypatch.setenv("AIR_HOME", str(home))
    monkeypatch.chdir(root)

    def replay(turn: int | None, *arguments: str) -> Said:
        given = [] if turn is None else [manifest(root, turn)]
        with pytest.raises(SystemExit) as ended:
            main(["context", "replay", *given, *arguments])
        said = capfd.readouterr()
        parsed = json.loads(said.out) if "--json" in arguments else {}
        return int(ended.value.code or 0), said.out + said.err, parsed

    return replay


def manifest(root: Path, turn: int) -> str:
    return str(rows(root, f"SELECT manifest_id FROM assemblies WHERE turn = {turn}")[0][0])


def request_of(ask: Ask, turn: int, *arguments: str) -> str:
    code, text, _ = ask(turn, *arguments, "--request")
    assert code == 0, text
    return text


@pytest.mark.parametrize("turn", [1, 3])
def test_a_file_as_it_is_makes_no_difference(ask: Ask, turn: int) -> None:
    for name in (".air/shared/rules/licence.md", "CLAUDE.md", ".air/shared/rules/project-rules.md"):
        code, text, _ = ask(turn, "--with", name, "--exit-code")
        assert (code, "no difference in content" in text) == (0, True), text
    recorded = ask(turn, "--request")[1]
    part, whole = ".air/shared/rules/project-rules.md#scope", ".air/shared/rules/project-rules.md"
    assert request_of(ask, turn, "--without", part, "--with", whole) != recorded
    assert request_of(ask, turn, "--with", ".air/shared/rules/licence.md", "--with", "CLAUDE.md") == recorded
    assert request_of(ask, turn, "--model", "scripted") == recorded


def test_without_a_rule_the_one_that_it_had_overridden_comes_in(ask: Ask) -> None:
    code, _, found = ask(3, "--without", ".air/shared/rules/project-rules.md#scope", "--json", "--exit-code")

    answer = found["what_if"]
    moved = {one[1]["uri"] for one in answer["difference"]["outcomes"] if one[1] and one[1]["outcome"] == "included"}
    assert code == 1
    assert answer["removed"][0].startswith("L3:project:.air/shared/rules/project-rules.md#scope@")
    assert moved == {"resource:rules/project-rules.md"}
    assert answer["same_program"] is True
    assert answer["first_turn"] == 1
    assert "says the project" in str(answer["recorded"]["system"])
    assert "says the project" not in str(answer["would_be"])
    assert answer["would_be"]["messages"][1:] == answer["recorded"]["messages"][1:]


def test_with_other_paths_a_rule_would_have_reached_the_worker(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "draft.md"
    file.write_text(LICENCE.replace("b.txt", "a.txt"))

    code, text, _ = ask(3, "--with", f"{file}=.air/shared/rules/licence.md")

    assert code == 0
    assert "in place of the one that was considered (trust project, 1 candidate)" in text
    assert "turns 1 to 3; what the model and its tools said stays as recorded" in text
    assert "omitted (path_not_matched) -> included" in text
    request = json.loads(request_of(ask, 3, "--with", f"{file}=.air/shared/rules/licence.md"))
    assert "licence line" in str(request["messages"][0])


def test_how_a_file_is_taken_in(ask: Ask, tmp_path: Path, world: tuple[Path, Path]) -> None:
    outside = tmp_path / "style.txt"
    outside.write_text("---\nkind: project\n---\nTabs.\n")
    own = world[1] / "rules" / "mine.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("Mine.\n")

    assert (
        "notes/idea.md as .air/shared/rules/idea.md, which was not considered" in ask(1, "--with", "notes/idea.md")[1]
    )
    assert "as .air/shared/rules/style.md, which was not considered" in ask(1, "--with", str(outside))[1]
    assert "as user:rules/mine.md, which was not considered (trust user" in ask(1, "--with", str(own))[1]
    assert "as user:rules/x.md" in ask(1, "--with", f"{outside}=~/.air/rules/x.md")[1]
    assert "as sub/AGENTS.md, which was not considered" in ask(1, "--with", f"{outside}=sub/AGENTS.md")[1]


def test_a_broken_header_is_told_and_stays_out(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "broken.md"
    file.write_text("---\nkind: nonsense\n---\nBroken words.\n")

    code, text, _ = ask(1, "--with", str(file))

    assert code == 0
    assert "not considered -> quarantined (invalid)" in text
    assert "nonsense" in text
    assert "Broken words" not in request_of(ask, 1, "--with", str(file))


def test_what_a_file_imports_comes_and_goes_with_it(ask: Ask, world: tuple[Path, Path], tmp_path: Path) -> None:
    root, _ = world
    recorded = ask(1, "--request")[1]
    file = tmp_path / "c.md"
    file.write_text("Claude words alone.\n")

    assert "More words." in recorded
    assert "More words." not in request_of(ask, 1, "--without", "CLAUDE.md")
    assert "More words." not in request_of(ask, 1, "--with", f"{file}=CLAUDE.md")
    file.write_text("See @notes/idea.md\n")
    assert "Ideas are welcome" in request_of(ask, 1, "--with", f"{file}=CLAUDE.md")
    assert (root / "CLAUDE.md").read_text() == FILES["CLAUDE.md"]


def test_a_window_that_is_too_small_says_what_does_not_fit(ask: Ask) -> None:
    code, text, _ = ask(3, "--window", "20000")
    as_json = ask(3, "--window", "20000", "--json")

    assert code == 1
    assert "nothing would have been sent: at turn 1 what must be kept of run scope needs" in text
    assert "the largest parts:" in text
    assert as_json[0] == 1
    assert as_json[2]["what_if"]["would_be"] is None
    assert as_json[2]["what_if"]["overflow"]["overflow"]["available_tokens"] == 1600
    assert "give a smaller --max-output-tokens" in ask(1, "--window", "9000")[1]


def test_what_is_kept_for_the_answer_is_taken_from_the_window(ask: Ask) -> None:
    _, text, _ = ask(3, "--window", "40000", "--max-output-tokens", "8000")
    needs = ask(3, "--window", "40000", "--max-output-tokens", "39000", "--json")[2]["what_if"]

    assert "a window of 40000 tokens, 8000 of them kept for the answer" in text
    assert needs["limits"]["max_output_tokens"] == 39000
    assert needs["overflow"] is not None


def test_an_unknown_model_is_remarked_on(ask: Ask) -> None:
    code, text, _ = ask(1, "--model", "no-such-model")

    assert code == 0
    assert "nothing is known of the model no-such-model" in text
    assert "for no-such-model: a window of" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--without", "licnce"], "near are licence"),
        (["--with", "no/such.md"], "there is no file no/such.md"),
        (["--with", "notes/idea.md=src/x.py"], "no rules are read from src/x.py"),
        (["--with", "notes/idea.md=../AGENTS.md"], "no rules are read from ../AGENTS.md"),
        (["--with", "notes"], "cannot be read"),
        (["--window", "0"], "0 is not in the range"),
    ],
)
def test_bad_input_ends_with_a_sentence(ask: Ask, arguments: list[str], said: str) -> None:
    code, text, _ = ask(1, *arguments)

    assert (code, said in text) == (2, True), text
    assert "Traceback" not in text


def test_a_what_if_is_of_one_assembly(ask: Ask) -> None:
    assert ask(None, "--without", "x")[0] == 2
    assert ask(None, "--all", "--without", "x")[0] == 2


def test_a_replay_of_a_run_names_only_what_differs(ask: Ask) -> None:
    code, text, _ = ask(None, "--all")
    listed = ask(None, "--all", "--verbose")[1]

    assert (code, text) == (0, "3 of 3 equal to the recorded digest\n")
    assert listed.count("  equal  ") == 3


def test_where_texts_are_not_kept_every_replay_says_so(
    ask: Ask, world: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, other = world[0], tmp_path / "project"
    shutil.copytree(root, other, symlinks=True)
    with contextlib.closing(sqlite3.connect(other / ".air/local/air.db")) as database, database:
        database.execute("UPDATE texts SET body = NULL WHERE digest IN (SELECT snapshot_digest FROM assemblies)")
    monkeypatch.chdir(other)

    assert ask(1)[0] == 0, "the request itself is still there"
    code, text, _ = ask(1, "--window", "100000")
    assert (code, "The snapshot of" in text, "texts are not kept" in text) == (2, True, True), text

    with contextlib.closing(sqlite3.connect(other / ".air/local/air.db")) as database, database:
        database.execute("UPDATE texts SET body = NULL")
    alone, what_if, whole = ask(1), ask(1, "--without", "licence"), ask(None, "--all")
    assert [one[0] for one in (alone, what_if, whole)] == [2, 2, 1]
    assert all("texts are not kept" in one[1] for one in (alone, what_if, whole))
    assert "NOT REBUILT" in whole[1]
    assert "0 of 3 equal to the recorded digest" in whole[1]


def test_the_commands_of_the_page_run(ask: Ask, world: tuple[Path, Path], tmp_path: Path) -> None:
    """Each command of the how-to, on a record, with the files that it names."""
    (world[0] / "draft.md").write_text(LICENCE.replace("b.txt", "a.txt"))
    page = (Path(__file__).parents[2] / "docs/how-to/ask-what-if.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("aircoding context replay ID")]

    assert len(lines) >= 6
    for line in lines:
        arguments = shlex.split(line.split(" #")[0])[4:]
        code, text, _ = ask(3, *arguments)
        assert code in ({0, 1} if {"--exit-code", "--window"} & set(arguments) else {0}), f"{line}\n{text}"
