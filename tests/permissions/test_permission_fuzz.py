"""However a denied command is quoted, nested and wrapped, it is never allowed, and denied where it is understood."""

from __future__ import annotations

import re

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
DEVELOPER = written("commands: {allow: [go test *]}")
DENIED = st.sampled_from(
    ["sudo ls", "ssh host id", "cat ~/.ssh/id_rsa", "echo x > .git/config", "rm -rf /", "curl https://evil.example"]
)


def single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'


def ansi(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(char):02x}" if char.isascii() else char for char in text) + "'"


def backquoted(text: str) -> str:
    return "`" + re.sub(r"([\\\\`$])", r"\\\1", text) + "`"


def in_document(text: str) -> str:
    """Backquotes keep their meaning in a here-document; a quote there is a plain character."""
    return f"cat <<EOF\nsay {backquoted(text)} now\nEOF"


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
    in_document,
    lambda c: f"echo {backquoted(c)}",
    lambda c: f'echo "${{x:-$({c})}}"',
    lambda c: f"echo ${{x:+$({c})}}",
    lambda c: f"echo ${{a[$({c})]}}",
    lambda c: f"[[ -n $({c}) ]]",
    lambda c: f"cat <<< $({c})",
    lambda c: f"while {c}; do ls; done",
    lambda c: f"if ls; then ls; elif {c}; then ls; fi",
    lambda c: f"ls &\n{c}",
    lambda c: f"coproc X {{ {c}; }}",
    lambda c: f"ls > >({c})",
    lambda c: f"find . -exec sh -c {single(c)} ';'",
    lambda c: f"xargs -n1 sh -c {single(c)}",
    lambda c: f"watch {single(c)}",
    lambda c: f"alias ll={single(c)}",
    lambda c: f"PAGER={single(c)} git log",
    lambda c: f"git -c alias.x={single('!' + c)} x",
    lambda c: f"git -c core.pager={single(c)} log",
    lambda c: f"bash <<'EOS'\n{c}\nEOS",
    lambda c: f"sh <<< {single(c)}",
    lambda c: f"eval {single('eval ' + single(c))}",
    lambda c: f"ls -la \\\n  src; {c}",
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
    "A=1 ",
    "setsid ",
    ">/dev/null ",
    "2>&1 ",
    "env -- ",
    "builtin command ",
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
    # Behind what cannot be followed to its end (a shell that is fed, a parse that failed) an ask is enough.
    if not {"not understood", "risky use"} & {judgement.pattern for judgement in decision.judgements}:
        assert decision.effect is Effect.DENY, text


def look_alike(text: str, how: int) -> str:
    """Return a name that a person reads as another: letters of other scripts, wide ones, signs that are not seen."""
    forms = [
        text.translate(str.maketrans("sceopx", "\u0455\u0441\u0435\u043e\u0440\u0445")),
        "".join(chr(ord(char) + 0xFEE0) for char in text),
        "\u200b".join(text),
        text + "\u00a0-x",
        "\ufeff" + text,
        text[0] + "\u0301" + text[1:],
    ]
    return forms[how]


@given(st.sampled_from(["ls", "cat", "echo", "sudo", "curl"]), st.integers(0, 5), st.sampled_from(["", " src", " -la"]))
@settings(max_examples=100, deadline=None)
def test_a_name_that_only_looks_like_an_allowed_one_is_not_allowed(name: str, how: int, rest: str) -> None:
    text = look_alike(name, how)
    assert text == name or not decide(CommandAct(command=text + rest), WIDE).permits


HARMLESS = [
    "ls -la",
    "cat src/app.py",
    "grep -rn 'rm -rf /' src",
    "rg -n 'sudo|ssh' src",
    "find . -name '*.py' -type f",
    "git status --short",
    "git diff --stat",
    "git log --oneline -5",
    "git show HEAD:src/app.py",
    "python -m pytest -q tests",
    "pytest -q -k 'not slow'",
    "ruff check .",
    "mypy src",
    "npm test",
    "sed -n '1,40p' src/app.py",
    "wc -l src/*.py",
    "head -n 5 src/{a,b}.py",
    "diff -u src/a.py src/b.py",
    "echo 'a; sudo b'",
    "printf '%s\\n' done",
    "cp src/a.py src/b.py",
    "mkdir -p src/new",
    "touch tests/test_new.py",
    "cargo test",
    "go test ./...",
]
HARMLESS_WRAPS = [
    lambda c: f"{c}; ls",
    lambda c: f"pwd && {c}",
    lambda c: f"{c} || true",
    lambda c: f"( {c} )",
    lambda c: f"{{ {c}; }}",
    lambda c: f"! ( {c} )",
    lambda c: f"if true; then {c}; fi",
    lambda c: f"for i in 1 2; do {c}; done",
    lambda c: f"{c} | head -5",
    lambda c: f"( {c} ) > /dev/null 2>&1",
    lambda c: f"x=$( {c} )",
    lambda c: f'echo "$( {c} )"',
    lambda c: f"bash -c {single(c)}",
    lambda c: f"sh -c {double(c)}",
    lambda c: f"# what follows is needed\n{c}",
    lambda c: f"set -euo pipefail\n{c}",
    lambda c: f"echo 'sudo `ssh`' > src/out.txt; {c}",
    lambda c: f"test -f src/app.py && {c}",
    lambda c: f'[ "$?" -eq 0 ] && {c}',
    lambda c: f"( cd src && {c} )",
]
HARMLESS_PREFIXES = [
    "timeout 60 ",
    "time ",
    "nice -n 5 ",
    "env A=1 ",
    "command ",
    "stdbuf -oL ",
    "nohup ",
]


@given(
    st.sampled_from(HARMLESS),
    st.lists(st.sampled_from(HARMLESS_PREFIXES), max_size=2),
    st.lists(st.sampled_from(HARMLESS_WRAPS), max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_a_harmless_command_is_not_asked_about_however_it_is_dressed(
    command: str, prefixes: list[str], wraps: list[object]
) -> None:
    text = "".join(prefixes) + command
    for wrap in wraps:
        text = wrap(text)  # type: ignore[operator]
    decision = decide(CommandAct(command=text), worker(DEVELOPER))
    assert decision.effect is Effect.ALLOW, (text, decision.reason)


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
