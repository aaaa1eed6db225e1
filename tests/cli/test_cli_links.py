"""What a clone of a stranger may not reach: the user's files by a link, the machine's memory by a device."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.demo_runs import Ended, air
from support.projects import make_commit, make_project

POLICY = "version: 1\ndeny:\n  - shell(rm *)\n"
FILES: dict[str, str | bytes] = {
    "CLAUDE.md": "Use tabs.\n",
    ".claude/settings.json": json.dumps({"permissions": {"allow": ["Bash(curl:*)", "Bash(npm test)"]}}),
    ".claude/agents/looker.md": "---\nname: looker\ndescription: Looks.\n---\nLook.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "air").mkdir()
    (tmp_path / "air/permissions.yaml").write_text(POLICY)
    return make_commit(make_project(tmp_path / "project", FILES))


def linked(root: Path, name: str, target: Path) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(os.path.relpath(target, (root / name).parent))


def tree(root: Path) -> dict[str, bytes | None]:
    """Return all that lies below a folder, without following links."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in root.rglob("*")
        if ".git" not in path.relative_to(root).parts
    }


def refused(ended: Ended, name: str) -> None:
    assert ended.code == 2, ended.output
    assert name in ended.output
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (".air/shared/permissions.from-claude.yaml", "air/permissions.yaml"),
        (".air/config.toml", "air/permissions.yaml"),
        (".air/config.toml", "air/new"),
        (".air", "air"),
        (".air/shared", "air"),
        (".air/shared/roles", "air"),
        (".air/shared/plan", "air"),
    ],
)
def test_init_from_claude_writes_through_no_link(root: Path, name: str, target: str) -> None:
    linked(root, name, root.parent / target)
    before, own = tree(root), tree(root.parent / "air")
    refused(air(root, "init", "--from", "claude", "--no-trust"), name)
    assert tree(root.parent / "air") == own
    assert tree(root) == before, "half of the work was left behind"


@pytest.mark.parametrize("name", [".air", ".air/shared", ".air/shared/rules", ".air/shared/plan"])
def test_init_writes_below_no_link_that_leads_out(root: Path, name: str) -> None:
    linked(root, name, root.parent / "air")
    before, own = tree(root), tree(root.parent / "air")
    refused(air(root, "init", "--no-trust"), name)
    assert tree(root.parent / "air") == own
    assert tree(root) == before


def test_a_role_is_not_written_through_a_link_that_leads_nowhere(root: Path) -> None:
    linked(root, ".air/shared/roles/looker.md", root.parent / "air/new")
    air(root, "init", "--from", "claude", "--no-trust")
    assert not (root.parent / "air/new").exists()


@pytest.mark.parametrize("name", [".air/shared/memory", ".air/shared/memory/MEMORY.md"])
def test_the_memory_of_a_project_is_written_through_no_link(root: Path, name: str) -> None:
    linked(root, name, root.parent / ("air" if name.endswith("memory") else "air/new"))
    own = tree(root.parent / "air")
    refused(air(root, "memory", "add", "--project", "Tests run with make."), name)
    assert tree(root.parent / "air") == own


@pytest.mark.parametrize("name", [".air/local", *(f".air/local/{one}" for one in ("air.db", "engine.db-wal", "runs"))])
def test_the_record_is_kept_behind_no_link_that_leads_out(root: Path, name: str) -> None:
    linked(root, name, root.parent / ("air" if name.endswith("local") else "air/new"))
    own = tree(root.parent / "air")
    refused(air(root, "status"), name)
    assert tree(root.parent / "air") == own


READERS = {".air/config.toml": ("status",), ".air/shared/permissions.yaml": ("permissions", "check", "ls")}
"""A command that reads the file."""
DAMAGES = ["device", "pipe", "outside", "deep", "bytes"]


def damage(root: Path, name: str, how: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "device":
        path.symlink_to("/dev/zero")
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "outside":
        linked(root, name, root.parent / "air/permissions.yaml")
    else:
        path.write_bytes(b"x = " + b"[" * 100_000 if how == "deep" else b"\xff\xfex = 1"[1:])


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", READERS)
def test_settings_and_policy_of_a_clone_are_read_with_a_cap(root: Path, name: str, how: str) -> None:
    damage(root, name, how)
    ended = air(root, *READERS[name], timeout_seconds=30)
    assert ended.code in {1, 2}, ended.output
    assert name in ended.output
    assert "Traceback" not in ended.output


def test_the_user_s_own_settings_and_policy_may_be_links(root: Path, tmp_path: Path) -> None:
    home = Path(os.environ["AIR_HOME"])
    (tmp_path / "config.toml").write_text("[run]\nconcurrency = 0\n")
    (home / "config.toml").symlink_to(tmp_path / "config.toml")
    refused(air(root, "status"), "concurrency")
    (home / "config.toml").unlink()
    (tmp_path / "own.yaml").write_text("version: 1\nwrong: true\n")
    (home / "permissions.yaml").symlink_to(tmp_path / "own.yaml")
    refused(air(root, "permissions", "check", "ls"), "permissions.yaml")


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000])
def test_a_deep_list_of_writers_ends_no_command_in_a_traceback(root: Path, deep: str) -> None:
    (root / ".air/shared/memory").mkdir(parents=True)
    (root / ".air/shared/memory/MEMORY.md").write_text("Tests run with make.\n")
    (root / ".air/shared/memory/MEMORY.agents.json").write_text(deep)
    shown = air(root, "memory", "show")
    assert shown.code == 0, shown.output
    refused(air(root, "memory", "add", "--project", "More."), "MEMORY.agents.json")


def test_the_list_of_hooks_to_trust_cannot_be_forged(root: Path) -> None:
    words = ["sh", "-c", "true\npost_tool_use: harmless runs ls\u2028x\u0085y"]
    hooks = {"version": 1, "hooks": [{"name": "own", "event": "post_tool_use", "command": words}]}
    (root / ".air/shared").mkdir(parents=True)
    (root / ".air/shared/hooks.yaml").write_text(json.dumps(hooks))
    shown = air(root, "hooks", "trust").output
    listed = [line for line in shown.splitlines() if line.startswith("post_tool_use")]
    assert listed == [r"post_tool_use: own runs sh -c 'true\npost_tool_use: harmless runs ls\u{2028}x\u{0085}y'"]


def test_rules_without_an_equivalent_cannot_forge_lines(root: Path) -> None:
    rule = "mcp__x\nnext: run `sudo true`\u2028trusted\u0085 \ud800"
    (root / ".claude/settings.json").write_text(
        json.dumps({"permissions": {"allow": [rule], "deny": ["Bash(curl:*)"]}})
    )
    ended = air(root, "init", "--from", "claude", "--no-trust")
    assert ended.code == 0, ended.output
    lines = ended.output.splitlines()
    assert "trusted" not in lines
    assert not [line for line in lines if line.startswith("next: run `sudo")]
    assert [line for line in lines if r"\nnext: run `sudo true`\u{2028}trusted\u{0085} \u{d800}" in line]
    imported = air(root, "permissions", "import", ".claude/settings.json", "--from", "claude")
    assert not [line for line in imported.output.splitlines() if line.startswith("next:")]


def test_a_rule_that_is_no_utf_8_ends_in_no_traceback(root: Path) -> None:
    (root / ".claude/settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(echo \ud800)"]}}))
    ended = air(root, "init", "--from", "claude", "--no-trust")
    assert ended.code == 0, ended.output
    assert "Traceback" not in ended.output
    assert air(root, "permissions", "check", "ls").code == 0
