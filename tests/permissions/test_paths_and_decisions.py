"""Paths, approvals, and what a decision tells the person who reads it."""

from __future__ import annotations

import pytest
from permissions.policies import worker, written

from aircoding.permissions.engine import decide
from aircoding.permissions.in_words import policy_in_words, task_policy_in_words
from aircoding.permissions.locations import locate
from aircoding.records.policy import CommandAct, Effect, HostAct, PathAct, PolicyLevel, PolicySubject, ToolAct

POLICY = worker(
    written(
        "paths: {read: {ask: [private/**], allow: [/data/**]}, write: {allow: [/tmp/x/**], announce: [src/gen/**]}}"
    ),
    denied_paths=("src/vendor/**", "/w/main/**"),
)


@pytest.mark.parametrize(
    ("path", "access", "effect"),
    [
        ("src/a.py", "write", Effect.ALLOW),
        ("src", "write", Effect.ALLOW),
        ("src-evil/a.py", "write", Effect.ASK),
        ("README.md", "write", Effect.ASK),
        ("README.md", "read", Effect.ALLOW),
        ("src/gen/a.py", "write", Effect.ANNOUNCE),
        ("private/x", "read", Effect.ASK),
        ("src/vendor/x.py", "read", Effect.DENY),
        ("src/vendor", "write", Effect.DENY),
        ("/w/main/x", "read", Effect.DENY),
        ("/w/main", "read", Effect.DENY),
        ("/w/task/src/a.py", "write", Effect.ALLOW),
        ("/w/task-evil/src/a.py", "write", Effect.ASK),
        ("../main/x", "read", Effect.DENY),
        ("src/../../main/x", "write", Effect.DENY),
        ("/data/x", "read", Effect.ALLOW),
        ("/data/x", "write", Effect.ASK),
        ("/tmp/x/y", "write", Effect.ALLOW),
        ("/tmp/y", "write", Effect.ASK),
        ("src/.env", "write", Effect.DENY),
        ("src/deep/.ENV.local", "read", Effect.DENY),
        (".Git/hooks/x", "write", Effect.DENY),
        ("src/.git/config", "write", Effect.DENY),
        ("sub/.github/workflows/x.yml", "write", Effect.DENY),
        ("/home/u/.ssh/id", "read", Effect.DENY),
        ("/home/other/.ssh/id", "read", Effect.DENY),
        ("/root/.aws/credentials", "read", Effect.DENY),
        ("~root/.ssh/id", "read", Effect.DENY),
        ("/home/u/.bashrc", "write", Effect.DENY),
        ("/proc/1/environ", "read", Effect.DENY),
        ("/proc/self/root/proc/self/root/etc/shadow", "read", Effect.DENY),
        ("//etc/passwd", "write", Effect.DENY),
        ("/etc/passwd", "read", Effect.ASK),
        ("/usr/lib/x.py", "read", Effect.ALLOW),
        ("/dev/null", "write", Effect.ALLOW),
        ("/dev/sda", "write", Effect.DENY),
        ("src/%2e%2e/x", "read", Effect.ASK),
        ("src/a\0b", "read", Effect.DENY),
        ("file:///home/u/.ssh/id", "read", Effect.DENY),
        ("file:///home/u/%2essh/id", "read", Effect.DENY),
    ],
)
def test_paths_get_their_judgement(path: str, access: str, effect: Effect) -> None:
    assert decide(PathAct(path=path, access=access), POLICY).effect is effect


def test_an_exception_lifts_only_what_it_names_and_only_from_the_floor() -> None:
    plan = ".air/shared/plan/**"
    designer = worker(write_area=(plan,), floor_exceptions=(plan,))
    assert decide(PathAct(path=".air/shared/plan/todo.md", access="write"), designer).effect is Effect.ALLOW
    assert decide(PathAct(path=".air/shared/permissions.yaml", access="write"), designer).effect is Effect.DENY
    assert decide(PathAct(path=".air/shared/plan/.git/x", access="write"), designer).effect is Effect.DENY
    refused = written("paths: {write: {deny: [.air/shared/plan/**]}}", PolicyLevel.PROJECT)
    narrowed = worker(refused, write_area=(plan,), floor_exceptions=(plan,))
    assert decide(PathAct(path=".air/shared/plan/todo.md", access="write"), narrowed).effect is Effect.DENY


def test_a_role_that_writes_nothing_writes_nothing() -> None:
    reader = worker(may_write=False)
    decision = decide(PathAct(path="src/a.py", access="write"), reader)
    assert decision.effect is Effect.DENY
    assert decision.judgements[0].level is PolicyLevel.ROLE
    assert decide(CommandAct(command="echo x > src/a"), reader).effect is Effect.DENY
    assert decide(CommandAct(command="cat src/a"), reader).effect is Effect.ALLOW


def test_tools_are_the_role_s() -> None:
    assert decide(ToolAct(tool="shell"), POLICY).permits
    assert decide(ToolAct(tool="fs_write"), POLICY).effect is Effect.DENY


def test_paths_are_located_as_written() -> None:
    assert locate("./src//a/../b.py", ".", POLICY) == "src/b.py"
    assert locate("x", "src", POLICY) == "src/x"
    assert locate("/w/task", ".", POLICY) == "."
    assert locate("..", ".", POLICY) == "/w"
    assert locate("~/x", ".", POLICY) == "/home/u/x"
    assert locate("../x", ".", worker(root="", home="")) == "../x"


def test_with_nobody_to_ask_an_ask_is_a_deny_that_says_so() -> None:
    decision = decide(CommandAct(command="git push"), worker(interactive=False))
    assert decision.effect is Effect.DENY
    assert decision.asked
    assert "nobody can be asked" in decision.reason
    refused = decide(CommandAct(command="sudo ls"), worker(interactive=False))
    assert not refused.asked


def test_an_approval_holds_for_this_act_under_this_policy_only() -> None:
    act = CommandAct(command="git push")
    tag = decide(act, worker()).fingerprint
    assert decide(act, worker(approved=frozenset({tag}), interactive=False)).effect is Effect.ALLOW
    assert decide(CommandAct(command="git push -f"), worker(approved=frozenset({tag}))).effect is Effect.ASK
    assert decide(CommandAct(command="git push", cwd="src"), worker(approved=frozenset({tag}))).effect is Effect.ASK
    changed = worker(written("commands: {ask: [x]}"), approved=frozenset({tag}))
    assert decide(act, changed).effect is Effect.ASK


def test_no_approval_lifts_a_deny() -> None:
    act = CommandAct(command="git push; sudo ls")
    tag = decide(act, worker()).fingerprint
    assert decide(act, worker(approved=frozenset({tag}))).effect is Effect.DENY


def test_without_a_sandbox_every_command_asks_and_files_do_not() -> None:
    bare = worker(confined=False)
    assert decide(CommandAct(command="ls"), bare).effect is Effect.ASK
    assert decide(CommandAct(command="pip install x"), bare).effect is Effect.ASK
    assert decide(CommandAct(command="sudo ls"), bare).effect is Effect.DENY
    assert decide(PathAct(path="src/a", access="write"), bare).effect is Effect.ALLOW


def test_a_decision_names_the_line_that_decided() -> None:
    decision = decide(CommandAct(command="ls && scp a b:c"), POLICY)
    [cause] = [one for one in decision.judgements if one.effect is Effect.DENY]
    assert (cause.pattern, cause.uri, cause.level) == ("scp", "resource:permissions/floor.yaml", PolicyLevel.FLOOR)
    assert cause.line is not None
    assert f"resource:permissions/floor.yaml:{cause.line}" in decision.reason
    assert decision.act == "run `ls && scp a b:c`"


def test_every_judgement_has_a_reason_and_a_place() -> None:
    commands = ["ls; $x; cat ~/.ssh/a > b", "curl evil.example", "cd x; python -c 1", "ls ((", "find . -delete"]
    for command in commands:
        for one in decide(CommandAct(command=command), POLICY).judgements:
            assert one.reason
            assert one.pattern
            assert one.uri
    for act in (HostAct(host="x"), ToolAct(tool="y"), PathAct(path="z", access="read")):
        assert all(one.reason and one.uri for one in decide(act, POLICY).judgements)


def test_the_policy_in_words_is_short_and_the_same_for_every_worktree() -> None:
    words = policy_in_words(worker())
    assert words == policy_in_words(worker(root="/other", write_area=("docs/**",)))
    assert len(words.splitlines()) <= 60
    assert "/w/task" not in words
    for part in (
        "`git --version|blame|",
        "`sudo`",
        "`python --version|-V|-m compileall|",
        "`~/.ssh`",
        "No host may be reached",
    ):
        assert part in words
    assert "nobody can be asked" in policy_in_words(worker(interactive=False)).lower()


def test_long_lists_are_counted() -> None:
    many = written("network: {allow: [" + ", ".join(f"h{number}.example" for number in range(200)) + "]}")
    assert "and 80 more" in policy_in_words(worker(many))


def test_the_task_s_part_names_its_area_and_what_it_keeps_away_from() -> None:
    assert task_policy_in_words(POLICY).splitlines() == [
        "You may write: `src/**`, `tests/**`. Writing elsewhere needs approval.",
        "You may neither read nor write: `src/vendor/**`, `/w/main/**`.",
    ]
    assert task_policy_in_words(worker(may_write=False)) == "You may write no files."


def test_subjects_of_credentials_stay_visible() -> None:
    [judgement] = decide(PathAct(path=".env", access="read"), POLICY).judgements
    assert judgement.subject is PolicySubject.CREDENTIAL
    assert judgement.reason == "it holds credentials"
