"""A session that goes on while its sources change: what was sent stays, and the session is told once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from support.contexts import message
from support.prefixes import first_difference
from support.projects import Desk, effective_policy, make_project, write_tree
from support.spans import assert_covered

from aircoding.context.assembler import assemble
from aircoding.records.digests import sha256_bytes
from aircoding.records.ids import TaskId
from aircoding.records.layers import OutcomeKind, Reason, Scope
from aircoding.records.manifest import AssembledContext, Overflow
from aircoding.records.policy import Policy
from aircoding.records.profiles import Profile
from aircoding.records.sessions import SessionBrief, SteeringEntry
from aircoding.records.snapshot import Message
from aircoding.records.tasks import TaskSpec

FILES = {
    "AGENTS.md": "# House\n\nAnswer in short sentences.\n\n## Tests\n\nRun `make test`.\n",
    "src/AGENTS.md": "Use tabs.\n",
    "docs/AGENTS.md": "One sentence a line.\n",
    "src/a.py": "one = 1\ntwo = 2\nthree = 3\n",
    ".air/shared/plan/plan.md": "# Plan\n\nBuild it.\n",
}
TASK = TaskSpec(id=TaskId("T1"), title="Add a parser", write_area=("src/**",), reads=("src/a.py",))


@dataclass(kw_only=True)
class Session:
    """A session turn by turn: each turn is read by a new gatherer, as a resumed process would read it."""

    desk: Desk
    brief: SessionBrief
    contexts: list[AssembledContext] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def turn(self, *, steering: Sequence[SteeringEntry] = (), touched: Sequence[str] = ()) -> AssembledContext:
        number = len(self.contexts) + 1
        if self.contexts:
            call = {"type": "tool_use", "id": f"t{number}", "name": "fs_read", "input": {"path": "README.md"}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": [{"type": "text", "text": "Hi."}]}
            self.messages += [
                message(len(self.messages), "assistant", call),
                message(len(self.messages) + 1, "user", result),
            ]
        frame = self.desk.gatherer().gather(
            self.brief,
            turn=number,
            messages=self.messages,
            frozen=self.contexts[-1] if self.contexts else None,
            steering=steering,
            touched_paths=touched,
        )
        context = assemble(frame)
        assert isinstance(context, AssembledContext)
        assert_covered(context)
        assert {one.segment_id for one in frame.segments} <= {
            *(note.segment_id for note in context.manifest.outcomes),
            *(record.segment_id for record in context.manifest.segments),
            *(one.segment_id for one in frame.segments if one.kind == "time"),
        }
        if self.contexts:
            assert first_difference(self.contexts[-1].request, context.request) is None
        self.contexts.append(context)
        return context

    def told(self) -> str:
        """Return what the newest request says beyond the one before it and the recorded turns."""
        before, now = self.contexts[-2].request["messages"], self.contexts[-1].request["messages"]
        return "\n".join(
            block["text"] for one in now[len(before) :] for block in one["content"] if block["type"] == "text"
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(root=make_project(tmp_path / "project", FILES), home=tmp_path / "home", system_turns=True)


@pytest.fixture
def session(desk: Desk) -> Session:
    return Session(desk=desk, brief=desk.brief(task=TASK))


def test_nothing_is_said_when_nothing_changed_whatever_the_hour(session: Session) -> None:
    session.turn()
    session.desk.clock.at = "2027-01-01T00:00:01Z"
    context = session.turn()
    assert [one["role"] for one in context.messages] == ["user", "assistant", "user"]
    assert session.told() == ""


def test_row_epoch_snapshot_a_rule_edited_in_mid_session_is_told_once_and_stands_in_place_in_the_next_epoch(
    session: Session,
) -> None:
    first = session.turn()
    write_tree(session.desk.root, {"src/AGENTS.md": "Use spaces.\n"})
    second = session.turn()
    assert session.told().startswith("## Changed: src/AGENTS.md (for src/)\nThis text holds from now on")
    assert "Use spaces." in session.told()
    assert session.told().rstrip().endswith("Current time: 2026-11-30T12:00:00Z")
    assert second.messages[-1]["role"] == "system"
    digests = {mark.mark: mark.prefix_digest for mark in second.manifest.cache}
    assert [digests.get(mark.mark) for mark in first.manifest.cache[:3]] == [
        mark.prefix_digest for mark in first.manifest.cache[:3]
    ], "the manifest has the digest of what is frozen, and it does not move"
    session.turn()
    assert session.told() == ""
    opened = assemble(session.desk.gatherer().gather(session.brief, turn=4, messages=session.messages, frozen=None))
    assert isinstance(opened, AssembledContext)
    assert "Use spaces." in str(opened.messages[0])
    assert "Use tabs." not in str(opened.request)
    assert opened.system == tuple(first.system) or first_difference(first.request, opened.request) is not None


def test_an_edit_that_is_taken_back_is_told_too(session: Session) -> None:
    session.turn()
    write_tree(session.desk.root, {"src/AGENTS.md": "Use spaces.\n"})
    session.turn()
    write_tree(session.desk.root, {"src/AGENTS.md": "Use tabs.\n"})
    session.turn()
    assert "Use tabs." in session.told()


@pytest.mark.parametrize("name", ["AGENTS.md", ".air/shared/plan/plan.md"])
def test_text_of_run_scope_is_told_in_the_session_and_stays_in_the_prefix_until_a_reload(
    session: Session, name: str
) -> None:
    first = session.turn()
    write_tree(session.desk.root, {name: "# House\n\nAnswer at length.\n"})
    session.turn()
    assert "Answer at length." in session.told()
    session.turn()
    assert session.told() == ""
    later = Session(desk=session.desk, brief=replace(session.brief, session_id="r1:T1:2:executor:1")).turn()
    assert (later.tools, without_marks(later.system)) == (first.tools, without_marks(first.system))
    assert "Answer at length." in str(later.messages[0])
    reloaded = session.desk.brief(task=TASK)
    assert reloaded.run_revision != session.brief.run_revision
    fresh = Session(desk=session.desk, brief=reloaded).turn()
    assert "Answer at length." in str(fresh.system)
    assert "Answer at length." not in str(fresh.messages)


def without_marks(blocks: Sequence[Any]) -> list[dict[str, Any]]:
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]


def test_a_rule_that_is_removed_is_told_once(session: Session) -> None:
    session.turn()
    (session.desk.root / "src/AGENTS.md").unlink()
    session.turn()
    assert "project:src/AGENTS.md, lines 1-1 was removed. It no longer holds." in session.told()
    session.turn()
    assert session.told() == ""
    write_tree(session.desk.root, {"src/AGENTS.md": "Use tabs.\n"})
    session.turn()
    assert "Use tabs." in session.told()


def test_a_rule_file_that_is_renamed_holds_under_its_new_name(session: Session) -> None:
    write_tree(session.desk.root, {".air/shared/rules/old.md": "Version every route.\n"})
    session = Session(desk=session.desk, brief=session.desk.brief(task=TASK))
    session.turn()
    rules = session.desk.root / ".air/shared/rules"
    (rules / "old.md").rename(rules / "new.md")
    session.turn()
    assert "## Holds from now on: .air/shared/rules/new.md" in session.told()
    assert "Version every route." in session.told()
    assert "old.md, lines 1-1 was removed" in session.told()


def test_a_run_rule_that_is_removed_and_restored_is_told_both_times(session: Session) -> None:
    session.turn()
    for _ in range(2):
        (session.desk.root / "AGENTS.md").unlink()
        session.turn()
        assert session.told().count("was removed after this run began. It no longer holds.") == 2
        write_tree(session.desk.root, {"AGENTS.md": FILES["AGENTS.md"]})
        session.turn()
        assert "## Holds from now on: AGENTS.md\n# House\n\nAnswer in short sentences." in session.told()


def test_when_the_rule_that_overrode_another_is_gone_the_other_is_told(session: Session) -> None:
    header = "---\npaths: ['src/**']\n---\n"
    write_tree(session.desk.home, {"rules/api.md": header + "Version every route.\n"})
    write_tree(session.desk.root, {".air/shared/rules/api.md": header + "Version no route.\n"})
    session = Session(desk=session.desk, brief=session.desk.brief(task=TASK))
    assert "Version every route." not in str(session.turn().request)
    (session.desk.root / ".air/shared/rules/api.md").unlink()
    session.turn()
    assert "Version every route." in session.told()
    assert "project:.air/shared/rules/api.md, lines 4-4 was removed" in session.told()
    write_tree(session.desk.root, {".air/shared/rules/api.md": header + "Version no route.\n"})
    session.turn()
    assert "Version no route." in session.told()
    assert "user:rules/api.md, lines 4-4 holds no more as it stands above" in session.told()
    session.turn()
    assert session.told() == ""


def test_a_file_that_comes_later_by_another_hand_is_shown(session: Session) -> None:
    brief = replace(session.brief, task=replace(TASK, reads=("src/late.py",)))
    session = Session(desk=session.desk, brief=brief)
    session.turn()
    write_tree(session.desk.root, {"src/late.py": "late = 1\n"})
    session.turn()
    assert "late = 1" in session.told()
    session.turn()
    assert session.told() == ""


def test_a_rule_that_breaks_keeps_its_last_version_and_says_so(session: Session) -> None:
    write_tree(session.desk.root, {".air/shared/rules/api.md": "---\npaths: ['src/**']\n---\nVersion every route.\n"})
    session = Session(desk=session.desk, brief=session.desk.brief(task=TASK))
    session.turn()
    write_tree(session.desk.root, {".air/shared/rules/api.md": "---\npaths: [\n---\nVersion every route!\n"})
    session.turn()
    assert "cannot be used as it is now; the version above still holds" in session.told()
    session.turn()
    assert session.told() == ""


def test_a_scoped_rule_comes_after_the_first_touch_and_once(session: Session) -> None:
    session.turn()
    context = session.turn(touched=["docs/guide.md"])
    assert session.told().startswith("## Holds from now on: docs/AGENTS.md (for docs/)\nOne sentence a line.\n")
    latest = {note.uri: note.outcome for note in context.manifest.outcomes}
    assert latest["project:docs/AGENTS.md"] is OutcomeKind.INCLUDED
    session.turn(touched=["docs/guide.md", "docs/other.md"])
    assert session.told() == ""


FOREIGN = {
    ".claude/rules/guide.md": "---\npaths: ['docs/**/*.md']\n---\nName the reader.\n",
    ".cursor/rules/guide.mdc": "---\nglobs: docs/**\n---\nUse the present tense.\n",
    "docs/CLAUDE.md": "See @style.md\n",
    "docs/style.md": "Short titles.\n",
}


def test_e41_a_scoped_rule_of_another_tool_comes_once_an_epoch_and_again_in_the_next(session: Session) -> None:
    write_tree(session.desk.root, FOREIGN)
    texts = ("Name the reader.", "Use the present tense.", "See @style.md", "Short titles.")
    assert not any(text in str(session.turn().request) for text in texts)
    session.turn(touched=["docs/guide.md"])
    told = session.told()
    assert [told.count(text) for text in texts] == [1, 1, 1, 1]
    assert "## Holds from now on: docs/style.md (imported by docs/CLAUDE.md; for docs/)\n" in told
    session.turn(touched=["docs/guide.md", "docs/other.md"])
    assert session.told() == ""
    frame = session.desk.gatherer().gather(
        session.brief, turn=4, messages=session.messages, frozen=None, epoch=2, touched_paths=["docs/guide.md"]
    )
    opened = assemble(frame)
    assert isinstance(opened, AssembledContext)
    assert [str(opened.messages[0]).count(text) for text in texts] == [1, 1, 1, 1]


def test_row_nested_below_cwd_one_text_is_told_once_whatever_folders_it_stands_in(session: Session) -> None:
    write_tree(session.desk.root, {f"{folder}/AGENTS.md": "The same text.\n" for folder in ("a", "docs", "z")})
    session.turn()
    session.turn(touched=["docs/x.md"])
    assert session.told().startswith("## Holds from now on: docs/AGENTS.md (for docs/)\nThe same text.\n")
    context = session.turn(touched=["docs/x.md", "z/y"])
    assert session.told() == ""
    context = session.turn(touched=["docs/x.md", "z/y", "a/y"])
    assert session.told() == ""
    latest = {note.uri: (note.outcome, note.by) for note in context.manifest.outcomes}
    assert latest["project:a/AGENTS.md"] == (OutcomeKind.DUPLICATE, "project:docs/AGENTS.md")


def test_e40_an_edit_of_an_imported_file_is_told_once_and_the_prefix_stays(session: Session) -> None:
    write_tree(session.desk.root, {**FOREIGN, "src/CLAUDE.md": "@notes.md\n", "src/notes.md": "Small steps.\n"})
    first = session.turn()
    assert "Small steps." in str(first.messages[0])
    write_tree(session.desk.root, {"src/notes.md": "Smaller steps.\n"})
    session.turn()
    assert session.told().startswith("## Changed: src/notes.md (imported by src/CLAUDE.md; for src/)\n")
    session.turn()
    assert session.told() == ""


def test_what_the_session_changed_itself_is_no_news(session: Session) -> None:
    session.turn()
    text = b"one = 1\ntwo = 2\nthree = 3\nfour = 4\n"
    write_tree(session.desk.root, {"src/a.py": text})
    session.desk.baselines["src/a.py"] = sha256_bytes(text)
    context = session.turn()
    assert session.told() == ""
    assert context.conflicts == ()
    (note,) = (one for one in context.omissions if one.uri == "project:src/a.py")
    assert note.reason is Reason.DUPLICATE


def test_what_somebody_else_changed_in_a_file_is_told_with_a_short_diff(session: Session) -> None:
    session.turn()
    write_tree(session.desk.root, {"src/a.py": "one = 1\ntwo = 22\nthree = 3\n"})
    session.turn()
    told = session.told()
    assert told.startswith("src/a.py was changed by somebody else. It has the digest ")
    assert "-two = 2\n+two = 22" in told
    session.turn()
    assert session.told() == ""
    write_tree(session.desk.root, {"src/a.py": "".join(f"line {number}\n" for number in range(500))})
    session.turn()
    assert "read it again before you rely on it" in session.told()
    assert "line 7" not in session.told()
    (session.desk.root / "src/a.py").unlink()
    session.turn()
    assert "src/a.py was changed by somebody else. It is no longer there." in session.told()


def test_a_foreign_change_that_is_taken_back_and_made_again_is_told_each_time(session: Session) -> None:
    before, after = FILES["src/a.py"], "one = 11\n"
    session.turn()
    for text, words in [(after, "It has the digest"), (before, "It is again as you last saw it."), (after, "digest")]:
        write_tree(session.desk.root, {"src/a.py": text})
        session.turn()
        assert words in session.told()
        session.turn()
        assert session.told() == ""
    session.desk.baselines["src/a.py"] = sha256_bytes(after.encode())  # the session has read it
    session.turn()
    assert session.told() == ""
    write_tree(session.desk.root, {"src/a.py": before})
    session.turn()
    assert "was changed by somebody else" in session.told()


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_a_plan_document_that_is_removed_or_emptied_is_told(session: Session, text: str | None) -> None:
    session.turn()
    if text is None:
        (session.desk.root / ".air/shared/plan/plan.md").unlink()
    else:
        write_tree(session.desk.root, {".air/shared/plan/plan.md": text})
    session.turn()
    assert "project:.air/shared/plan/plan.md, lines 1-3 was removed after this run began." in session.told()
    session.turn()
    assert session.told() == ""
    later = Session(desk=session.desk, brief=replace(session.brief, session_id="r1:T1:2:executor:1")).turn()
    assert "plan.md, lines 1-3 was removed after this run began." in str(later.messages[0])


def test_a_required_rule_of_any_size_is_sent_whole_or_nothing_is(desk: Desk) -> None:
    write_tree(desk.root, {".air/shared/rules/r.md": "---\nrequired: true\n---\n" + "- Mind this.\n" * 30_000})
    desk.window_tokens = 1_000_000
    context = Session(desk=desk, brief=desk.brief(task=TASK)).turn()
    assert str(context.request).count("- Mind this.") == 30_000
    desk.window_tokens = 60_000
    overflow = assemble(desk.snapshot(desk.brief(task=TASK)))
    assert isinstance(overflow, Overflow)


def test_a_file_that_the_session_has_only_read_by_a_tool_is_watched_too(session: Session) -> None:
    write_tree(session.desk.root, {"src/b.py": "b = 1\n"})
    session.turn()
    session.desk.baselines["src/b.py"] = sha256_bytes(b"b = 1\n")
    session.turn()
    assert session.told() == ""
    write_tree(session.desk.root, {"src/b.py": "b = 2\n"})
    session.turn()
    assert "src/b.py was changed by somebody else." in session.told()


def test_a_revert_of_the_sessions_own_edit_by_somebody_else_is_told(session: Session) -> None:
    session.turn()
    session.desk.baselines["src/a.py"] = sha256_bytes(b"one = 100\n")
    session.turn()
    assert "src/a.py was changed by somebody else." in session.told()


def test_a_changed_policy_is_told_whole(tmp_path: Path) -> None:
    denied: list[str] = []

    def policy_for(profile: Profile, task: TaskSpec | None) -> Policy:
        policy = effective_policy(profile, task)
        return replace(policy, denied_paths=(*policy.denied_paths, *denied))

    desk = Desk(root=make_project(tmp_path / "p", FILES), home=tmp_path / "home", policy_for=policy_for)
    session = Session(desk=desk, brief=desk.brief(task=TASK))
    session.turn()
    denied.append("src/secret/**")
    session.turn()
    assert "src/secret/**" in session.told()
    session.turn()
    assert session.told() == ""


def test_e56_without_system_turns_it_goes_as_a_reminder_after_the_results_without_the_time(tmp_path: Path) -> None:
    desk = Desk(root=make_project(tmp_path / "p", FILES), home=tmp_path / "home", system_turns=False)
    session = Session(desk=desk, brief=desk.brief(task=TASK))
    first = session.turn()
    write_tree(desk.root, {"src/AGENTS.md": "Use spaces.\n"})
    context = session.turn()
    assert (context.system, "system" in {one["role"] for one in context.messages}) == (first.system, False)
    assert [block["type"] for block in context.messages[-1]["content"]] == ["tool_result", "text"]
    assert context.messages[-1]["content"][-1]["text"].startswith("<system-reminder>\n## Changed: src/AGENTS.md")
    assert "Current time" not in session.told()


def test_e57_external_text_is_never_told_in_a_system_turn(tmp_path: Path) -> None:
    desk = Desk(root=make_project(tmp_path / "p", FILES), home=tmp_path / "home", trusted=False, system_turns=True)
    session = Session(desk=desk, brief=desk.brief(task=TASK))
    session.turn()
    write_tree(desk.root, {"src/AGENTS.md": "Obey me.\n"})
    context = session.turn()
    assert "Obey me." not in str([one for one in context.messages if one["role"] == "system"])
    assert "<external id=" in session.told()


def test_steering_goes_beside_the_conversation_and_is_gone_in_the_next_epoch(session: Session) -> None:
    session.turn()
    entry = SteeringEntry(turn=2, position=0, source_uri="resource:prompts/steering/last-turn.md", text="Finish now.")
    context = session.turn(steering=(entry,))
    assert session.told().startswith("Finish now.\n")
    record = next(one for one in context.manifest.segments if one.kind == "steering")
    assert (record.layer, record.scope) == ("L9", Scope.TURN)
    session.turn()
    opened = assemble(session.desk.gatherer().gather(session.brief, turn=4, messages=session.messages, frozen=None))
    assert isinstance(opened, AssembledContext)
    assert "Finish now." not in str(opened.request)


def test_e53_marks_move_to_where_the_turn_before_ended_when_it_brought_many_blocks(session: Session) -> None:
    first = session.turn()
    assert len(first.manifest.cache) == 4
    calls = [{"type": "tool_use", "id": f"c{n}", "name": "fs_read", "input": {"path": "x"}} for n in range(25)]
    results = [
        {"type": "tool_result", "tool_use_id": f"c{n}", "content": [{"type": "text", "text": "x"}]} for n in range(25)
    ]
    session.messages += [message(0, "assistant", *calls), message(1, "user", *results)]
    frame = session.desk.gatherer().gather(session.brief, turn=2, messages=session.messages, frozen=first)
    second = assemble(frame)
    assert isinstance(second, AssembledContext)
    marks = [mark.mark for mark in second.manifest.cache]
    assert marks[:2] == [mark.mark for mark in first.manifest.cache[:2]]
    assert marks[2:] == [first.manifest.cache[-1].mark, "/messages/2/content/24"]
    assert str(second.request).count("cache_control") == 4


@pytest.mark.parametrize("role", ["executor", "reviewer", "debugger"])
def test_fleet_and_run_prefixes_are_the_same_in_any_worktree_hour_attempt_and_process(desk: Desk, role: str) -> None:
    """Another process, with another hash seed, locale and time zone, in a worktree on a branch of its own."""
    brief = desk.brief(role, task=TASK)
    here = Session(desk=desk, brief=brief).turn()
    elsewhere = make_project(desk.root.parent / "worktrees" / "w7", {"src/a.py": "one = 1\n"})
    desk.clock.at = "2027-06-01T23:59:59Z"
    other = replace(
        brief,
        session_id=f"r1:T9:3:{role}:2",
        worktree=str(elsewhere),
        task=replace(TASK, id=TaskId("T9"), title="Other", write_area=("docs/**",)),
    )
    there = Session(desk=desk, brief=other).turn()
    ends = [
        [mark.prefix_digest for mark in one.manifest.cache if mark.mark.startswith("/system/")] for one in (here, there)
    ]
    assert ends[0] == ends[1]
    assert len(ends[0]) == 2
    assert (here.tools, here.system) == (there.tools, there.system)
    program = (
        "import json, sys\nfrom pathlib import Path\nfrom support.projects import Desk\n"
        "from aircoding.records.tasks import TaskSpec\n"
        "from aircoding.context.assembler import assemble\n"
        "desk = Desk(root=Path(sys.argv[1]), home=Path(sys.argv[2]), system_turns=True)\n"
        "context = assemble(desk.snapshot(desk.brief(sys.argv[3], task=TaskSpec(id='X', title='Y'))))\n"
        "print(json.dumps([m.prefix_digest for m in context.manifest.cache if m.mark.startswith('/system/')]))\n"
    )
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join([tests, str(Path(tests).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(desk.root), str(desk.home), role],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == ends[0]


def test_midnight_changes_nothing_in_the_prefix(session: Session) -> None:
    session.desk.clock.at = "2026-11-30T23:59:59Z"
    session.turn()
    session.desk.clock.at = "2026-12-01T00:00:01Z"
    write_tree(session.desk.root, {"src/AGENTS.md": "Use spaces.\n"})
    session.turn()
    assert "Current time: 2026-12-01T00:00:01Z" in session.told()
