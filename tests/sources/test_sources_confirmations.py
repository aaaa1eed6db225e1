"""What the user confirmed, and what it changes: kept outside the project, for one text of one rule."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.projects import by_uri, make_intake, write_tree

from aircoding.errors import ConfigError
from aircoding.records.layers import Trust
from aircoding.records.segments import Segment
from aircoding.rules.precedence import resolve
from aircoding.sources.confirmations import confirm_rule, confirmed_rules, rule_name, unconfirm_rule
from aircoding.sources.import_approvals import approve_import, approved_imports
from aircoding.sources.rule_files import RuleFiles, read_rules
from aircoding.sources.rule_tree import walk_paths

INTAKE = make_intake()


def rules_of(root: Path, home: Path, *, trusted: bool = True) -> RuleFiles:
    return read_rules(root, home, walk_paths(root)[0], intake=INTAKE, trusted=trusted)


def rule_at(rules: RuleFiles, uri: str) -> Segment:
    (found,) = by_uri(rules.segments, uri)
    return found


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    header = "---\nid: house\n---\n"
    write_tree(tmp_path / "home", {"rules/a.md": f"{header}Use tabs.\n"})
    write_tree(tmp_path / "project", {".air/shared/rules/b.md": f"{header}Use spaces.\n", "AGENTS.md": "Short.\n"})
    return tmp_path / "project", tmp_path / "home"


def test_a_confirmed_rule_beats_a_later_level_until_its_text_changes(places: tuple[Path, Path]) -> None:
    root, home = places
    rules = rules_of(root, home)
    mine, theirs = rule_at(rules, "user:rules/a.md"), rule_at(rules, "project:.air/shared/rules/b.md")
    assert [one.winner for one in resolve((mine, theirs))] == [theirs]
    confirm_rule(home, root, mine)
    again = rules_of(root, home)
    mine, theirs = rule_at(again, "user:rules/a.md"), rule_at(again, "project:.air/shared/rules/b.md")
    assert (mine.confirmed, theirs.confirmed) == (True, False)
    (ruling,) = resolve((mine, theirs))
    assert ruling.winner == mine
    assert "was confirmed by the user" in ruling.why
    write_tree(home, {"rules/a.md": "---\nid: house\n---\nUse four blanks.\n"})
    assert not rule_at(rules_of(root, home), "user:rules/a.md").confirmed


def test_a_confirmation_is_for_one_project_and_can_be_taken_back(places: tuple[Path, Path], tmp_path: Path) -> None:
    root, home = places
    rule = rule_at(rules_of(root, home), "project:AGENTS.md")
    assert rule_name(rule) == "project:AGENTS.md#_"
    confirm_rule(home, root, rule)
    assert [(one.rule, one.text_digest) for one in confirmed_rules(home, root)] == [
        ("project:AGENTS.md#_", rule.source.text_digest)
    ]
    assert confirmed_rules(home, tmp_path / "other") == frozenset()
    assert unconfirm_rule(home, root, "project:AGENTS.md#_")
    assert not unconfirm_rule(home, root, "project:AGENTS.md#_")
    assert not rule_at(rules_of(root, home), "project:AGENTS.md").confirmed


def test_a_new_text_of_a_rule_takes_the_place_of_the_old_one(places: tuple[Path, Path]) -> None:
    root, home = places
    for text in ("One.\n", "Two.\n"):
        write_tree(root, {"AGENTS.md": text})
        confirm_rule(home, root, rule_at(rules_of(root, home), "project:AGENTS.md"))
    kept = json.loads((home / "confirmed.json").read_text())
    assert [len(marks) for marks in kept.values()] == [1]
    assert os.stat(home / "confirmed.json").st_mode & 0o077 == 0


def test_no_front_matter_confirms_and_no_confirmation_lifts_what_an_agent_or_a_stranger_wrote(
    places: tuple[Path, Path],
) -> None:
    root, home = places
    write_tree(root, {".air/shared/rules/b.md": "---\nid: house\nconfirmed: true\n---\nUse spaces.\n"})
    rules = rules_of(root, home, trusted=False)
    theirs = rule_at(rules, "project:.air/shared/rules/b.md")
    assert not theirs.confirmed
    confirm_rule(home, root, theirs)
    rules = rules_of(root, home, trusted=False)
    mine, theirs = rule_at(rules, "user:rules/a.md"), rule_at(rules, "project:.air/shared/rules/b.md")
    assert (theirs.confirmed, theirs.trust) == (True, Trust.EXTERNAL)
    agent = replace(theirs, trust=Trust.AGENT, segment_id=theirs.segment_id + "x")
    for low in (theirs, agent):
        assert [one.winner for one in resolve((low, mine))] == [mine]


@pytest.mark.parametrize("name", ["confirmed.json", "imports.json"])
@pytest.mark.parametrize("text", ["{", "[]", '{"/p": [1]}', "\udcff"])
def test_a_damaged_file_is_said_and_holds_nothing(places: tuple[Path, Path], name: str, text: str) -> None:
    root, home = places
    (home / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    rules = rules_of(root, home)
    assert [one.message.split(": ")[0].rsplit("/", 1)[-1] for one in rules.diagnostics] == [name]
    read = confirmed_rules if name == "confirmed.json" else approved_imports
    with pytest.raises(ConfigError, match=name):
        read(home, root)


@pytest.mark.parametrize("path", ["notes.md", "../x", "~/", "/", "~/../x", "/.."])
def test_only_a_whole_path_can_be_approved(tmp_path: Path, path: str) -> None:
    with pytest.raises(ConfigError):
        approve_import(tmp_path, tmp_path, path)


def test_an_approval_is_kept_under_the_name_that_rule_files_use(tmp_path: Path) -> None:
    for path in ("~/a/../b.md", "//opt//x.md"):
        approve_import(tmp_path, tmp_path, path)
    assert approved_imports(tmp_path, tmp_path) == {"~/b.md", "/opt/x.md"}
