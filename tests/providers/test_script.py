"""The script file: read strictly, every fault with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from aircoding.errors import ConfigError
from aircoding.providers.script import DEFAULT_MODEL, Match, parse_script

DEMO = Path(__file__).parents[2] / "resources" / "demo" / "script.yaml"


def faults(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(ConfigError) as caught:
        parse_script(text, uri="project:script.yaml")
    assert all(diagnostic.uri == "project:script.yaml" for diagnostic in caught.value.diagnostics)
    return [(diagnostic.line, diagnostic.message) for diagnostic in caught.value.diagnostics]


def test_a_whole_script_is_read_as_written() -> None:
    file = parse_script(
        """\
model: claude-opus-5-5
scripts:
- match: {role: executor, task: T1, attempt: 2, n: 1}
  turns:
  - thinking: Hm.
    text: I read it.
    tools:
    - {name: fs_read, input: {path: a.py, start_line: 1, deep: [true, null, "1"]}}
    delay_seconds: 0.5
    error: {status: 429, times: 2, retry_after_seconds: 1.5, should_retry: false}
  - {text: Done., stop_reason: max_tokens}
""",
        uri="x",
    )
    script = file.scripts[0]
    first, second = script.turns
    assert file.model == "claude-opus-5-5"
    assert script.match == Match(role="executor", task="T1", attempt=2, n=1)
    assert (first.text, first.thinking, first.stop_reason, first.delay_seconds) == (
        "I read it.",
        "Hm.",
        "tool_use",
        0.5,
    )
    assert first.tools[0].input == {"path": "a.py", "start_line": 1, "deep": [True, None, "1"]}
    assert first.error is not None
    assert (first.error.status, first.error.times, first.error.retry_after_seconds) == (429, 2, 1.5)
    assert first.error.headers == {"retry-after": "1.5", "x-should-retry": "false"}
    assert (second.stop_reason, second.line) == ("max_tokens", 11)


def test_the_packaged_demo_script_is_in_order() -> None:
    file = parse_script(DEMO.read_text("utf-8"), uri="resource:demo/script.yaml")
    assert file.model == DEFAULT_MODEL
    assert len(file.scripts) > 12


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("scripts:\n- {", 3, "no YAML"),
        ("- a\n", 1, "must hold keys"),
        ("model: m\n", 1, "`scripts` is missing"),
        ("scripts: []\n", 1, "at least one"),
        ("scripts:\n- turns:\n  - text: a\n", 2, "`match` is missing"),
        ("scripts:\n- match: {}\n", 2, "`turns` is missing"),
        ("scripts:\n- match: {}\n  turns: []\n", 3, "at least one"),
        ("scripts:\n- match: {rol: a}\n  turns: [{text: a}]\n", 2, "unknown key `rol`"),
        ("scripts:\n- match: {attempt: 0}\n  turns: [{text: a}]\n", 2, "whole number of at least 1"),
        ("scripts:\n- match: {attempt: true}\n  turns: [{text: a}]\n", 2, "whole number of at least 1"),
        ("scripts:\n- match: {}\n  turns:\n  - txt: a\n", 4, "unknown key `txt`"),
        ("scripts:\n- match: {}\n  turns:\n  - delay_seconds: 1\n", 4, "says nothing"),
        ("scripts:\n- match: {}\n  turns:\n  - text: ''\n", 4, "must be a text"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    delay_seconds: -1\n", 5, "must be seconds"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    text: b\n", 5, "stands twice"),
        ("scripts:\n- match: {}\n  turns:\n  - tools: [{name: a}]\n", 4, "`input` is missing"),
        ("scripts:\n- match: {}\n  turns:\n  - tools: [{name: a, input: 3}]\n", 4, "must hold keys"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    stop_reason: tired\n", 5, "must be one of"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    error: {status: 200}\n", 5, "is none of"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    error: {status: 500, stream: cut}\n", 5, "either"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    error: {times: 1}\n", 5, "either"),
        ("scripts:\n- match: {}\n  turns:\n  - text: a\n    error: {stream: burst}\n", 5, "must be one of"),
        ("scripts:\n- match: {}\n  turns:\n  - error: {status: 500, times: 1}\n", 4, "every try fails"),
        ("scripts:\n- match: {}\n  turns:\n  - {text: a, error: {stream: cut, retry_after_seconds: 1}}\n", 4, "goes"),
        ("scripts:\n- match: {}\n  turns:\n  - {text: a, error: {stream: cut, should_retry: true}}\n", 4, "goes"),
        ("scripts:\n- match: {}\n  turns:\n  - {text: a, error: {status: 500, should_retry: 1}}\n", 4, "true or false"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line(text: str, line: int, words: str) -> None:
    found = faults(text)
    assert any(at == line and words in message for at, message in found), found


def test_every_fault_is_told_not_only_the_first() -> None:
    found = faults("scripts:\n- match: {rol: a}\n  turns:\n  - txt: a\n  - text: b\n    pace_seconds: x\n")
    assert sorted(line or 0 for line, _ in found) == [2, 4, 4, 6]


def test_a_script_behind_one_that_covers_it_is_refused() -> None:
    found = faults(
        "scripts:\n- match: {role: a}\n  turns: [{text: x}]\n- match: {role: a, task: T1}\n  turns: [{text: y}]\n"
    )
    assert found == [(4, "`match` {role: a, task: T1} is never reached: {role: a} in line 2 matches before it")]


def test_a_more_precise_script_may_stand_first() -> None:
    text = "scripts:\n- match: {role: a, task: T1}\n  turns: [{text: y}]\n- match: {role: a}\n  turns: [{text: x}]\n"
    assert [str(script.match) for script in parse_script(text, uri="x").scripts] == ["{role: a, task: T1}", "{role: a}"]
