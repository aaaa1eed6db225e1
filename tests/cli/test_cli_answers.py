"""What questions print with `--json` is what their schemas promise, and pages of it go on from each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.answers import ANSWERS
from support.contradicting_runs import contradicting_run

from aircoding.cli.main import main
from aircoding.sources.resources import read_resource

Ask = Callable[..., dict[str, Any]]
TESTS = """version: 1
tests:
  - {name: in, paths: [b.txt], must_contain: [Begin with a licence line.]}
  - {name: out, paths: [a.txt], must_contain: [Begin with a licence line.]}
"""
WITHOUT = ("context", "replay", "newest/T1", "--without")
ASKED: dict[str, list[tuple[str, ...]]] = {
    "blame": [("context", "blame", "newest/T1")],
    "cache": [
        ("context", "cache", "newest/T1@1"),
        ("context", "cache", "newest/T1"),
        ("context", "cache", "newest/T2"),
    ],
    "check": [("context", "check", "t.yaml")],
    "conflicts": [("context", "conflicts")],
    "conflicts-list": [("conflicts", "list")],
    "costs": [("context", "costs", "--by", by) for by in ("task", "role", "layer", "model")],
    "diff": [
        ("context", "diff", "newest/T1", "newest/T2"),
        ("context", "diff", "newest/T2", "--words"),
        ("context", "diff", "newest/T2", "--stat"),
    ],
    "expand": [("context", "expand", "AGENTS.md", "--now"), ("context", "expand", ".air/shared/rules/licence.md")],
    "impact": [("context", "impact", "--base", "HEAD"), ("context", "impact", "--base", "HEAD", "--as", "codex")],
    "list": [("context", "list")],
    "omissions": [("context", "omissions"), ("context", "omissions", "--manifest", "newest/T1")],
    "replay": [("context", "replay", "newest/T1"), ("context", "replay", "--all")],
    "what-if": [
        (*WITHOUT, "AGENTS.md"),
        (*WITHOUT, "licence", "--window", "400000", "--with", "extra.md=AGENTS.md"),
        ("context", "replay", "newest/T1", "--window", "30000"),
    ],
    "who-saw": [("context", "who-saw", one) for one in ("AGENTS.md", "licence", "a.txt", "nothing")],
    "why": [("context", "why", "spaces", *more) for more in ((), ("--run", "all"), ("--manifest", "newest/T1"))],
    "why-not": [
        *(("context", "why-not", one) for one in ("licence", "AGENTS.md", "a.txt", "nowhere.md", "licence line")),
        *(("context", "why-not", one, "--manifest", "newest/T1") for one in ("licence", "nowhere.md")),
        ("context", "why-not", "AGENTS.md", "--now"),
    ],
}
"""Questions to a recorded run, by the name of the schema of their answer."""
PAGED = [
    (name, arguments)
    for name in ("conflicts-list", "costs", "list", "omissions", "who-saw", "why", "why-not")
    for arguments in ASKED[name]
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run on record, a rule that was changed since, and a context test that fails."""
    made = contradicting_run(tmp_path_factory)
    (made / "t.yaml").write_text(TESTS)
    (made / "extra.md").write_text("Be kind.\n")
    (made / "AGENTS.md").write_text("# Style\n\nUse tabs for indentation, and spaces elsewhere.\n")
    return made


@pytest.fixture
def ask(root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Run a command with `--json` and return what it printed."""
    monkeypatch.chdir(root)

    def command(*arguments: str) -> dict[str, Any]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--json"])
        said = capfd.readouterr()
        assert ended.value.code in (0, 1), said
        found: dict[str, Any] = json.loads(said.out)
        return found

    return command


def test_every_answer_that_has_a_schema_is_asked_for() -> None:
    assert list(ASKED) == list(ANSWERS)


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_is_what_its_schema_promises(name: str, ask: Ask) -> None:
    validator = Draft202012Validator(json.loads(read_resource(f"schemas/answer-{name}.json")))
    for arguments in ASKED[name]:
        answer = ask(*arguments)
        wrong = [f"{'/'.join(map(str, one.path))}: {one.message[:200]}" for one in validator.iter_errors(answer)]
        assert (arguments, wrong) == (arguments, [])
        assert not validator.is_valid({**answer, "mood": "good"})


@pytest.mark.parametrize(("name", "arguments"), PAGED, ids=[" ".join(arguments) for _, arguments in PAGED])
def test_pages_are_the_whole_answer_one_after_the_other(name: str, arguments: tuple[str, ...], ask: Ask) -> None:
    key = {"conflicts-list": "conflicts", "list": "assemblies", "who-saw": "witnesses", "why-not": "considerations"}
    whole = ask(*arguments)
    place = key.get(name, name) if name != "why" else "places" if whole["places"] else "sightings"
    pages = [ask(*arguments, "--limit", "1", "--offset", str(number)) for number in range(whole["total"])]
    assert [one[place] for one in pages] == [[item] for item in whole[place]]
    assert {one["total"] for one in pages} <= {whole["total"]}
    assert [one["offset"] for one in pages] == list(range(whole["total"]))
