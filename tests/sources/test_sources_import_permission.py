"""What a rule file imports passes the policy: no worker gets by an import what it may not read itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.projects import Desk, by_uri, make_project

from aircoding.context.assembler import assemble
from aircoding.permissions.policy import build_policy
from aircoding.permissions.policy_file import parse_policy_file
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Policy, PolicyLevel
from aircoding.records.profiles import Profile
from aircoding.records.tasks import TaskSpec

SECRET = "PLAINVALUE-of-the-house"
PRIVATE = [".env", "key.pem", ".git/config", ".git/logs/HEAD", ".air/local/notes.txt", "sub/.git/config", "alias.md"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_project(
        tmp_path / "p", {name: f"{SECRET} {name}\n" for name in PRIVATE if not name.startswith(".git/")}
    )
    subprocess.run(["git", "-C", str(root), "config", "x.y", SECRET], check=True)
    (root / ".git/logs").mkdir(exist_ok=True)
    (root / ".git/logs/HEAD").write_text(SECRET)
    (root / "alias.md").unlink()
    (root / "alias.md").symlink_to(".env")
    (root / "style.md").write_text("Short words.\n")
    return root


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("importer", ["CLAUDE.md", "GEMINI.md", ".claude/rules/a.md"])
def test_private_files_do_not_come_in_by_an_import(root: Path, tmp_path: Path, importer: str, trusted: bool) -> None:
    folder = "../../" if importer.startswith(".claude") else "./"
    path = root / importer
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(" ".join(f"@{folder}{name}" for name in [*PRIVATE, "style.md"]) + "\n")
    desk = Desk(root=root, home=tmp_path / "home", trusted=trusted)
    built = assemble(desk.snapshot(desk.brief()))
    assert isinstance(built, AssembledContext)
    text = str(built.request)
    assert "Short words." in text
    assert SECRET not in text
    out = {
        one.uri.removeprefix("project:"): one.detail for one in built.manifest.outcomes if one.reason == "unreadable"
    }
    assert set(PRIVATE) <= set(out)
    assert "the policy refuses to read it" in out[".env"]
    assert "the policy refuses to read it" in out["alias.md"]


def test_the_policy_that_holds_now_is_asked(root: Path, tmp_path: Path) -> None:
    (root / "CLAUDE.md").write_text("@style.md\n")
    line = "version: 1\npaths: {read: {deny: [style.md]}}\n"
    own = parse_policy_file(line, uri="user:permissions.yaml", level=PolicyLevel.USER)

    def denying(profile: Profile, task: TaskSpec | None) -> Policy:
        return build_policy([own], project_trusted=True, may_write=False)

    open_to_all, closed = (
        Desk(root=root, home=tmp_path / "h"),
        Desk(root=root, home=tmp_path / "h", policy_for=denying),
    )
    for desk, barred in ((open_to_all, False), (closed, True)):
        (rule,) = by_uri(desk.gatherer().rules().segments, "project:style.md")
        assert (rule.barred is not None) == barred
    assert rule.barred is not None
    assert "user:permissions.yaml:2" in rule.barred.detail
