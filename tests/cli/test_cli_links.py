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


@pytest.mark.parametrize("name", [".air/local", ".air/local/air.db"])
def test_the_record_is_kept_behind_no_link_that_leads_out(root: Path, name: str) -> None:
    linked(root, name, root.parent / ("air" if name.endswith("local") else "air/new"))
    own = tree(root.parent / "air")
    refused(air(root, "status"), name)
    assert tree(root.parent / "air") == own
