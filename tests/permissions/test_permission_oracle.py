"""bash itself says what a text runs: what the engine permits must run no denied program and read no credential."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from permissions.policies import worker

from aircoding.permissions.engine import decide
from aircoding.records.policy import CommandAct

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")

POLICY = worker(write_area=("**",))
TOKENS = [
    *(
        "sudo x",
        "sudo x",
        "`sudo x`",
        "$(sudo x)",
        "k.pem",
        " k.pem ",
        "ls ",
        "echo a ",
        "cat ",
        "sh ",
        "sh -c ",
        "eval ",
    ),
    *(">f ", "<f ", "2>&1 ", ">&2 ", "&>f ", ">", "<", "<<<", "<(", ">("),
    *("(", ")", "$(", "`", "'", '"', "\\", "\n", " # ", "$'", '$"', "\\\n", "\\`", '\\"'),
    *("<<EOF\n", "\nEOF\n", "<<'E' ", "<<E ", "<<-E\n", "\nE\n", '<<"E"\n'),
    *("case x in ", " esac", "x) ", ";; ", "if ", "then ", "fi ", "for i in ", "do ", "done ", "while ", "f() ", "f "),
    *("${x:-", "${x#", "${x%", "${x/a/", "${x:+", "${x^", "${a[", "}", "]", "]}", "$((", "))", "((", "$[", "${x@P}"),
    *(
        "[[ ",
        " ]]",
        " =~ ",
        " -v ",
        " -eq 1",
        "[ ",
        " ] ",
        "test ",
        "{a,",
        "{",
        ",b}",
        "*",
        "?",
        "~",
        "$x",
        "$HOME",
        "$$",
    ),
    *(
        " ",
        "\t",
        "; ",
        " && ",
        " || ",
        "| ",
        "& ",
        "! ",
        "x=1 ",
        "x=",
        "a=(",
        "{ ",
        "} ",
        "export A=1 ",
        "time ",
        "coproc ",
    ),
    *(
        "xargs ",
        "xargs -I{} ",
        "{} ",
        "{}",
        "-exec ",
        "find . ",
        "\\; ",
        "env ",
        "env -S ",
        "timeout 1 ",
        "printf -v x ",
        "-v ",
    ),
]
PROGRAM = """#!/bin/sh
[ "${0##*/}" = sudo ] && : > "$MARK"
for word; do case "$word" in *.pem) : > "$MARK";; esac; done
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with harmless programs, each of which leaves a mark when it is denied or is handed a credential."""
    root = tmp_path_factory.mktemp("shell")
    (root / "bin").mkdir()
    for name in ("sh", "env", "xargs", "find", "timeout"):
        (root / "bin" / name).symlink_to(shutil.which(name) or "/missing")
    for name in ("ls", "cat", "sudo"):
        program = root / "bin" / name
        program.write_text(PROGRAM)
        program.chmod(0o755)
    return root


@given(st.lists(st.sampled_from(TOKENS), min_size=2, max_size=9).map("".join))
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_permitted_runs_nothing_that_is_denied(shell: Path, text: str) -> None:
    if not decide(CommandAct(command=text), POLICY).permits:
        return
    mark = shell / "mark"
    folder = shell / "work"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(
        [str(BASH), "-c", text],
        cwd=folder,
        env={"PATH": str(shell / "bin"), "MARK": str(mark)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert not mark.exists(), text
