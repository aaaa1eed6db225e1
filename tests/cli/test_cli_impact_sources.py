"""`context impact` of each kind of file that prompts are made from: who sees a change of it, and nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.projects import make_commit, make_project, write_tree

from aircoding.app.impact import Impact, ImpactRequest, find_impact
from aircoding.cli.main import cli
from aircoding.errors import ConfigError

ROLE = (
    "---\nrole: guide\ntitle: Guide\nlayers:\n  L5: {detail: full}\nwrites: none\ntools: [read]\n"
    "result: worker-result\n---\n\nYou help with numbers.\n"
)
SKILL = "---\nname: count\ndescription: How to count.\n---\nCount in pieces.\n"
POLICY = 'version: 1\npaths: {write: {deny: ["secret/**"]}}\n'
PLAN = (
    "version: 1\ngoal: g\ntasks:\n  - {id: T1, title: Count, write_area: ['stock/**']}\n"
    "  - {id: T2, title: Tell, write_area: ['docs/**']}\n"
)
FILES = {
    "AGENTS.md": "# Rules\nBe brief.\n",
    "stock/AGENTS.md": "Stock is counted in pieces.\n",
    "docs/GUIDE.txt": "Use British English.\n",
    "docs/a.md": "a\n",
    "stock/a.py": "x = 1\n",
    ".air/config.toml": '[rules]\nagents_fallbacks = ["GUIDE.txt"]\n',
    ".air/shared/permissions.yaml": POLICY,
    ".air/shared/plan/tasks.yaml": PLAN,
    ".air/shared/roles/guide.md": ROLE,
    ".agents/skills/count/SKILL.md": SKILL,
}
ALL = frozenset(FILES)
DOCS = frozenset({"docs/GUIDE.txt", "docs/a.md"})
STOCK = frozenset({"stock/AGENTS.md", "stock/a.py"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is written, the lines that are told of it, and who sees it: paths and tasks of executors, roles as such."""

    files: Mapping[str, str]
    told: str
    paths: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    others: frozenset[str] = field(default=frozenset({"guide"}))
    """Roles that do not see it."""
    state: str = "reaches"


CHANGES = {
    "a setting that lets a file in": Change(
        files={".air/config.toml": "[rules]\n"},
        told="Use British English.",
        paths=DOCS,
        tasks=frozenset({"T2"}),
        others=frozenset({"main", "executor"}),
    ),
    "a setting that keeps files out": Change(
        files={".air/config.toml": '[rules]\nagents_fallbacks = ["GUIDE.txt"]\nexcludes = ["stock/AGENTS.md"]\n'},
        told="Stock is counted in pieces.",
        paths=STOCK,
        tasks=frozenset({"T1"}),
        others=frozenset({"main", "executor"}),
    ),
    "a policy": Change(
        files={".air/shared/permissions.yaml": POLICY.replace("secret", "stock")},
        told="`stock/**`",
        paths=ALL,
        tasks=frozenset({"T1", "T2"}),
        roles=frozenset({"executor", "debugger"}),
        others=frozenset({"guide", "main"}),
    ),
    "a setting and a role, of which either may let a file in": Change(
        files={".air/config.toml": "[rules]\n", ".air/shared/roles/guide.md": ROLE.replace("Guide", "A guide")},
        told="Use British English.",
        paths=DOCS,
        tasks=frozenset({"T2"}),
        others=frozenset({"main", "executor"}),
        state="unsure",
    ),
    "what a skill says of itself": Change(
        files={".agents/skills/count/SKILL.md": SKILL.replace("How to", "When to")},
        told="+- count: When to count.",
        roles=frozenset({"main"}),
    ),
    "a role": Change(
        files={".air/shared/roles/guide.md": ROLE.replace("numbers", "sums")},
        told="+You help with sums.",
        roles=frozenset({"guide"}),
        others=frozenset({"main", "executor"}),
    ),
    "a task": Change(
        files={".air/shared/plan/tasks.yaml": PLAN.replace("Count", "Sum")},
        told="+Task T1: Sum",
        tasks=frozenset({"T1"}),
        roles=frozenset({"main", "scheduler"}),
        others=frozenset({"executor", "guide"}),
    ),
    "the goal": Change(
        files={".air/shared/plan/tasks.yaml": PLAN.replace("goal: g", "goal: h")},
        told="+Goal: h",
        roles=frozenset({"main", "scheduler"}),
        others=frozenset({"executor", "guide"}),
    ),
    "the plan in words": Change(
        files={".air/shared/plan/plan.md": "# Goal\nNew words.\n"},
        told="New words.",
        paths=ALL | {".air/shared/plan/plan.md"},
        tasks=frozenset({"T1", "T2"}),
        roles=frozenset({"main", "executor"}),
    ),
}


def _seen(impact: Impact, viewer: str, kind: str) -> frozenset[str]:
    return frozenset(
        subject
        for effect in impact.effects
        for reader in effect.readers
        if (reader.viewer, reader.kind) == (viewer, kind)
        for subject in reader.subjects
    )


def _told(impact: Impact) -> str:
    changes = [effect.change for effect in impact.effects]
    lines = [line for change in changes for both in change.changed for line in both.diff]
    lines += [part.text for change in changes for part in change.added]
    lines += [one.part.text for change in changes for one in change.removed]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_commit(make_project(tmp_path_factory.mktemp("sources") / "p", FILES))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_told_with_those_who_see_it(change: Change, root: Path) -> None:
    write_tree(root, change.files)
    try:
        found = find_impact(ImpactRequest(start=root, base="HEAD"))
    finally:
        for path in change.files:
            (root / path).unlink()
        write_tree(root, {path: FILES[path] for path in change.files if path in FILES})
    assert change.told in _told(found)
    assert _seen(found, "executor", "path") == change.paths
    assert _seen(found, "executor", "task") == change.tasks
    roles = {one.viewer for effect in found.effects for one in effect.readers if one.kind == "role"}
    assert change.roles <= roles
    assert not change.others & roles
    assert {one.path: (one.source, one.state) for one in found.files} == dict.fromkeys(
        change.files, (True, change.state)
    )


def test_a_skill_body_that_nobody_has_loaded_is_told_as_such(root: Path) -> None:
    write_tree(root, {".agents/skills/count/SKILL.md": SKILL.replace("pieces", "dozens")})
    try:
        found = find_impact(ImpactRequest(start=root, base="HEAD", roles=("executor", "main")))
    finally:
        write_tree(root, {".agents/skills/count/SKILL.md": SKILL})
    assert found.effects == ()
    assert [(one.source, one.state) for one in found.files] == [(True, "reaches_nobody")]


BROKEN = {
    ".air/shared/permissions.yaml": "version: 1\npaths: {write: {deny: secret}}\n",
    ".air/config.toml": "[rules\n",
    ".air/shared/roles/guide.md": "no header\n",
    ".air/shared/plan/tasks.yaml": "version: 1\ntasks: [{id: T1}]\n",
}
"""Files that cannot be read, by their path."""


@pytest.fixture
def broken(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A project whose one commit has broken settings, and whose working tree mends them and changes a rule."""
    paths: tuple[str, ...] = request.param
    root = make_commit(make_project(tmp_path / "p", FILES | {path: BROKEN[path] for path in paths}))
    write_tree(root, {path: FILES[path] for path in paths} | {"stock/AGENTS.md": "Stock is counted in dozens.\n"})
    return root


@pytest.mark.parametrize("broken", [*((path,) for path in BROKEN), tuple(BROKEN)], indirect=True)
def test_a_base_that_cannot_be_read_hides_no_other_change(broken: Path) -> None:
    found = find_impact(ImpactRequest(start=broken, base="HEAD"))
    mended = {one.path for one in found.files} - {"stock/AGENTS.md"}
    assert "Stock is counted in dozens." in _told(found)
    assert _seen(found, "executor", "path") == STOCK
    assert _seen(found, "executor", "task") == {"T1"}
    states = {one.path: one.state for one in found.files}
    assert states == {"stock/AGENTS.md": "reaches"} | dict.fromkeys(mended, "unsure")
    folders = {path.removesuffix("/guide.md") if "/roles/" in path else path for path in mended}
    assert set(found.unread) == folders
    assert len(found.notes) == len(folders)
    assert all("is taken from the working tree" in note and "air-side" not in note for note in found.notes)


@pytest.mark.parametrize("broken", [(".air/shared/permissions.yaml",)], indirect=True)
def test_a_gate_notices_that_the_base_cannot_be_read(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(broken)
    asked = ["context", "impact", "--base", "HEAD", "--role", "guide", "--exit-code"]
    done = CliRunner().invoke(cli, asked)
    assert (done.exit_code, "nobody sees a difference" in done.output) == (1, True), done.output
    assert "permissions.yaml" in done.output
    make_commit(broken)
    assert CliRunner().invoke(cli, asked).exit_code == 0


@pytest.mark.parametrize("path", BROKEN)
def test_a_later_side_that_cannot_be_read_is_an_error(path: str, root: Path) -> None:
    write_tree(root, {path: BROKEN[path]})
    try:
        with pytest.raises(ConfigError) as told:
            find_impact(ImpactRequest(start=root, base="HEAD"))
    finally:
        write_tree(root, {path: FILES[path]})
    assert told.value.exit_code == 2
    # Settings are read before the sides are laid out.
    assert told.value.message.startswith(("the working tree: ", f"{root}/.air/config.toml: "))
    assert "air-side" not in told.value.message
