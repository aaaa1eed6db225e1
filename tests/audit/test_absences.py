"""What was never considered is explained with a place; names that are almost right are told."""

from __future__ import annotations

import pytest

from aircoding.audit.absences import PathFacts, absence_of_name, absence_of_path, near_names

PATHS = frozenset(
    {
        "AGENTS.md",
        "AGENTS.override.md",
        "CLAUDE.md",
        "docs/guide.md",
        "web/.claude/CLAUDE.md",
        "web/notes/style.md",
        ".air/shared/plan/sketch.md",
    }
)


def _facts(path: str, state: str = "file", **more: object) -> PathFacts:
    return PathFacts(path=path, state=state, paths=PATHS, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "why", "place", "remedy"),
    [
        (_facts("docs/guide.md"), "no task names it in `reads`", ".air/shared/plan/tasks.yaml", "(`@docs/guide.md`)"),
        (
            _facts("web/notes/style.md", task_id="T2", plan_place=".air/shared/plan/tasks.yaml:7"),
            "task T2 does not name it",
            ".air/shared/plan/tasks.yaml:7",
            "import it in web/.claude/CLAUDE.md (`@../notes/style.md`)",
        ),
        (
            _facts("web/notes/style.md", task_id="T2", read_by=("T1",)),
            "task T2 does not name it in `reads` (T1 does)",
            ".air/shared/plan/tasks.yaml",
            "of T2",
        ),
        (
            _facts("docs/guide.md", read_by=tuple("ABCDEFG")),
            "`reads` of A, B, C, D, E and 2 more, but no prompt",
            ".air/shared/plan/tasks.yaml",
            "--run all",
        ),
        (_facts("AGENTS.md"), "AGENTS.override.md in the same folder", "AGENTS.override.md", "delete that file"),
        (_facts("CLAUDE.md"), "a rule file (CLAUDE.md) for the whole project", ".air/config.toml", "[rules]"),
        (
            _facts("CLAUDE.md", base_commit="c" * 40, in_base=False),
            "commit cccccccccccc",
            "CLAUDE.md",
            "commit CLAUDE.md",
        ),
        (_facts(".air/shared/plan/sketch.md"), "adr/*.md", ".air/shared/plan/tasks.yaml", "`reads`"),
        (_facts("out/x.log", "ignored", ignored_by=".gitignore:3"), ".gitignore:3", ".gitignore:3", "commit it"),
        (_facts("/etc/hosts", "outside"), "outside", ".air/shared/rules/project-rules.md", "copy"),
        (_facts("docs", "folder"), "a folder", "docs/guide.md", "a file in it"),
        (_facts("empty", "folder"), "a folder", ".air/shared/plan/tasks.yaml", "no file"),
        (_facts("docs/guid.md", "none"), "no such file", "docs/guide.md", "spelling"),
        (_facts("a/b/c.txt", "none"), "no such file", ".air/shared/rules/project-rules.md", "write the rule file"),
        (_facts("tools/SKILL.md"), "none that skills are looked for in", ".air/shared/plan/tasks.yaml", "`reads`"),
    ],
)
def test_a_path_that_was_never_considered_has_a_reason_and_a_place(
    facts: PathFacts, why: str, place: str, remedy: str
) -> None:
    found = absence_of_path(facts, known=())

    assert why in found.why
    assert found.place == place
    assert remedy in found.remedy
    assert not found.is_name


def test_a_name_with_one_letter_wrong_is_told_from_one_that_nothing_is_like() -> None:
    known = {"licence-header", ".air/shared/rules/licence-header.md", "toolchain-rules.md#tests"}

    wrong = absence_of_name("licence-hedaer", known, ["AGENTS.md"])
    other = absence_of_name("zebra", known, [f"{n}/AGENTS.md" for n in range(12)])

    assert wrong.near[0] == "licence-header"
    assert wrong.place == ".air/shared/rules/licence-header.md"
    assert other.near == ()
    assert "and 2 more" in other.why
    assert near_names("other/AGENTS.md", {"docs/AGENTS.md", "README.md"}) == ("docs/AGENTS.md",)
