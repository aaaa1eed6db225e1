"""Permission rules of Claude Code as lines of ours: judged alike by the real engine, or handed back with the reason."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from permissions.policies import worker

from aircoding.permissions.claude_rules import translate_claude_rules
from aircoding.permissions.engine import decide
from aircoding.permissions.foreign_rules import ForeignRules, proposal_text
from aircoding.permissions.policy_file import PolicyFile, parse_policy_file
from aircoding.records.policy import Act, CommandAct, Effect, HostAct, PathAct, PolicyLevel, ToolAct

TOOLS = ("shell", "fs_read", "fs_edit", "fs_write", "fs_glob", "fs_grep")


def as_file(rules: ForeignRules) -> PolicyFile:
    """Return the proposal as our reader takes it: each line is there, and no other."""
    text = proposal_text(rules, ".claude/settings.json")
    file = parse_policy_file(text, uri="project:.air/shared/permissions.yaml", level=PolicyLevel.PROJECT)
    assert file.diagnostics == ()
    assert sorted(rule.pattern for rule in file.rules) == sorted(one for lines in rules.lines.values() for one in lines)
    return file


def effect_of(act: Act, **permissions: list[str]) -> Effect:
    file = as_file(translate_claude_rules(permissions))
    policy = worker(file, project_trusted=True, tools=TOOLS)
    return decide(act, policy).effect


def only(effect: str, rule: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    found = translate_claude_rules({effect: [rule]})
    assert (len(found.untranslated) == 0) == bool(found.lines)
    return dict(found.lines)


@pytest.mark.parametrize(
    ("effect", "rule", "place", "lines"),
    [
        ("allow", "Bash(npm run build)", "commands.allow", ("npm run build",)),
        ("allow", "Bash(npm run test *)", "commands.allow", ("npm run test *",)),
        ("allow", "Bash(npm run test:*)", "commands.allow", ("npm run test *",)),
        ("deny", "Bash(git push*)", "commands.deny", ("git push*",)),
        ("deny", "Bash(sudo:*)", "commands.deny", ("sudo *",)),
        ("ask", "Bash(docker  compose *)", "commands.ask", ("docker compose *",)),
        ("deny", "Bash", "tools.deny", ("shell",)),
        ("deny", "Bash(*)", "tools.deny", ("shell",)),
        ("ask", "Edit", "tools.ask", ("fs_edit", "fs_write")),
        ("deny", "Read(.env)", "paths.read.deny", (".env",)),
        ("deny", "Read(./.env.*)", "paths.read.deny", ("./.env.*",)),
        ("deny", "Read(/etc/x)", "paths.read.deny", ("./etc/x",)),
        ("deny", "Read(//etc/x)", "paths.read.deny", ("/etc/x",)),
        ("deny", "Read(~/.ssh/**)", "paths.read.deny", ("~/.ssh/**",)),
        ("allow", "Read(//var/log/**)", "paths.read.allow", ("/var/log/**",)),
        ("deny", "Read(secrets/**)", "paths.read.deny", ("**/secrets/**",)),
        ("deny", "Edit(src/gen/**)", "paths.write.deny", ("./src/gen/**",)),
        ("deny", "Write(dist)", "paths.write.deny", ("dist",)),
        ("ask", "Edit(**/*.lock)", "paths.write.ask", ("**/*.lock",)),
        ("allow", "WebFetch(domain:Docs.Example.com)", "network.allow", ("docs.example.com",)),
        ("deny", "WebFetch(domain:*.example.com)", "network.deny", ("*.example.com",)),
    ],
)
def test_a_rule_becomes_lines(effect: str, rule: str, place: str, lines: tuple[str, ...]) -> None:
    assert only(effect, rule) == {tuple(place.split(".")): lines}


@pytest.mark.parametrize(
    ("effect", "rule", "why"),
    [
        ("allow", "Bash", "no line allows every command"),
        ("allow", "Bash(*)", "no line allows every command"),
        ("allow", "Bash(git * main)", "only at the end"),
        ("deny", "Bash(* --force)", "only at the end"),
        ("deny", "Bash(git:* push)", "only at the end"),
        ("allow", 'Bash(echo "a b")', "plain words"),
        ("allow", "Bash(npm test && npm run lint)", "plain words"),
        ("deny", "Bash(FOO=1 rm:*)", "begins with a program"),
        ("allow", "Read", "it holds already"),
        ("allow", "Read(src/**)", "it holds already"),
        ("allow", "Edit(src/**)", "the write area of each task"),
        ("allow", "Write(//tmp/x)", "does not consult it"),
        ("deny", "Read(!x)", "no meaning in either"),
        ("deny", "Read(../x)", "leads out of the project"),
        ("deny", "Read(C:\\x)", "of this kind of system"),
        ("deny", "Read($HOME/x)", "without variables"),
        ("deny", "Read([)", ""),
        ("deny", "WebFetch", "no host may be reached"),
        ("allow", "WebFetch(domain:*)", "write a host"),
        ("deny", "WebSearch", "no web search"),
        ("ask", "mcp__github__create_issue", "no MCP servers"),
        ("deny", "Agent(Explore)", "the plan"),
        ("deny", "Skill(deploy)", "[skills] disabled"),
        ("deny", "Teleport(x)", "no tool like Teleport"),
        ("deny", "Bash(unclosed", "has not the form"),
        ("deny", "", "has not the form"),
        ("allow", "*", "a role has its tools"),
        ("deny", "Read(a\x7fb)", "cannot be seen"),
        ("deny", "Bash(a\nb)", "cannot be seen"),
    ],
)
def test_what_has_no_equivalent_is_handed_back_with_the_reason(effect: str, rule: str, why: str) -> None:
    found = translate_claude_rules({effect: [rule]})
    assert found.lines == {}
    (one,) = found.untranslated
    assert (one.effect, one.rule) == (effect, rule)
    assert one.why
    assert why in one.why


@pytest.mark.parametrize(
    ("permissions", "act", "effect"),
    [
        # E60
        ({"allow": ["Bash(quux *)"]}, CommandAct(command="quux"), Effect.ALLOW),
        ({"allow": ["Bash(quux *)"]}, CommandAct(command="quux -j4 all"), Effect.ALLOW),
        ({"allow": ["Bash(quux *)"]}, CommandAct(command="quuxfoo"), Effect.ASK),
        ({"allow": ["Bash(quux *)"]}, CommandAct(command="quux && rm -rf /"), Effect.DENY),
        ({"allow": ["Bash(quux *)"]}, CommandAct(command="quux && corge"), Effect.ASK),
        ({"allow": ["Bash(quux lint)"]}, CommandAct(command="quux lint"), Effect.ALLOW),
        ({"allow": ["Bash(quux lint)"]}, CommandAct(command="quux lint deploy"), Effect.ASK),
        ({"deny": ["Bash(quux *)"]}, CommandAct(command="FOO=1 quux x"), Effect.DENY),
        ({"deny": ["Bash(quux *)"]}, CommandAct(command="timeout 5 quux x"), Effect.DENY),
        ({"deny": ["Bash(quux *)"]}, CommandAct(command="ls; quux"), Effect.DENY),
        ({"deny": ["Bash(quux up*)"]}, CommandAct(command="quux upload x"), Effect.DENY),
        ({"deny": ["Bash(git push --force*)"]}, CommandAct(command="git push --force-with-lease"), Effect.DENY),
        ({"deny": ["Bash(git push --force*)"]}, CommandAct(command="git push origin --force"), Effect.DENY),
        ({"deny": ["Bash(timeout *)"]}, CommandAct(command="timeout 5 ls"), Effect.DENY),
        # E61: deny beats ask beats allow
        ({"allow": ["Bash(quux *)"], "deny": ["Bash(quux *)"]}, CommandAct(command="quux"), Effect.DENY),
        ({"allow": ["Bash(quux *)"], "ask": ["Bash(quux x)"]}, CommandAct(command="quux x"), Effect.ASK),
        # E62
        ({"deny": ["Read(/etc/x)"]}, PathAct(path="etc/x", access="read"), Effect.DENY),
        ({"deny": ["Read(/etc/x)"]}, PathAct(path="a/etc/x", access="read"), Effect.ALLOW),
        ({"deny": ["Read(//opt/x)"]}, PathAct(path="/opt/x", access="read"), Effect.DENY),
        ({"deny": ["Read(~/x)"]}, PathAct(path="/home/u/x", access="read"), Effect.DENY),
        # E10: a bare name means any depth here
        ({"deny": ["Read(*.md)"]}, PathAct(path="docs/a.md", access="read"), Effect.DENY),
        ({"deny": ["Read(private/**)"]}, PathAct(path="a/private/b/c", access="read"), Effect.DENY),
        ({"deny": ["Read(a/private/**)"]}, PathAct(path="x/a/private/b", access="read"), Effect.ALLOW),
        ({"deny": ["Read(private/**)"]}, CommandAct(command="cat private/key"), Effect.DENY),
        ({"deny": ["Edit(src/gen/**)"]}, PathAct(path="src/gen/a.py", access="write"), Effect.DENY),
        ({"deny": ["Edit(src/gen/**)"]}, CommandAct(command="echo x > src/gen/a.py"), Effect.DENY),
        ({"allow": ["WebFetch(domain:example.com)"]}, HostAct(host="example.com"), Effect.ALLOW),
        ({"deny": ["Bash"]}, ToolAct(tool="shell"), Effect.DENY),
        ({"ask": ["Write"]}, ToolAct(tool="fs_write"), Effect.ASK),
        ({"ask": ["Write"]}, ToolAct(tool="fs_edit"), Effect.ALLOW),
        ({"deny": ["*"]}, ToolAct(tool="fs_read"), Effect.DENY),
    ],
)
def test_the_engine_judges_as_the_rules_say(permissions: dict[str, list[str]], act: Act, effect: Effect) -> None:
    assert effect_of(act, **permissions) is effect


def test_allows_wait_for_trust_and_denies_do_not() -> None:
    """E63."""
    file = as_file(translate_claude_rules({"allow": ["Bash(quux *)"], "deny": ["Bash(quux drop *)"]}))
    policy = worker(file, project_trusted=False)
    assert decide(CommandAct(command="quux x"), policy).effect is Effect.ASK
    assert decide(CommandAct(command="quux drop x"), policy).effect is Effect.DENY


@pytest.mark.parametrize(
    "permissions", [None, [], "x", 3, {"allow": "x"}, {"deny": [1, None]}, {"defaultMode": "plan"}]
)
def test_what_is_no_permissions_object_is_said(permissions: Any) -> None:
    found = translate_claude_rules(permissions)
    assert found.lines == {}
    assert found.untranslated


WORDS = st.sampled_from(["git", "push", "npm", "run", "test", "--force", "quux", "a.b", "rm"])
SPECS = st.lists(WORDS, min_size=1, max_size=3).flatmap(
    lambda words: st.sampled_from(
        [" ".join(words), " ".join(words) + " *", " ".join(words) + ":*", " ".join(words) + "*"]
    )
)


def claude_matches(spec: str, command: str) -> bool:
    """Claude Code's own matching of one simple command, from its documentation."""
    spec = f"{spec[:-2]} *" if spec.endswith(":*") else spec
    if spec.endswith(" *"):
        return command == spec[:-2] or command.startswith(spec[:-1])
    pattern = "".join(".*" if char == "*" else re.escape(char) for char in spec)
    return re.fullmatch(pattern, command, re.DOTALL) is not None


@given(SPECS, st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_a_deny_is_never_weaker_and_an_allow_never_wider(spec: str, command: str) -> None:
    denied = worker(as_file(translate_claude_rules({"deny": [f"Bash({spec})"]})))
    if claude_matches(spec, command):
        assert decide(CommandAct(command=command), denied).effect is Effect.DENY
    allowed = worker(as_file(translate_claude_rules({"allow": [f"Bash({spec})"]})), project_trusted=True)
    plain = decide(CommandAct(command=command), worker()).effect
    if not claude_matches(spec, command) and plain is not Effect.ALLOW:
        assert decide(CommandAct(command=command), allowed).effect is not Effect.ALLOW


@given(st.dictionaries(st.sampled_from(["allow", "ask", "deny", "x"]), st.lists(st.text(max_size=30), max_size=4)))
def test_every_rule_is_a_line_or_handed_back_and_the_file_can_be_read(permissions: dict[str, list[str]]) -> None:
    found = translate_claude_rules(permissions)
    as_file(found)
    for effect in ("allow", "ask", "deny"):
        for rule in permissions.get(effect, []):
            alone = translate_claude_rules({effect: [rule]})
            assert bool(alone.lines) != bool(alone.untranslated)
            assert all(line in found.lines[place] for place, lines in alone.lines.items() for line in lines)
