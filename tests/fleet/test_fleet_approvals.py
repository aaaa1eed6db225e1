"""Which commands are listed before a run, and what an approval of them is bound to."""

from __future__ import annotations

from dataclasses import replace

from fleet.histories import task

from aircoding.fleet.approvals import commands_to_approve
from aircoding.permissions.engine import decide
from aircoding.records.digests import sha256_text
from aircoding.records.policy import CommandAct, Effect, Policy, PolicyLevel, PolicyRule, PolicySubject
from aircoding.records.tasks import Plan, TaskSpec


def rule(effect: Effect, pattern: str, line: int) -> PolicyRule:
    return PolicyRule(
        subject=PolicySubject.COMMAND,
        effect=effect,
        pattern=pattern,
        level=PolicyLevel.PROJECT,
        uri="project:.air/shared/permissions.yaml",
        line=line,
    )


POLICY = Policy(
    rules=(
        rule(Effect.ALLOW, "pytest *", 3),
        rule(Effect.ANNOUNCE, "seq *", 4),
        rule(Effect.ASK, "npm *", 5),
        rule(Effect.DENY, "sudo *", 6),
    ),
    digest=sha256_text("a policy"),
    write_area=("src/**",),
)


def policy_for(_: TaskSpec) -> Policy:
    return POLICY


def plan(**verify: tuple[str, ...]) -> Plan:
    return Plan(goal="g", tasks=tuple(task(name, verify=commands) for name, commands in verify.items()))


def test_what_would_ask_or_is_denied_is_listed_with_its_place_and_what_is_allowed_is_not() -> None:
    asked = commands_to_approve(plan(a=("pytest -q", "npm test"), b=("seq 3", "sudo true")), (), policy_for)

    assert [(one.command, one.where, one.denied) for one in asked] == [
        ("npm test", "task a, verify", False),
        ("sudo true", "task b, verify", True),
    ]
    assert ":6" in asked[1].reason


def test_set_up_commands_are_judged_for_each_task_that_runs_them() -> None:
    asked = commands_to_approve(plan(a=(), b=()), ("npm ci",), policy_for)

    assert [one.where for one in asked] == ["task a, [worktree] setup", "task b, [worktree] setup"]


def test_an_approval_lets_just_that_command_run_under_just_that_policy() -> None:
    (asked,) = commands_to_approve(plan(a=("npm test",)), (), policy_for)
    approved = replace(POLICY, approved=frozenset({asked.fingerprint}))

    assert decide(CommandAct(command="npm test"), approved).permits
    assert not decide(CommandAct(command="npm test --force"), approved).permits
    other = replace(approved, digest=sha256_text("another policy"))
    assert not decide(CommandAct(command="npm test"), other).permits
    assert commands_to_approve(plan(a=("npm test",)), (), lambda _: approved) == ()


def test_nothing_lifts_a_deny() -> None:
    (asked,) = commands_to_approve(plan(a=("sudo true",)), (), policy_for)
    approved = replace(POLICY, approved=frozenset({asked.fingerprint}))

    assert commands_to_approve(plan(a=("sudo true",)), (), lambda _: approved)[0].denied
