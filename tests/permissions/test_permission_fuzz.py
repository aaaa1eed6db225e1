"""However a denied command is quoted, nested and wrapped, it is never allowed, and denied where it is understood."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from permissions.policies import worker, written

from aircoding.permissions.engine import decide
from aircoding.permissions.paths import judge_path
from aircoding.records.policy import CommandAct, Effect, HostAct, PathAct

# A policy as wide as a careless user could write it: even so a deny is a deny.
WIDE = worker(
    written(
        "commands: {allow: [env *, xargs *, timeout *, bash *, sh *, eval *, find *, python *, source *]}\n"
        "paths: {read: {allow: [/**, ~/**]}, write: {allow: [/tmp/**]}}"
    )
)
DENIED = st.sampled_from(
    ["sudo ls", "ssh host id", "cat ~/.ssh/id_rsa", "echo x > .git/config", "rm -rf /", "curl https://evil.example"]
)


def single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'


def ansi(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(char):02x}" if char.isascii() else char for char in text) + "'"


def quoted_program(command: str, how: int) -> str:
    program, _, rest = command.partition(" ")
    forms = [program, single(program), double(program), ansi(program), f"\\{program}", program[0] + "''" + program[1:]]
    return f"{forms[how]} {rest}"


WRAPS = [
    lambda c: f"ls; {c}",
    lambda c: f"true && {c}",
    lambda c: f"false || {c}",
    lambda c: f"ls | {c}",
    lambda c: f"({c})",
    lambda c: f"{{ {c}; }}",
    lambda c: f"! {c}",
    lambda c: f"echo $({c})",
    lambda c: f'echo "$({c})"',
    lambda c: f"cat <({c})",
    lambda c: f"x=$({c})",
    lambda c: f"if true; then {c}; fi",
    lambda c: f"for i in 1; do {c}; done",
    lambda c: f"case x in x) {c};; esac",
    lambda c: f"f() {{ {c}; }}; f",
    lambda c: f"bash -c {single(c)}",
    lambda c: f"sh -c {double(c)}",
    lambda c: f"bash -c {ansi(c)}",
    lambda c: f"eval {single(c)}",
    lambda c: f"trap {single(c)} EXIT",
    lambda c: f"env -S {single(c)}",
    lambda c: f"cat <<EOF\n$({c})\nEOF",
    lambda c: f"ls # quiet\n{c}",
    lambda c: f"echo 'a; b' && {c}",
    lambda c: f"{c} # and done",
    lambda c: f"cd src && {c}",
]
PREFIXES = [
    "env A=1 ",
    "timeout 5 ",
    "nice -n 3 ",
    "nohup ",
    "command ",
    "xargs -n1 ",
    "stdbuf -o0 ",
    "wrapper -x ",
    "time ",
]


@given(
    DENIED,
    st.integers(0, 5),
    st.lists(st.sampled_from(PREFIXES), max_size=3),
    st.lists(st.sampled_from(WRAPS), max_size=5),
)
@settings(max_examples=500, deadline=None)
def test_a_denied_command_is_denied_however_it_is_dressed(
    command: str, how: int, prefixes: list[str], wraps: list[object]
) -> None:
    text = "".join(prefixes) + quoted_program(command, how)
    for wrap in wraps:
        text = wrap(text)  # type: ignore[operator]
    decision = decide(CommandAct(command=text), WIDE)
    assert not decision.permits, text
    if all(judgement.pattern != "not understood" for judgement in decision.judgements):
        assert decision.effect is Effect.DENY, text


@given(st.text(max_size=60), DENIED)
@settings(max_examples=300, deadline=None)
def test_no_text_before_it_makes_a_denied_command_allowed(noise: str, command: str) -> None:
    """Noise may comment the command out or quote it; whatever the engine allows must then not run it."""
    decision = decide(CommandAct(command=f"{noise}\n{command}"), WIDE)
    if decision.permits:
        assert any(char in noise for char in "'\"<\\$`")


@given(st.one_of(st.text(max_size=80), st.text("$(){}[]<>|&;`'\"\\ \n#=*~!@abls-", max_size=60)))
@settings(max_examples=400, deadline=None)
def test_no_text_breaks_the_engine(text: str) -> None:
    first = decide(CommandAct(command=text), WIDE)
    assert decide(CommandAct(command=text), WIDE) == first
    assert first.judgements
    decide(PathAct(path=text, access="write"), WIDE)
    decide(HostAct(host=text), WIDE)


PARTS = st.sampled_from(["..", ".", "a", "src", ".git", ".GIT", "config", "", ".env", "x"])


@given(st.lists(PARTS, min_size=1, max_size=8))
@settings(max_examples=300, deadline=None)
def test_a_write_is_only_ever_allowed_in_the_area_and_never_in_git(parts: list[str]) -> None:
    path = "/".join(parts)
    judgement = judge_path(path, "write", WIDE)
    if judgement.effect is Effect.ALLOW and not judgement.text.startswith("/tmp/"):
        assert judgement.text == "src" or judgement.text.startswith(("src/", "tests/", "tests"))
        assert ".git" not in judgement.text.lower().split("/")
        assert ".env" not in judgement.text.split("/")
