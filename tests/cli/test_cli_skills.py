"""`aircoding skills` as a process: what it lists, shows and refuses, and where it works."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import Ended, air
from support.plugins import install_plugin
from support.projects import make_commit, make_project, write_tree

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-skills.md"
COOKING = "---\nname: cooking\ndescription: Plan weeknight meals\ntriggers: dinner\n---\n# Cooking\n\nPeel first.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository without `.air/` and without a commit, and a skill of the user's of the same name."""
    root = make_project(tmp_path / "project", {".claude/skills/cooking/SKILL.md": COOKING})
    write_tree(Path(os.environ["AIR_HOME"]), {"skills/cooking/SKILL.md": COOKING})
    return root


def listed(ended: Ended) -> list[tuple[Any, ...]]:
    views: Any = ended.result["skills"]
    return [(one["name"], one["where"], one["usable"]) for one in views]


def test_before_and_after_trust(root: Path) -> None:
    before = air(root, "skills", "list", "--json")
    assert before.code == 0
    assert listed(before) == [
        ("cooking", "~/.air/skills/cooking/SKILL.md", True),
        ("cooking", ".claude/skills/cooking/SKILL.md", False),
    ]
    assert "aircoding permissions trust" in str(before.result["skills"])
    assert not (root / ".air").exists()

    make_commit(root)
    assert air(root, "permissions", "trust").code == 0
    after = air(root, "skills", "list", "--json")
    assert listed(after) == [
        ("cooking", ".claude/skills/cooking/SKILL.md", True),
        ("cooking", "~/.air/skills/cooking/SKILL.md", False),
    ]
    assert [one["code"] for one in after.result["diagnostics"]] == ["skill.collision"]  # type: ignore[index, attr-defined]
    text = air(root, "skills", "list").output
    assert "Plan weeknight meals" in text
    assert "user:skills/cooking/SKILL.md: warning: " in text


def test_show_prints_header_and_body(root: Path) -> None:
    shown = air(root, "skills", "show", "cooking")
    assert shown.output == (
        "cooking\n  where: ~/.air/skills/cooking/SKILL.md\n  used: yes\n  description: Plan weeknight meals\n"
        "  triggers: dinner\n\n# Cooking\n\nPeel first.\n"
    )
    skill: Any = air(root, "skills", "show", "cooking", "--json").result["skill"]
    assert (skill["body"], skill["skill"]["triggers"]) == ("# Cooking\n\nPeel first.", ["dinner"])
    unknown = air(root, "skills", "show", "baking")
    assert (unknown.code, "there are: cooking" in unknown.output) == (2, True)


def test_check_is_strict_and_names_file_line_and_way_out(root: Path) -> None:
    assert air(root, "skills", "check").code == 0
    assert "2 skill files are in order" in air(root, "skills", "check").output
    write_tree(root, {".agents/skills/x/SKILL.md": "---\nname: X\ndescription: Use when: a\nlicence: MIT\n---\nx\n"})
    checked = air(root, "skills", "check")
    assert checked.code == 1
    assert ".agents/skills/x/SKILL.md:2: error: `X` is no name of a skill" in checked.output
    assert (
        ".agents/skills/x/SKILL.md:4: error: `licence` is no key of a skill; did you mean `license`?" in checked.output
    )
    findings: Any = air(root, "skills", "check", ".agents/skills/x", "--json").result["findings"]
    assert {one["uri"] for one in findings} == {".agents/skills/x/SKILL.md"}
    for path in (".claude/skills/cooking/SKILL.md", ".claude/skills/cooking", ".claude/skills"):
        assert air(root, "skills", "check", path).code == 0, path


@pytest.mark.parametrize(("path", "said"), [("none", "is not there"), ("empty", "holds no SKILL.md")])
def test_a_path_without_a_skill_is_a_wrong_call(root: Path, path: str, said: str) -> None:
    (root / "empty").mkdir()
    ended = air(root, "skills", "check", path)
    assert (ended.code, said in ended.output) == (2, True)


def test_what_cannot_be_read_is_a_finding_and_no_traceback(root: Path) -> None:
    (root / ".claude/skills/fifo").mkdir()
    os.mkfifo(root / ".claude/skills/fifo/SKILL.md")
    write_tree(root, {".claude/skills/b/SKILL.md": b"\0", ".claude/skills/e\x1b[31m/SKILL.md": COOKING})
    checked = air(root, "skills", "check")
    assert (checked.code, "no regular file" in checked.output, "Traceback" in checked.output) == (1, True, False)
    assert "\x1b" not in checked.output + air(root, "skills", "list").output


def test_outside_a_repository_there_are_the_users_own(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    folder.mkdir()
    assert listed(air(folder, "skills", "list", "--json")) == [("cooking", "~/.air/skills/cooking/SKILL.md", True)]
    assert air(folder, "skills", "check", str(root / ".claude/skills")).code == 0


def test_settings_switch_folders_and_names_off(root: Path) -> None:
    write_tree(root, {".air/config.toml": '[skills]\nclaude = false\ndisabled = ["cooking"]\n'})
    views: Any = air(root, "skills", "list", "--json").result["skills"]
    assert [one["usable"] for one in views] == [False, False]
    assert "`[skills] claude = false`" in str(views)
    assert "`[skills] disabled` in config.toml names it" in str(views)


def test_plan_check_names_a_skill_that_cannot_be_used(root: Path) -> None:
    plan = '{"version": 1, "goal": "g", "tasks": [{"id": "A", "title": "A", "write_area": ["a"], "verify": ["true"]}]}'
    broken = "---\nname: broken\ndescription: [\n---\n"
    write_tree(root, {".air/shared/plan/tasks.yaml": plan, ".claude/skills/broken/SKILL.md": broken})
    make_commit(root)
    air(root, "permissions", "trust")
    assert ".claude/skills/broken/SKILL.md:3" in air(root, "plan", "check").output


def test_a_worker_without_the_body_is_told_why_not(root: Path) -> None:
    make_commit(root)
    air(root, "permissions", "trust")
    context = air(root, "context", "build", "--role", "executor", "--json")
    assert context.code == 0
    assert "trigger_not_matched" in context.output


def test_the_commands_of_the_page_do_what_it_says(root: Path) -> None:
    make_commit(root)
    blocks = [block.removeprefix("sh\n") for block in PAGE.read_text().split("```")[1::2]]
    (commands,) = [block for block in blocks if block.startswith("aircoding")]
    example = next(block.removeprefix("markdown\n") for block in blocks if block.startswith("markdown"))
    write_tree(root, {".air/shared/skills/release/SKILL.md": example})
    for line in commands.strip().splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "aircoding"
        ended = air(root, *arguments)
        assert ended.code == 0, (line, ended.output)


PLUGIN = """\
def register(ctx):
    for name in ("bake", "cooking"):
        ctx.skill(name, f"From afar: {name}", "Knead.")
"""


def test_e46_skills_of_plugins_are_listed_and_shown_and_collide_like_others(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install_plugin(tmp_path / "site", "house", PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(site))
    found = air(root, "skills", "list", "--json")
    assert listed(found)[:2] == [
        ("bake", "plugin:house/skills/bake/SKILL.md", True),
        ("cooking", "~/.air/skills/cooking/SKILL.md", True),
    ]
    assert ("cooking", "plugin:house/skills/cooking/SKILL.md", False) in listed(found)
    assert [(one["code"], one["uri"]) for one in found.result["diagnostics"]] == [  # type: ignore[attr-defined]
        ("skill.collision", "plugin:house/skills/cooking/SKILL.md")
    ]
    assert "\n\nKnead." in air(root, "skills", "show", "bake").output

    write_tree(root, {".air/shared/permissions.yaml": "version: x\n"})
    broken = air(root, "skills", "list")
    assert (broken.code, "house takes no part: not loaded: " in broken.output) == (0, True), broken.output
    (root / ".air/shared/permissions.yaml").unlink()
    install_plugin(site, "bad", "raise ImportError('no oven')")
    assert "bad takes no part: ImportError: no oven" in air(root, "skills", "list").output
    assert "bad takes no part" in air(root, "skills", "show", "none").output


def test_e20_a_link_that_is_a_file_here_is_named_with_its_fix(root: Path) -> None:
    write_tree(root, {".agents/skills/bake/SKILL.md": COOKING.replace("cooking", "bake")})
    write_tree(root, {".claude/skills/bake": "../../.agents/skills/bake", ".claude/skills/README.md": "See below.\n"})
    for command in ("list", "check"):
        ended = air(root, "skills", command)
        assert ".claude/skills/bake: warning: it is a file that holds only the name of the folder" in ended.output
        assert "core.symlinks" in ended.output
        assert "README.md" not in ended.output


def test_a_reason_that_many_have_is_told_once_and_lines_stay_short(root: Path) -> None:
    write_tree(root, {f".claude/skills/s{n}/SKILL.md": COOKING.replace("cooking", f"s{n}") for n in range(9)})
    output = air(root, "skills", "list").output
    assert output.count("the project is not trusted") == 1
    assert "not used: cooking, s0, s1" in output
    assert max(len(line) for line in output.splitlines() if not line.startswith("not used")) <= 120
