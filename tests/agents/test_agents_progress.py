"""Whether a session gets on: pure, over tool records."""

from __future__ import annotations

from typing import Any

from agents.doubles import SESSION

from aircoding.agents.progress import idle_calls
from aircoding.records.calls import ToolCall, ToolRecord, ToolResult
from aircoding.records.digests import sha256_text
from aircoding.records.ids import tool_key


def record(turn: int, name: str, given: dict[str, Any], text: str = "", **result: Any) -> ToolRecord:
    call = ToolCall(
        key=tool_key(SESSION, turn, 0),
        session_id=SESSION,
        turn=turn,
        index=0,
        tool_use_id=f"t{turn}",
        name=name,
        input=given,
    )
    return ToolRecord(call=call, state="committed", decision=None, result=ToolResult(text=text, **result))


def read(turn: int, path: str, version: str = "1", text: str | None = None) -> ToolRecord:
    shown = f"{path} {version}" if text is None else text
    return record(turn, "fs_read", {"path": path}, shown, read_digests={path: sha256_text(version)})


def edit(turn: int, path: str, version: str) -> ToolRecord:
    digest = sha256_text(version)
    return record(turn, "fs_edit", {"path": path, "to": version}, f"edited {turn}", written_digests={path: digest})


def shell(turn: int, command: str, text: str, *, failed: bool = False) -> ToolRecord:
    return record(turn, "shell", {"command": command}, text, is_error=failed)


def stuck(*records: ToolRecord, idle_turns: int = 3) -> str | None:
    return idle_calls(records, before_turn=records[-1].call.turn + 1, idle_turns=idle_turns)


def test_the_same_call_with_the_same_result_is_no_progress_and_is_named() -> None:
    same = [shell(turn, "pytest", "2 failed", failed=True) for turn in range(1, 5)]
    assert stuck(*same) == 'shell {"command":"pytest"} (3 times)'
    assert stuck(*same[:3]) is None, "the first time was news"


def test_a_time_in_an_output_is_no_news_and_a_count_is() -> None:
    times = [shell(turn, "pytest", f"2 failed in 0.{turn}s at 12:00:0{turn}", failed=True) for turn in range(1, 5)]
    counts = [shell(turn, "pytest", f"{turn} failed", failed=True) for turn in range(1, 5)]
    assert stuck(*times) is not None
    assert stuck(*counts) is None


def test_a_clock_in_an_output_is_no_news() -> None:
    clocks = ("17329648{0}1234567890", "1732964{0}.123456", "2026-11-30T10:4{0}:07.12{0}Z", "2026-11-30 10:4{0}")
    for clock in clocks:
        same = [shell(turn, "date", clock.format(turn)) for turn in range(1, 6)]
        assert stuck(*same) is not None, clock
    assert stuck(*[shell(turn, "wc", f"1234{turn}") for turn in range(1, 5)]) is None, "a count of five digits is news"


def test_a_command_that_leaves_the_worktree_as_it_never_was_is_progress_whatever_it_says() -> None:
    def left(turn: int, tree: str) -> ToolRecord:
        given = {"command": "echo step >> log; false"}
        return record(turn, "shell", given, "(no output)", is_error=True, tree_digest=sha256_text(tree))

    assert stuck(*[left(turn, f"{turn} steps") for turn in range(1, 6)]) is None
    assert stuck(*[left(turn, "one step") for turn in range(1, 6)]) is not None
    assert stuck(*[left(turn, "there" if turn % 2 else "back") for turn in range(1, 7)]) is not None


def test_a_path_read_for_the_first_time_is_progress_though_its_text_is_known() -> None:
    assert stuck(*[read(turn, f"{turn}.py", text="empty") for turn in range(1, 5)]) is None


def test_another_part_of_a_known_file_is_progress() -> None:
    parts = [record(turn, "fs_read", {"path": "a.py", "start_line": turn}, f"line {turn}") for turn in range(1, 5)]
    assert stuck(*parts) is None


def test_a_file_that_goes_to_and_fro_is_no_progress() -> None:
    new = [edit(turn, "a.py", str(turn)) for turn in range(1, 6)]
    to_and_fro = [read(1, "a.py", "0"), *(edit(turn, "a.py", str(turn % 2)) for turn in range(2, 7))]
    assert stuck(*new) is None
    assert stuck(*to_and_fro) is not None


def test_refusals_are_no_progress_however_they_differ() -> None:
    refused = [record(turn, "fs_edit", {"path": f"{turn}"}, f"denied {turn}", is_error=True) for turn in range(1, 5)]
    assert stuck(*refused) is not None


def test_progress_in_any_of_the_turns_counts_and_later_turns_are_not_looked_at() -> None:
    records = [read(1, "a"), read(2, "a"), read(3, "b"), read(4, "a"), read(5, "a"), read(6, "a")]
    assert idle_calls(records, before_turn=6, idle_turns=3) is None
    assert idle_calls(records, before_turn=7, idle_turns=3) is not None
    assert idle_calls(records, before_turn=3, idle_turns=3) is None, "there were not so many turns yet"


def test_turns_without_a_call_count_as_idle() -> None:
    assert idle_calls([read(1, "a")], before_turn=5, idle_turns=3) == "no tool call"
