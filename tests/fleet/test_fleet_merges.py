"""The merge queue on real repositories: conflicts, merges that fail, branches that moved, crashes in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fleet.worlds import Fleet, done, fixed, git, script, use, verdict, write

Make = Callable[..., Fleet]


def task(name: str, *, area: str = "a.txt", verify: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": f"Task {name}", "write_area": [area], "verify": verify or [], **more}


TWO = [task("A"), task("B")]
"""Two independent tasks with one write area: one runs after the other, from the same base."""
CHANGE_A = script("executor", "A", write("a.txt", "from A\n"), done())
CHANGE_B = script("executor", "B", write("a.txt", "from B\n"), done())


def test_a_conflict_is_settled_by_a_debugger_who_sees_both_sides(fleet: Make) -> None:
    run = fleet(TWO, [CHANGE_A, CHANGE_B, script("debugger", "B", write("a.txt", "from A\nfrom B\n"), fixed())])

    assert run.drive() == "done"

    assert run.file("a.txt") == "from A\nfrom B"
    conflict, merged = run.events("merge.finished", "B")
    assert conflict.payload["conflicts"] == ["a.txt"]
    assert "commit" in merged.payload
    shown = run.brief_texts("r1:B:1:debugger:2")
    assert "+from B" in shown["What this task changed"]
    assert "+from A" in shown["What was merged before"]
    assert "<<<<<<< " in shown["a.txt, as the merge left it"]


def test_the_sides_that_a_debugger_sees_are_of_the_conflicting_files_alone(fleet: Make) -> None:
    area = ["a.txt", "b.txt"]
    run = fleet(
        [{**task("A"), "write_area": area}, {**task("B"), "write_area": area}],
        [
            script("executor", "A", write("a.txt", "from A\n"), write("b.txt", "quiet A\n"), done()),
            CHANGE_B,
            script("debugger", "B", write("a.txt", "both\n"), fixed()),
        ],
    )

    assert run.drive() == "done"

    shown = run.brief_texts("r1:B:1:debugger:2")
    assert "quiet A" not in "".join(shown.values())
    assert (run.file("a.txt"), run.file("b.txt")) == ("both", "quiet A")


def test_conflict_markers_that_are_left_fail_the_attempt(fleet: Make) -> None:
    run = fleet(
        [task("A"), task("B", retry={"max_attempts": 1})],
        [CHANGE_A, CHANGE_B, script("debugger", "B", use("fs_read", path="a.txt"), fixed())],
    )

    assert run.drive() == "failed"

    assert run.state("B") == ("failed", 1, "conflict markers are left in a.txt")
    assert run.file("a.txt") == "from A"


def test_a_debugger_that_leaves_the_write_area_while_settling_fails_the_attempt(fleet: Make) -> None:
    run = fleet(
        [task("A"), task("B", retry={"max_attempts": 1})],
        [CHANGE_A, CHANGE_B, script("debugger", "B", write("a.txt", "both\n"), fixed(), n=2)],
    )
    stray = run.root / ".air/local/worktrees/r1/B-1/stray.txt"

    class Smuggler:
        """Puts a file into B's worktree when its conflict is taken in."""

        def __init__(self, repository: Any) -> None:
            self._repository = repository

        def __getattr__(self, name: str) -> Any:
            return getattr(self._repository, name)

        def merge(self, root: str, commit: str, message: str, *, key: str) -> Any:
            merged = self._repository.merge(root, commit, message, key=key)
            if key.endswith(":take"):
                stray.write_text("smuggled\n")
            return merged

    run.changes["repository"] = Smuggler(run.deps().repository)

    assert run.drive() == "failed"
    assert run.events("write_area.violated", "B")[0].payload["paths"] == ["stray.txt"]


def test_work_that_merges_but_does_not_pass_goes_to_the_debugger_with_the_failure(fleet: Make) -> None:
    """A takes a word away from one file, B needs it in another: no conflict, and yet both together are wrong."""
    run = fleet(
        [
            task("A", area="a.txt"),
            task("B", area="b.txt", verify=["diff a.txt b.txt"]),
        ],
        [
            script("executor", "A", write("a.txt", "two\n"), done()),
            script("executor", "B", {**write("b.txt", "one\n"), "delay_seconds": 1.5}, done()),
            script("debugger", "B", write("b.txt", "two\n"), fixed(), n=2),
        ],
    )

    assert run.drive() == "done"

    failed, merged = run.events("merge.finished", "B")
    assert failed.payload["failed"] == "diff a.txt b.txt"
    assert merged.payload["commit"] == git(run.root, "rev-parse", "main")
    shown = run.brief_texts("r1:B:1:debugger:2")
    assert "`diff a.txt b.txt` failed after the merge" in shown
    assert [one.payload["where"] for one in run.events("verify.finished", "B")] == [
        "attempt",
        "integration",
        "attempt",
        "integration",
    ]


def test_without_a_debugger_a_merge_that_does_not_pass_is_evidence_for_the_next_attempt(fleet: Make) -> None:
    run = fleet(
        [
            task("A", area="a.txt"),
            task("B", area="b.txt", verify=["diff a.txt b.txt"], retry={"max_attempts": 1, "escalate": []}),
        ],
        [
            script("executor", "A", write("a.txt", "two\n"), done()),
            script("executor", "B", {**write("b.txt", "one\n"), "delay_seconds": 1.5}, done()),
        ],
    )

    assert run.drive() == "failed"

    assert run.state("B")[2] == "`diff a.txt b.txt` failed after the merge: exit code 1"
    (ended,) = run.events("attempt.finished", "B")
    (kept,) = ended.payload["evidence"]
    assert "-two" in (run.store.texts.get(kept["text"]) or "") or "< two" in (run.store.texts.get(kept["text"]) or "")
    assert (run.file("a.txt"), run.file("b.txt")) == ("two", "one"), "the integration branch stays on what passes"


def test_each_merge_is_a_commit_on_a_branch_that_only_ever_passed(fleet: Make) -> None:
    names = ["A", "B", "C"]
    run = fleet(
        [task(name, area=f"{name}.txt", verify=[f"grep -q {name} {name}.txt"]) for name in names],
        [script("executor", name, write(f"{name}.txt", f"{name}\n"), done()) for name in names],
    )

    assert run.drive() == "done"

    subjects = git(run.root, "log", "--first-parent", "--format=%s", f"{run.run.base_commit}..main").splitlines()
    assert sorted(subjects) == ["Merge A: Task A", "Merge B: Task B", "Merge C: Task C"]
    order = [one.task_id for one in run.events("task.done")]
    assert [subject[6] for subject in reversed(subjects)] == order


def test_a_branch_that_moved_on_is_left_alone_and_the_person_is_told_what_to_type(fleet: Make) -> None:
    run = fleet([task("A")], [CHANGE_A])
    (run.root / "b.txt").write_text("mine\n")
    git(run.root, "commit", "-q", "-am", "Mine")

    assert run.drive() == "done"

    (ended,) = run.events("run.finished")
    assert ended.payload["not_moved"] == "main has commits of its own since the run started"
    assert ended.payload["command"] == "git merge air/r1/integration"
    assert run.file("a.txt", commit="air/r1/integration") == "from A"
    assert git(run.root, "log", "-1", "--format=%s", "main") == "Mine"


def test_what_a_crash_left_on_the_integration_branch_without_a_record_is_given_up(fleet: Make) -> None:
    run = fleet([task("A")], [CHANGE_A])
    root = run.deps().repository.add_worktree("r1/integration", branch="air/r1/integration", commit=run.run.base_commit)
    for name in ("unverified.txt", "half.txt"):
        (run.root / root / name).write_text("left by a crash\n")
    git(run.root / root, "add", "unverified.txt")
    git(run.root / root, "commit", "-q", "-m", "Never recorded")

    assert run.drive() == "done"

    names = git(run.root, "ls-tree", "--name-only", "main").split()
    assert "unverified.txt" not in names
    assert "half.txt" not in names


def test_reviewed_work_is_merged_only_after_its_approval(fleet: Make) -> None:
    run = fleet(
        [task("A", roles=["reviewer"])],
        [CHANGE_A, script("reviewer", "A", use("fs_read", path="a.txt"), verdict("approve"))],
    )

    assert run.drive() == "done"

    kinds = run.kinds("A")
    assert kinds.index("review.finished") < kinds.index("merge.finished")


def test_a_file_that_one_side_deleted_is_settled_like_any_conflict(fleet: Make) -> None:
    remove = script("executor", "B", use("shell", command="rm a.txt"), done())
    run = fleet(TWO, [CHANGE_A, remove, script("debugger", "B", write("a.txt", "kept after all\n"), fixed())])

    assert run.drive() == "done"

    assert run.events("merge.finished", "B")[0].payload["conflicts"] == ["a.txt"]
    shown = run.brief_texts("r1:B:1:debugger:2")
    assert "deleted file" in shown["What this task changed"]
    assert shown["a.txt, as the merge left it"] == "from A\n"
    assert run.file("a.txt") == "kept after all"


def test_bytes_that_are_no_text_are_named_and_not_shown(fleet: Make) -> None:
    """Each side puts other bytes there: no line of them can be merged."""
    scripts = [script("executor", name, use("shell", command=f"cp {name}.bin a.txt"), done()) for name in ("A", "B")]
    run = fleet(
        TWO,
        [*scripts, script("debugger", "B", use("shell", command="cp B.bin a.txt"), fixed())],
        files={"A.bin": "A\0\1", "B.bin": "B\0\2"},
    )

    assert run.drive() == "done"

    shown = run.brief_texts("r1:B:1:debugger:2")["a.txt, as the merge left it"]
    assert shown.startswith("(a.txt cannot be shown: ")
    assert run.file("a.txt") == "B\0\2"


def test_a_conflict_that_the_debugger_cannot_settle_fails_the_attempt_with_its_cause(fleet: Make) -> None:
    run = fleet(
        [task("A"), task("B", retry={"max_attempts": 1})],
        [CHANGE_A, CHANGE_B, script("debugger", "B", fixed(status="blocked", cause="The two contradict."))],
    )

    assert run.drive() == "failed"
    assert run.state("B") == ("failed", 1, "the merge was not settled: The two contradict.")


def test_a_settled_conflict_must_pass_verification(fleet: Make) -> None:
    run = fleet(
        [task("A"), task("B", verify=["grep -q B a.txt"], retry={"max_attempts": 1})],
        [CHANGE_A, CHANGE_B, script("debugger", "B", write("a.txt", "from A\n"), fixed())],
    )

    assert run.drive() == "failed"
    assert run.state("B")[2] == "`grep -q B a.txt` failed after the merge: exit code 1"
    assert run.file("a.txt") == "from A"


def test_a_verification_that_passes_by_an_ignored_file_does_not_count(fleet: Make) -> None:
    """What git ignores is not in the commit, so the integration worktree, which has none of it, is the witness."""
    area = ["a.txt", ".gitignore", "x.cache"]
    retry = {"max_attempts": 1, "escalate": []}
    plan = [{**task("A", verify=["grep -q ok x.cache"]), "write_area": area, "retry": retry}]
    worker = script(
        "executor", "A", write("a.txt", "new\n"), write(".gitignore", "*.cache\n"), write("x.cache", "ok\n"), done()
    )

    run = fleet(plan, [worker])

    assert run.drive() == "failed"
    where = [(event.payload["where"], event.payload["passed"]) for event in run.events("verify.finished", "A")]
    assert where == [("attempt", True), ("integration", False)]
    assert run.events("task.done", "A") == []
