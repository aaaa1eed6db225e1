"""What a decision costs: ordinary commands, and commands of up to 1 MB (the processor's time, not the clock's)."""

from __future__ import annotations

import time

import pytest
from permissions.test_own_cases import POLICY, TABLES

from aircoding.permissions.engine import decide
from aircoding.records.policy import CommandAct

pytestmark = pytest.mark.bench

ROUNDS = 5
MOST_MILLISECONDS = 1.0
SMALL, LARGE = 50_000, 1_000_000
MOST_GROWTH = 2.0
"""How much more than in proportion a text of 20 times the length may take."""
SHAPES = {
    "one long word": lambda size: "echo " + "a" * size,
    "words": lambda size: "git log " + "a " * (size // 2),
    "commands": lambda size: "ls src; " * (size // 8),
    "nested substitutions": lambda size: "echo " + "${x:-" * (size // 6) + "a" + "}" * (size // 6),
    "backquotes": lambda size: "echo `" + "\\`" * (size // 2) + "`",
    "wrappers": lambda size: "env " * (size // 4) + "ls",
    "a here-document": lambda size: "cat <<'E'\n" + "a `ls` b\n" * (size // 9) + "E",
    "braces": lambda size: "ls {" + "," * size,
}


def spent(command: str) -> float:
    """Return the seconds of processor time that one decision takes."""
    before = time.process_time()
    decide(CommandAct(command=command), POLICY)
    return time.process_time() - before


def test_an_ordinary_command_is_decided_within_a_millisecond(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [case.act.command for case in TABLES["harmless.yaml"].cases if isinstance(case.act, CommandAct)]
    for command in commands:
        spent(command)
    times = sorted(spent(command) for _ in range(ROUNDS) for command in commands)
    p50, p95 = (times[int(len(times) * part)] * 1_000 for part in (0.5, 0.95))
    with capsys.disabled():
        print(f"\n{len(commands)} commands: p50 {p50:.2f} ms, p95 {p95:.2f} ms of CPU")
    assert p95 < MOST_MILLISECONDS


@pytest.mark.parametrize("name", SHAPES)
def test_the_time_grows_with_the_length_up_to_a_megabyte(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    small, large = spent(SHAPES[name](SMALL)), spent(SHAPES[name](LARGE))
    with capsys.disabled():
        print(f"\n{name}: {small:.3f} s for {SMALL} characters, {large:.2f} s for {LARGE}")
    assert large < max(small, 0.02) * (LARGE / SMALL) * MOST_GROWTH
