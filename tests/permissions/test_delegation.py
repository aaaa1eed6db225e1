"""A delegated worker's rights never exceed those of the worker that it works for, whoever of both has which policy."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from permissions.policies import worker, written

from aircoding.permissions.delegation import delegate_policy
from aircoding.permissions.engine import decide
from aircoding.records.policy import Act, CommandAct, Effect, HostAct, PathAct, Policy, ToolAct

LINES = st.sampled_from(
    [
        "commands: {allow: [foo *]}",
        "commands: {deny: [ls]}",
        "commands: {ask: [pytest]}",
        "network: {allow: [a.example]}",
        "paths: {read: {allow: [/data/**]}, write: {allow: [/data/**]}}",
        "paths: {read: {deny: [src/a.py]}}",
        "tools: {deny: [fs_read]}",
    ]
)
AREAS = st.lists(st.sampled_from(["src/**", "tests/**", "docs/**", "**"]), max_size=2).map(tuple)
OPTIONS = st.fixed_dictionaries(
    {
        "write_area": AREAS,
        "may_write": st.booleans(),
        "interactive": st.booleans(),
        "confined": st.booleans(),
        "denied_paths": st.sampled_from([(), ("src/b.py",)]),
        "tools": st.sampled_from([("shell", "fs_read"), ("shell",), ()]),
    }
)
POLICIES = st.builds(lambda lines, options: policy(lines, options), st.lists(LINES, max_size=3, unique=True), OPTIONS)
ACTS: st.SearchStrategy[Act] = st.one_of(
    st.builds(
        lambda command: CommandAct(command=command),
        st.sampled_from(["ls", "foo x", "pytest -q", "curl a.example", "echo x > src/b.py", "cat src/a.py", "sudo ls"]),
    ),
    st.builds(
        lambda path, access: PathAct(path=path, access=access),
        st.sampled_from(["src/a.py", "src/b.py", "docs/x.md", "/data/x", ".git/config"]),
        st.sampled_from(["read", "write"]),
    ),
    st.builds(lambda host: HostAct(host=host), st.sampled_from(["a.example", "b.example"])),
    st.builds(lambda tool: ToolAct(tool=tool), st.sampled_from(["shell", "fs_read", "other"])),
)


def policy(lines: list[str], options: dict[str, Any]) -> Policy:
    return worker(*(written(line) for line in lines), **options)


@given(POLICIES, POLICIES, POLICIES, ACTS)
@settings(max_examples=400, deadline=None)
def test_no_delegation_gives_more_than_any_of_those_above_it_has(
    child: Policy, parent: Policy, grandparent: Policy, act: Act
) -> None:
    delegated = delegate_policy(child, delegate_policy(parent, grandparent))
    got = decide(act, delegated).effect.rank
    assert got >= max(decide(act, one).effect.rank for one in (child, parent, grandparent))


def test_an_approval_of_one_alone_does_not_count_for_the_worker() -> None:
    act = CommandAct(command="git push")
    plain = worker()
    approved = worker(approved=frozenset({decide(act, plain).fingerprint}))
    assert decide(act, approved).effect is Effect.ALLOW
    assert decide(act, delegate_policy(approved, plain)).effect is Effect.ASK
    assert decide(act, delegate_policy(plain, approved)).effect is Effect.ASK
    assert decide(act, delegate_policy(approved, approved)).effect is Effect.ASK
