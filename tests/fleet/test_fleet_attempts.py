"""The life of attempts on real repositories: what is done, debugged, reviewed, retried, refused, blocked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fleet.worlds import Fleet, done, fixed, git, script, use, verdict, write

Make = Callable[..., Fleet]
A = {"id": "A", "title": "Word", "write_area": ["a.txt"], "verify": ["grep -q good a.txt"]}


def with_a(**more: Any) -> list[dict[str, Any]]:
    return [{**A, **more}]


def test_work_that_passes_is_merged_and_moves_the_branch(fleet: Make) -> None:
    run = fleet(with_a(), [script("executor", "A", write("a.txt", "good\n"), done(changed_files=["a.txt"]))])

    assert run.drive() == "done"

    assert run.file("a.txt") == "good"
    assert (run.root / "a.txt").read_text() == "good\n"
    assert run.kinds("A") == [
        "task.dispatched",
        "worktree.prepared",
        "commit.created",
        "verify.finished",
        "verify.finished",
        "merge.finished",
        "task.done",
        "attempt.finished",
    ]
    assert run.state("A") == ("done", 1, "")
    (ended,) = run.events("run.finished")
    assert (ended.payload["status"], ended.payload["not_moved"]) == ("done", None)
    assert run.events("commit.created")[0].payload["changed_files"] == ["a.txt"]


def test_a_failed_verification_brings_in_the_debugger_with_the_output(fleet: Make) -> None:
    run = fleet(
        with_a(verify=["cat a.txt", "grep -q good a.txt"]),
        [
            script("executor", "A", write("a.txt", "bad\n"), done()),
            script("debugger", "A", write("a.txt", "good\n"), fixed()),
        ],
    )

    assert run.drive() == "done"

    assert run.roles("A") == ["executor", "debugger"]
    assert run.brief_texts("r1:A:1:debugger:1") == {
        "`grep -q good a.txt` failed": "$ grep -q good a.txt\n\n(exit code 1)"
    }
    verified = [(one.payload["where"], one.payload["passed"]) for one in run.events("verify.finished")]
    attempt = [passed for where, passed in verified if where == "attempt"]
    assert attempt == [True, False, True, True]
    assert [passed for where, passed in verified if where == "integration"] == [True, True]


def test_without_a_debugger_the_failure_is_the_evidence_of_the_next_attempt_from_the_same_base(fleet: Make) -> None:
    run = fleet(
        with_a(retry={"max_attempts": 2, "escalate": []}),
        [
            script("executor", "A", write("a.txt", "bad\n"), done(), attempt=1),
            script("executor", "A", write("a.txt", "good\n"), done(), attempt=2),
        ],
    )

    assert run.drive() == "done"

    assert run.roles("A") == ["executor", "executor"]
    first, second = run.events("task.dispatched")
    assert first.payload["base_commit"] == second.payload["base_commit"] == run.run.base_commit
    brief = run.store.sessions.brief("r1:A:2:executor:1")  # type: ignore[arg-type]
    (failure,) = brief.evidence
    assert (failure.layer, failure.kind, failure.title) == (
        "L8",
        "failure",
        "Attempt 1: `grep -q good a.txt` failed",
    )
    assert "attempt 2" in brief.instruction


def test_a_task_whose_attempts_all_fail_has_failed_and_its_dependents_are_blocked(fleet: Make) -> None:
    after = {"id": "B", "title": "After", "depends_on": ["A"], "write_area": ["b.txt"]}
    other = {"id": "C", "title": "Other", "write_area": ["c.txt"]}
    run = fleet(
        [*with_a(retry={"max_attempts": 1, "escalate": []}), after, other],
        [
            script("executor", "A", write("a.txt", "bad\n"), done()),
            script("executor", "C", write("c.txt", "c\n"), done()),
        ],
    )

    assert run.drive() == "failed"

    assert run.state("A") == ("failed", 1, "`grep -q good a.txt` failed: exit code 1")
    assert run.state("B") == ("blocked", 0, "depends on A, which failed")
    assert run.state("C")[0] == "done"
    assert run.file("c.txt") == "c"
    assert run.file("a.txt") == "one", "the integration branch never holds work that fails"


def test_a_change_outside_the_write_area_fails_the_attempt_and_is_not_committed(fleet: Make) -> None:
    run = fleet(
        with_a(retry={"max_attempts": 1}, write_area=["a.txt"]),
        [script("executor", "A", write("a.txt", "good\n"), use("shell", command="touch stray.txt"), done())],
        files={".air/shared/permissions.yaml": "version: 1\ncommands: {allow: ['touch *']}\n"},
    )
    stray = run.root / ".air/local/worktrees/r1/A-1/stray.txt"
    worktree = run.deps().repository.add_worktree("r1/A-1", branch="air/r1/A-1", commit=run.run.base_commit)
    assert worktree == str(stray.parent)
    stray.write_text("left by whatever ran here\n")

    assert run.drive() == "failed"

    (violated,) = run.events("write_area.violated")
    assert violated.payload["paths"] == ["stray.txt"]
    assert run.state("A")[2] == "changed files outside its write area: stray.txt"
    assert not run.events("commit.created")
    assert stray.exists(), "work is never thrown away"


def test_what_a_worker_committed_by_itself_is_checked_too(fleet: Make) -> None:
    run = fleet(with_a(retry={"max_attempts": 1}), [script("executor", "A", write("a.txt", "good\n"), done())])
    root = run.root / ".air/local/worktrees/r1/A-1"
    run.deps().repository.add_worktree("r1/A-1", branch="air/r1/A-1", commit=run.run.base_commit)
    (root / "b.txt").write_text("smuggled\n")
    git(root, "commit", "-q", "-am", "Mine")

    assert run.drive() == "failed"

    assert run.events("write_area.violated")[0].payload["paths"] == ["b.txt"]


def test_work_sent_back_by_the_reviewer_goes_on_from_its_commit_with_the_findings(fleet: Make) -> None:
    run = fleet(
        with_a(roles=["reviewer"], write_area=["a.txt", "c.txt"]),
        [
            script("executor", "A", write("a.txt", "good\n"), done(), attempt=1),
            script("reviewer", "A", verdict("changes_requested", "c.txt is missing"), attempt=1),
            script("executor", "A", write("c.txt", "c\n"), done(), attempt=2),
            script("reviewer", "A", verdict("approve"), attempt=2),
        ],
    )

    assert run.drive() == "done"

    assert [one.payload["verdict"] for one in run.events("review.finished")] == ["changes_requested", "approve"]
    first, second = run.events("task.dispatched")
    commits = [one.payload["commit"] for one in run.events("commit.created")]
    assert second.payload["base_commit"] == commits[0] != first.payload["base_commit"]
    brief = run.store.sessions.brief("r1:A:2:executor:1")  # type: ignore[arg-type]
    assert [(one.layer, one.text) for one in brief.evidence] == [
        ("L6", "- major correctness, a.txt:1: c.txt is missing")
    ]
    review = run.brief_texts("r1:A:2:reviewer:1")
    assert "+good" in review["The change"], "the reviewer sees the whole work on the task"
    assert "+c" in review["The change"]
    assert run.file("c.txt") == "c"


def test_a_review_without_a_verdict_is_held_again_and_then_blocks_the_task(fleet: Make) -> None:
    say = {"text": "I do not know."}
    run = fleet(
        with_a(roles=["reviewer"], retry={"max_attempts": 3}),
        [
            script("executor", "A", write("a.txt", "good\n"), done()),
            script("reviewer", "A", say, say),
        ],
    )

    assert run.drive() == "failed"

    assert run.roles("A") == ["executor", "reviewer", "reviewer"], "the executor is not asked again: it did its part"
    state, attempts, reason = run.state("A")
    assert (state, attempts) == ("blocked", 1)
    assert reason.startswith("the review came to no verdict: ")


def test_an_executor_that_is_blocked_blocks_the_task_with_its_reason(fleet: Make) -> None:
    words = {"status": "blocked", "summary": "No word is given.", "blocker": "the word", "evidence": ["a.txt"]}
    run = fleet(with_a(), [script("executor", "A", done(**words))])

    assert run.drive() == "failed"

    assert run.state("A") == ("blocked", 1, "No word is given.")


def test_commands_of_ours_leave_nothing_in_the_worktree_for_the_next_worker_to_answer_for(fleet: Make) -> None:
    run = fleet(
        with_a(
            verify=["touch report.txt x.cache", "grep -q good a.txt"], write_area=["a.txt", "report.txt", "x.cache"]
        ),
        [
            script("executor", "A", write("a.txt", "bad\n"), done()),
            script("debugger", "A", write("a.txt", "good\n"), fixed()),
        ],
    )

    assert run.drive() == "done"

    assert git(run.root, "ls-tree", "--name-only", "main").split() == [
        ".air",
        ".gitignore",
        "a.txt",
        "b.txt",
        "script.yaml",
    ]
    assert (run.root / ".air/local/worktrees/r1/A-1/x.cache").exists(), "what git ignores stays: caches are meant to"


def test_a_task_that_changes_nothing_and_passes_is_done(fleet: Make) -> None:
    run = fleet(with_a(verify=["grep -q one a.txt"]), [script("executor", "A", done())])

    assert run.drive() == "done"
    assert run.run.base_commit == git(run.root, "rev-parse", "main")


def test_an_attempt_that_breaks_blocks_its_task_and_the_rest_goes_on(fleet: Make) -> None:
    run = fleet(
        [*with_a(), {"id": "B", "title": "Other", "write_area": ["b.txt"]}],
        [
            script("executor", "A", write("a.txt", "good\n"), done()),
            script("executor", "B", write("b.txt", "b\n"), done()),
        ],
    )
    wired = run.deps().policy_for_task

    def broken(task: Any) -> Any:
        if task.id == "A":
            raise RuntimeError("a bug")
        return wired(task)

    run.changes["policy_for_task"] = broken

    assert run.drive() == "failed"
    assert run.state("A") == ("blocked", 1, "the attempt broke: RuntimeError: a bug")
    assert run.state("B")[0] == "done"


def test_results_of_dependencies_name_the_files_that_were_really_changed(fleet: Make) -> None:
    run = fleet(
        [*with_a(), {"id": "B", "title": "After", "depends_on": ["A"], "write_area": ["b.txt"]}],
        [
            script("executor", "A", write("a.txt", "good\n"), done(changed_files=["invented.py"], summary="Did A.")),
            script("executor", "B", done()),
        ],
    )

    assert run.drive() == "done"

    (result,) = run.store.sessions.brief("r1:B:1:executor:1").dependencies  # type: ignore[arg-type]
    assert (result.task_id, result.summary, result.changed_files) == ("A", "Did A.", ("a.txt",))


def test_a_debugger_that_is_blocked_gives_the_attempt_its_cause(fleet: Make) -> None:
    run = fleet(
        with_a(retry={"max_attempts": 1}),
        [
            script("executor", "A", write("a.txt", "bad\n"), done()),
            script("debugger", "A", fixed(status="blocked", cause="Nobody says which word is good.")),
        ],
    )

    assert run.drive() == "failed"
    assert run.state("A") == ("failed", 1, "Nobody says which word is good.")


def test_what_the_debugger_left_must_pass_too(fleet: Make) -> None:
    run = fleet(
        with_a(retry={"max_attempts": 1}),
        [
            script("executor", "A", write("a.txt", "bad\n"), done()),
            script("debugger", "A", write("a.txt", "worse\n"), fixed()),
        ],
    )

    assert run.drive() == "failed"
    assert run.state("A") == ("failed", 1, "`grep -q good a.txt` failed: exit code 1")
    assert run.roles("A") == ["executor", "debugger"]


def test_a_result_that_names_other_files_than_its_commit_is_told_and_fails_nothing(fleet: Make) -> None:
    tasks = [
        {"id": "A", "title": "Word", "write_area": ["*.txt"]},
        {"id": "B", "title": "Docs", "write_area": ["docs/**"]},
        {"id": "C", "title": "Look", "verify": ["true"]},
        {"id": "D", "title": "Nothing", "write_area": ["d/**"]},
    ]
    claim = done(changed_files=["docs/x.md", "./docs/y.md"])
    scripts = [
        script("executor", "A", write("a.txt", "good\n"), write("b.txt", "good\n"), done(changed_files=["./a.txt"])),
        script("executor", "B", claim),
        script("executor", "C", done()),
        script("executor", "D", done()),
    ]
    run = fleet(tasks, scripts)

    assert run.drive() == "done"

    told = {event.task_id: event.payload for event in run.events("result.differs")}
    assert set(told) == {"A", "B"}
    assert (told["A"]["reported"], told["A"]["changed"]) == (["a.txt"], ["a.txt", "b.txt"])
    assert told["A"]["remark"] == "changed b.txt, which its result does not name"
    assert told["B"]["not_changed"] == ["docs/x.md", "docs/y.md"]
    remark = "reported docs/x.md, docs/y.md as changed, and nothing was changed"
    assert told["B"]["remark"] == remark
    assert [run.state(name) for name in "ABCD"] == [
        ("done", 1, ""),
        ("done", 1, remark),
        ("done", 1, ""),
        ("done", 1, "nothing was changed"),
    ]
    ended = {event.task_id: event.payload["reason"] for event in run.events("attempt.finished")}
    assert ended["B"] == remark


def test_what_a_debugger_adds_settles_what_the_executor_had_reported_too_early(fleet: Make) -> None:
    run = fleet(
        with_a(),
        [
            script("executor", "A", done(changed_files=["a.txt"])),
            script("debugger", "A", write("a.txt", "good\n"), fixed()),
        ],
        files={"a.txt": "bad\n"},
    )

    assert run.drive() == "done"

    (told,) = run.events("result.differs")
    assert told.payload["remark"] == "reported a.txt as changed, and nothing was changed"
    assert run.state("A") == ("done", 1, "")
