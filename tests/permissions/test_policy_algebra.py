"""The algebra of policies (DESIGN section 6), over random files and acts: what narrows never widens."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from permissions.policies import worker, written

from aircoding.permissions.engine import decide
from aircoding.permissions.policy_file import PolicyFile
from aircoding.records.policy import Act, CommandAct, Decision, Effect, HostAct, PathAct, PolicyLevel, ToolAct

COMMANDS = [
    "ls",
    "foo x",
    "foo",
    "pytest -q",
    "curl a.example",
    "git push",
    "sudo ls",
    "make all",
    "cat /data/x; foo x",
]
PATHS = ["src/a.py", "docs/x.md", "/data/x", ".git/config", ".env", "/etc/passwd", "~/.ssh/id_rsa", "~/notes.md"]
HOSTS = ["a.example", "b.a.example"]
ACTS: st.SearchStrategy[Act] = st.one_of(
    st.sampled_from([CommandAct(command=text) for text in COMMANDS]),
    st.sampled_from([PathAct(path=path, access=access) for path in PATHS for access in ("read", "write")]),
    st.sampled_from([HostAct(host=host) for host in HOSTS]),
    st.sampled_from([ToolAct(tool="shell"), ToolAct(tool="other"), ToolAct(tool="fs_read", opaque=True)]),
)
PLACES = {
    ("commands", effect): ["foo *", "ls *", "pytest", "sudo *", "git push *", "make *", "cat *", "curl *"]
    for effect in ("allow", "announce", "ask", "deny")
}
PLACES |= {("network", effect): ["a.example", "*.a.example"] for effect in ("allow", "ask", "deny")}
PLACES |= {("tools", effect): ["shell", "fs_read"] for effect in ("allow", "ask", "deny")}
GLOBS = ["/data/**", "src/**", "docs/**", "**", ".git/**", "~/**", "/**"]


@st.composite
def files(draw: st.DrawFn, level: PolicyLevel) -> PolicyFile:
    lines = []
    for (section, effect), patterns in draw(st.lists(st.sampled_from(sorted(PLACES.items())), max_size=4)):
        lines.append((section, effect, draw(st.sampled_from(patterns))))
    text = "".join(f"{section}: {{{effect}: ['{pattern}']}}\n" for section, effect, pattern in lines[:1])
    if draw(st.booleans()):
        access = draw(st.sampled_from(["read", "write"]))
        effects = ["allow", "ask", "deny"] + (["announce"] if access == "write" else [])
        text += f"paths: {{{access}: {{{draw(st.sampled_from(effects))}: ['{draw(st.sampled_from(GLOBS))}']}}}}\n"
    file = written(text, level)
    assert file.diagnostics == ()
    return file


def rank(decision: Decision) -> int:
    return decision.effect.rank


@given(files(PolicyLevel.USER), files(PolicyLevel.PROJECT), ACTS)
@settings(max_examples=400, deadline=None)
def test_a_project_that_is_not_trusted_only_narrows(user: PolicyFile, project: PolicyFile, act: Act) -> None:
    assert rank(decide(act, worker(user, project))) >= rank(decide(act, worker(user)))


@given(files(PolicyLevel.USER), files(PolicyLevel.PROJECT), ACTS)
@settings(max_examples=400, deadline=None)
def test_no_line_of_any_file_lifts_a_deny_of_another(user: PolicyFile, project: PolicyFile, act: Act) -> None:
    """What a line of the floor, the defaults or the user refuses stays refused, whatever a trusted project allows."""
    for before, after in ((worker(), worker(user, project)), (worker(user), worker(user, project))):
        refused = [one for one in decide(act, before).judgements if one.effect is Effect.DENY and one.line is not None]
        if refused:
            assert decide(act, replace(after, approved=frozenset())).effect is Effect.DENY


@given(files(PolicyLevel.USER), ACTS, st.sampled_from(["src/**", "docs/**", "/data/**", "notes.md", "**"]))
@settings(max_examples=200, deadline=None)
def test_a_task_s_denied_paths_and_a_role_s_ceiling_only_narrow(user: PolicyFile, act: Act, denied: str) -> None:
    plain = rank(decide(act, worker(user)))
    assert rank(decide(act, worker(user, denied_paths=(denied,)))) >= plain
    assert rank(decide(act, worker(user, may_write=False))) >= plain
    assert rank(decide(act, worker(user, write_area=("src/**",)))) >= plain
    assert rank(decide(act, worker(user, tools=("shell",)))) >= rank(
        decide(act, worker(user, tools=("shell", "fs_read")))
    )


@given(files(PolicyLevel.USER), ACTS)
@settings(max_examples=200, deadline=None)
def test_with_nobody_there_exactly_the_asks_become_denies(user: PolicyFile, act: Act) -> None:
    there, alone = decide(act, worker(user)), decide(act, worker(user, interactive=False))
    expected = Effect.DENY if there.effect is Effect.ASK else there.effect
    assert (alone.effect, alone.asked) == (expected, there.effect is Effect.ASK)


@given(files(PolicyLevel.USER), st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_line_of_commands_is_as_strict_as_its_strictest_part(user: PolicyFile, commands: list[str]) -> None:
    policy = worker(user)
    parts = [rank(decide(CommandAct(command=one), policy)) for one in commands]
    assert rank(decide(CommandAct(command="; ".join(commands)), policy)) == max(parts)
    assert rank(decide(CommandAct(command=f"( {' | '.join(commands)} )"), policy)) == max(parts)


@given(files(PolicyLevel.USER), ACTS)
@settings(max_examples=100, deadline=None)
def test_every_decision_says_by_what_and_is_bound_to_act_and_policy(user: PolicyFile, act: Act) -> None:
    decision = decide(act, worker(user))
    assert decision.judgements
    assert all(one.pattern and one.uri for one in decision.judgements)
    assert decision.fingerprint == decide(act, worker(user)).fingerprint
    assert decision.fingerprint != decide(act, worker(user, write_area=("other/**",))).fingerprint


def test_announcements_and_asks_for_hosts_of_an_untrusted_project_permit_nothing() -> None:
    project = written(
        "commands: {announce: [foo *, pytest *]}\npaths: {write: {announce: [/data/**]}}\nnetwork: {ask: [a.example]}",
        PolicyLevel.PROJECT,
    )
    for act, untrusted, trusted in (
        (CommandAct(command="foo x"), Effect.ASK, Effect.ANNOUNCE),
        (CommandAct(command="pytest -q"), Effect.ANNOUNCE, Effect.ANNOUNCE),
        (PathAct(path="/data/x", access="write"), Effect.ASK, Effect.ANNOUNCE),
        (HostAct(host="a.example"), Effect.DENY, Effect.ASK),
    ):
        assert decide(act, worker(project)).effect is untrusted
        assert decide(act, worker(project, project_trusted=True)).effect is trusted
