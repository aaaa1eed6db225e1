"""Role files: what the packaged ones say, and what is refused of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import write_tree

from aircoding.errors import ConfigError
from aircoding.records.layers import Layer, SegmentKind
from aircoding.sources.roles import load_profiles, parse_role, read_roles

PROFILES = load_profiles()
GOOD = """---
role: release_writer
title: Release writer
layers:
  L3: {detail: relevant, rule_kinds: [project]}
  L6: {kinds: [file, finding]}
writes: none
tools: [read]
result: worker-result
shares: {L3: 0.5, L6: 0.5}
---

You write release notes.

## Discipline

- Name each change.

## More

Further text.
"""


def test_there_are_nine_packaged_roles() -> None:
    assert set(PROFILES) == {
        *("main", "architecture_designer", "scheduler", "executor"),
        *("reviewer", "debugger", "compactor", "experience_miner", "conflict_judge"),
    }


@pytest.mark.parametrize(
    ("role", "layers", "writes", "tools", "result"),
    [
        ("main", "L3 L4 L7 L8", "none", ("read", "memory", "delegate"), ""),
        ("architecture_designer", "L3 L4 L5 L6 L7", "plan", ("read", "edit"), "architecture-result"),
        ("scheduler", "L4 L5 L8", "none", (), "scheduler-decision"),
        ("executor", "L3 L4 L5 L6 L8", "area", ("read", "edit", "execute"), "worker-result"),
        ("reviewer", "L3 L4 L5 L6 L8", "none", ("read",), "review-result"),
        ("debugger", "L3 L4 L5 L6 L8", "area", ("read", "edit", "execute"), "debugger-result"),
        ("compactor", "L3 L4 L7", "none", (), "compaction-result"),
        ("experience_miner", "L3 L6 L7", "none", ("read", "memory"), "experience-result"),
        ("conflict_judge", "L3 L6", "none", (), "conflict-judgement"),
    ],
)
def test_each_profile_retrieves_what_its_role_is_given(
    role: str, layers: str, writes: str, tools: tuple[str, ...], result: str
) -> None:
    profile = PROFILES[role]
    assert list(profile.layers) == [Layer(name) for name in layers.split()]
    assert (profile.writes, profile.tool_categories, profile.result_schema) == (writes, tools, result)
    assert profile.user_facing is (role == "main")
    assert profile.discipline
    assert "## Discipline" not in profile.prompt
    assert sum(profile.shares.values()) == pytest.approx(1)
    assert set(profile.shares) <= set(profile.layers)


def test_profiles_select_rules_by_kind() -> None:
    kinds = {
        role: profile.layers[Layer.L3].rule_kinds for role, profile in PROFILES.items() if Layer.L3 in profile.layers
    }
    assert kinds["debugger"] == ("toolchain",)
    assert kinds["reviewer"] == kinds["architecture_designer"] == ("project",)
    assert kinds["executor"] == ("project", "toolchain")
    assert kinds["main"] == ()


def test_a_role_file_is_split_into_profile_discipline_and_prompt() -> None:
    profile = parse_role(GOOD, "project:.air/shared/roles/release-writer.md")
    assert profile.discipline == "- Name each change."
    assert profile.prompt == "You write release notes.\n\n## More\n\nFurther text."
    assert profile.layers[Layer.L6].kinds == (SegmentKind.FILE, SegmentKind.FINDING)
    assert profile.layers[Layer.L6].detail == "full"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("role: release_writer", "role: Release Writer", ":2: role: `Release Writer` is no role id"),
        ("role: release_writer\n", "", ":1: `role` is missing"),
        ("writes: none", "writes: everything", ":7: writes: 'everything' is none of none, area, plan"),
        (
            "tools: [read]",
            "tools: [read, fly]",
            ":8: tools: 'fly' is none of read, edit, execute, network, memory, delegate",
        ),
        ("tools: [read]", "tools: read", ":8: tools: must be a list"),
        ("result: worker-result", "result: essay", ":9: result: 'essay' is no result schema"),
        ("{detail: relevant, rule_kinds: [project]}", "{detail: some}", ":4: layers.L3.detail: 'some' is none of"),
        ("{detail: relevant, rule_kinds: [project]}", "{rule_kinds: [house]}", ":4: layers.L3.rule_kinds: 'house' is"),
        ("L6: {kinds", "L0: {kinds", ":4: layers.L0: unknown key"),
        (
            "L6: {kinds: [file, finding]}",
            "L6: {rule_kinds: [project]}",
            ":4: layers.L6.rule_kinds: only L3 holds rules",
        ),
        ("L6: {kinds: [file, finding]}", "L5: {detail: summary}", ":4: layers.L5.detail: a task is never shortened"),
        ("shares: {L3: 0.5, L6: 0.5}", "shares: {L3: 0.7, L6: 0.5}", ":10: shares: they add up to 1.2"),
        ("shares: {L3: 0.5, L6: 0.5}", "shares: {L3: much}", ":10: shares.L3: 'much' is no number from 0 to 1"),
        ("tools: [read]", "tool: [read]", ":8: tool: unknown key"),
        ("---\nrole", "\nrole", ":1: there is no front matter"),
        ("writes: none", "writes: [none", ":"),
        ("You write release notes.\n", "", ":"),
    ],
)
def test_a_faulty_role_file_is_refused_with_file_line_and_key(old: str, new: str, message: str) -> None:
    text = GOOD.replace(old, new, 1)
    if old.startswith("You write"):
        text = text.replace("## More\n\nFurther text.\n", "")
    with pytest.raises(ConfigError) as refused:
        parse_role(text, "project:roles/x.md")
    assert refused.value.message.startswith(f"project:roles/x.md{message}")


def test_a_project_adds_roles_and_cannot_replace_packaged_ones(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/roles/release-writer.md": GOOD})
    assert load_profiles(tmp_path)["release_writer"].uri == "project:.air/shared/roles/release-writer.md"
    write_tree(tmp_path, {".air/shared/roles/mine.md": GOOD.replace("release_writer", "executor")})
    with pytest.raises(ConfigError, match="`executor` is taken by resource:prompts/roles/executor"):
        load_profiles(tmp_path)


def test_a_role_file_that_leaves_the_project_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {"role.md": GOOD, "p/.air/shared/roles/a.txt": ""})
    (tmp_path / "p/.air/shared/roles/x.md").symlink_to(tmp_path / "role.md")
    with pytest.raises(ConfigError, match="leaves the project"):
        load_profiles(tmp_path / "p")


EVIL = GOOD.replace("writes: none", "writes: plan").replace(
    "tools: [read]", "tools: [read, edit, execute, network, memory, delegate]"
)


def test_a_role_of_an_untrusted_project_grants_itself_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/roles/release-writer.md": EVIL})
    found = read_roles(tmp_path, trusted=False)
    role = found.profiles["release_writer"]
    assert (role.writes, role.tool_categories) == ("area", ("read", "edit", "execute"))
    assert role.prompt == load_profiles(tmp_path, trusted=True)["release_writer"].prompt
    (remark,) = found.diagnostics
    assert remark.uri == "project:.air/shared/roles/release-writer.md"
    for cut in ("`network`", "`memory`", "`delegate`", "write the plan"):
        assert cut in remark.message
    assert found.profiles["experience_miner"] == PROFILES["experience_miner"]


def test_a_role_of_a_trusted_project_has_what_it_says(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/roles/release-writer.md": EVIL})
    found = read_roles(tmp_path, trusted=True)
    assert found.diagnostics == ()
    assert found.profiles["release_writer"].writes == "plan"
    assert "memory" in found.profiles["release_writer"].tool_categories


def test_a_role_that_asks_for_no_more_than_it_gets_has_no_remark(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/roles/release-writer.md": GOOD})
    found = read_roles(tmp_path, trusted=False)
    assert (found.diagnostics, found.profiles["release_writer"].writes) == ((), "none")
