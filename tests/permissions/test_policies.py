"""Policy files and their algebra: strict reading, denies that add up, allows that must be trusted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permissions.policies import DEFAULTS, FLOOR, worker, written

from aircoding.errors import ConfigError
from aircoding.permissions.engine import decide
from aircoding.permissions.in_words import policy_in_words
from aircoding.permissions.policy_file import parse_policy_file
from aircoding.records.diagnostics import Diagnostic
from aircoding.records.policy import CommandAct, Effect, HostAct, PathAct, PolicyLevel, PolicySubject, ToolAct

PROJECT = PolicyLevel.PROJECT


def faults(text: str) -> list[Diagnostic]:
    return list(parse_policy_file(text, uri="project:.air/shared/permissions.yaml", level=PROJECT).diagnostics)


def test_every_list_of_the_format_is_read_with_its_line() -> None:
    text = """version: 1
paths:
  read: {allow: [a], ask: [b], deny: [c]}
  write:
    allow: [d]
    announce: [e]
    ask:
      - f
    deny: ["g/**"]
commands: {allow: ["git status"], announce: ["pip install *"], ask: ["git push *"], deny: ["sudo *"]}
network: {allow: [h.example], ask: ["*.i.example"], deny: [j.example]}
credentials: {deny_paths: [k], mask_env: [L_TOKEN]}
system_sensitive: {deny: [/m]}
tools: {allow: [n], ask: [o-1], deny: [p_2]}
"""
    file = parse_policy_file(text, uri="user:permissions.yaml", level=PolicyLevel.USER)
    assert file.diagnostics == ()
    assert file.mask_env == ("L_TOKEN",)
    assert len(file.rules) == 19
    by_pattern = {rule.pattern: rule for rule in file.rules}
    assert by_pattern["f"].line == 8
    assert by_pattern["f"].effect is Effect.ASK
    assert by_pattern["k"].subject is PolicySubject.CREDENTIAL
    assert {rule.uri for rule in file.rules} == {"user:permissions.yaml"}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("version: 1\ncommand: {}\n", 2, "`command` is not known"),
        ("version: 1\ncommands:\n  permit: [ls]\n", 3, "`commands.permit` is not known"),
        ("version: 1\ntools: {deny: ['fs *']}\n", 2, "it is no name of a tool"),
        ("version: 2\n", 1, "`version` must be 1"),
        ("commands: {}\n", 1, "`version` must be 1"),
        ("version: 1\ncommands: [ls]\n", 2, "`commands` must hold keys"),
        ("version: 1\ncommands:\n  allow: ls\n", 3, "`commands.allow` must be a list"),
        ("version: 1\ncommands:\n  allow:\n    - true\n", 4, "'true' is no text"),
        ("version: 1\ncommands:\n  allow:\n    - [ls]\n", 4, "something that is no text"),
        ("version: 1\ncommands:\n  allow: ['git * push']\n", 3, "`*` may stand only at the end"),
        ("version: 1\ncommands:\n  allow: ['*']\n", 3, "a program must be named"),
        ("version: 1\nnetwork:\n  allow: ['https://x.example/']\n", 3, "without scheme"),
        ("version: 1\nnetwork:\n  allow: ['x.*.example']\n", 3, "write a host"),
        ("version: 1\npaths:\n  read:\n    deny: ['!a']\n", 4, "'!a'"),
        ("version: 1\npaths:\n  read:\n    deny: ['']\n", 4, "it is empty"),
        ("version: 1\ncredentials:\n  mask_env: ['A B']\n", 3, "no name of a variable"),
        ("version: 1\ncommands: {}\ncommands: {}\n", 3, "stands twice"),
        ("version: 1\ncommands: {allow: [ls\n", 3, ""),
        ("- a\n", 1, "must hold keys"),
    ],
)
def test_each_fault_names_its_line_and_key(text: str, line: int, says: str) -> None:
    [fault] = faults(text)
    assert fault.severity == "error"
    assert (fault.uri, fault.line) == ("project:.air/shared/permissions.yaml", line)
    assert says in fault.message


def test_an_empty_file_says_nothing_and_is_no_fault() -> None:
    assert faults("") == []
    assert faults("version: 1\ncommands:\n  allow:\n") == []


def test_nothing_is_built_from_a_file_with_faults() -> None:
    with pytest.raises(ConfigError, match=r"user:permissions.yaml:2: `comands` is not known") as caught:
        worker(written("comands: {}"))
    assert len(caught.value.diagnostics) == 1
    assert "commands" in caught.value.hint


@given(st.text("version: 1\n{}[],&*!|>'\"#%@`-comandsalw", max_size=80))
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_the_reader(text: str) -> None:
    parse_policy_file(text, uri="user:x", level=PolicyLevel.USER)


def test_what_ships_is_without_fault() -> None:
    assert FLOOR.diagnostics == ()
    assert DEFAULTS.diagnostics == ()
    assert all(rule.effect is Effect.DENY for rule in FLOOR.rules)


def effect(command: str, *files: object, **given_: object) -> Effect:
    return decide(CommandAct(command=command), worker(*files, **given_)).effect  # type: ignore[arg-type]


def test_no_allow_lifts_a_deny_of_the_floor() -> None:
    user = written(
        "commands: {allow: [sudo *, 'ssh *']}\npaths: {write: {allow: [.git/**]}, read: {allow: [~/.ssh/**]}}"
    )
    assert effect("sudo ls", user) is Effect.DENY
    policy = worker(user, write_area=("**",))
    assert decide(PathAct(path=".git/config", access="write"), policy).effect is Effect.DENY
    assert decide(PathAct(path="/home/u/.ssh/id", access="read"), policy).effect is Effect.DENY


def test_allows_of_a_project_count_only_once_it_is_trusted() -> None:
    project = written("commands: {allow: [frobnicate *], deny: [ls], announce: [git status *]}", PROJECT)
    assert effect("frobnicate x", project) is Effect.ASK
    assert effect("frobnicate x", project, project_trusted=True) is Effect.ALLOW
    assert effect("ls", project) is Effect.DENY
    assert effect("git status", project) is Effect.ANNOUNCE


def test_lines_on_tools_narrow_what_a_role_has_and_are_told() -> None:
    file = written("tools: {ask: [shell], deny: [fs_read, other]}")
    policy = worker(file)
    assert decide(ToolAct(tool="shell"), policy).effect is Effect.ASK
    assert (
        decide(ToolAct(tool="fs_read"), policy).reason
        == "the policy says deny of this tool (`fs_read`, user:permissions.yaml:2)"
    )
    assert decide(ToolAct(tool="other"), worker(file, tools=("shell",))).reason == "the role does not have this tool"
    assert (
        "Tools:\n- Tools that need approval: `shell`.\n- Tools that are refused: `fs_read`, `other`."
        in policy_in_words(policy)
    )
    assert "Tools:" not in policy_in_words(worker())
    both = worker(written("tools: {ask: [shell]}"), written("tools: {deny: [shell]}", PROJECT))
    assert decide(ToolAct(tool="shell"), both).effect is Effect.DENY
    assert [one.message for one in faults("version: 1\ntools: {deny: ['a b'], announce: [x]}")] == [
        "`tools.deny`: 'a b': it is no name of a tool",
        "`tools.announce` is not known",
    ]


@pytest.mark.parametrize("line", ["git --git-dir *", "git -c *", "git --force git"])
def test_a_deny_may_name_an_option_before_the_subcommand(line: str) -> None:
    policy = worker(written(f"commands: {{deny: ['{line}']}}"))
    command = line.replace("*", "x status")
    assert decide(CommandAct(command=command), policy).effect is Effect.DENY
    assert decide(CommandAct(command="git status"), policy).effect is Effect.ALLOW


def test_a_narrower_level_wins_over_a_wider_one() -> None:
    user = written("commands: {ask: [pytest]}\nnetwork: {allow: ['*.example'], deny: [evil.example]}")
    assert effect("pytest -q", user) is Effect.ASK
    assert decide(HostAct(host="good.example"), worker(user)).effect is Effect.ALLOW
    assert decide(HostAct(host="evil.example"), worker(user)).effect is Effect.DENY
    assert decide(HostAct(host="evil.example.:443"), worker(user)).effect is Effect.DENY


def test_exact_allows_and_open_ones_differ() -> None:
    user = written("commands: {allow: [tool, other *, 'run test:*'], deny: [kubectl, tool --force]}")
    assert effect("tool", user) is Effect.ALLOW
    assert effect("tool x", user) is Effect.ASK
    assert effect("other", user) is Effect.ALLOW
    assert effect("other x y", user) is Effect.ALLOW
    assert effect("run test:unit --watch", user) is Effect.ALLOW
    assert effect("run build", user) is Effect.ASK
    assert effect("kubectl get pods", user) is Effect.DENY
    assert effect("tool x --force=yes", user) is Effect.DENY


def test_the_digest_tells_what_is_decided_and_nothing_else() -> None:
    base = worker()
    assert worker(root="/elsewhere", home="/root", interactive=False).digest == base.digest
    assert worker(written("commands: {deny: [x]}")).digest != base.digest
    assert worker(write_area=("src/**",)).digest != base.digest
    moved = [written(text) for text in ("commands: {deny: [x]}", "\n\n\ncommands:\n  deny:\n    - x")]
    assert worker(moved[0]).digest == worker(moved[1]).digest


@given(st.lists(st.sampled_from(["ls", "git push", "rm -r src/a", "frob", "pytest", "cat .env"]), max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_longer_line_is_never_judged_milder(commands: list[str]) -> None:
    policy = worker()
    ranks = [decide(CommandAct(command=one), policy).effect.rank for one in commands]
    whole = decide(CommandAct(command="; ".join(commands)), policy).effect.rank
    assert whole == max(ranks, default=0)
