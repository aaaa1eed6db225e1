"""Several processes write at once, and one that is killed loses nothing that it was told is committed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.records import RUN, run

from aircoding.store import Store

APPEND = """
import sys
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.store import open_store
store = open_store(sys.argv[1])
for number in range(50):
    last = store.events.read("r1")
    store.events.append(
        Event(run_id=RunId("r1"), type="x", at="", key=f"shared:{number}"),
        Event(run_id=RunId("r1"), type="x", at="", task_id="T1", payload={"writer": sys.argv[2], "seen": len(last)}),
    )
"""

SHARE = """
import sys
from aircoding.store import open_store
from support.contexts import segment, snapshot
from dataclasses import replace
from aircoding.context.assembler import assemble
store = open_store(sys.argv[1])
files = [segment(f"file {number}", uri=f"project:f{number}.py") for number in range(30)]
for number in range(8):
    given = snapshot(*(files if number % 2 else reversed(files)))
    given = replace(given, request=replace(given.request, session_id=f"r1:T{sys.argv[2]}:1:executor:{number + 1}"))
    store.assemblies.record(assemble(given), snapshot=given)
"""

WRITE = """
import sys
from support.records import call, run, event
from aircoding.records.calls import Reply
from aircoding.records.usage import Cost, Usage
from aircoding.store import open_store
store = open_store(sys.argv[1])
store.claim("r1")
turn = 0
while True:
    turn += 1
    store.calls.intend(call(turn))
    store.calls.commit(
        call(turn).key, 0,
        Reply(content=({"type": "text", "text": f"reply {turn}"},), stop_reason="end_turn", usage=Usage(), model="m"),
        Cost(usd=1.0, price_source="x"),
    )
    (seq,) = store.events.append(event("session.finished", key=f"turn:{turn}"))
    print(turn, seq, flush=True)
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a Python process that finds the test's own support."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors


def test_four_processes_that_read_then_write_never_fail(store: Store, database_url: str) -> None:
    store.runs.create(run())
    finish([start(APPEND, database_url, str(number)) for number in range(4)])
    events = store.events.read(RUN)
    assert [each.seq for each in events] == list(range(1, 251)), "no gap, no number twice"
    own = [each for each in events if each.key is None]
    assert sorted(each.payload["writer"] for each in own) == [str(n) for n in range(4) for _ in range(50)]
    assert len({each.key for each in events if each.key is not None}) == 50


def test_processes_that_share_texts_and_segments_do_not_deadlock(store: Store, database_url: str) -> None:
    finish([start(SHARE, database_url, str(number)) for number in range(3)])
    rows = store.index.row_counts()
    assert rows["assemblies"] == 24
    assert rows["segments"] == rows["segment_uses"] / 24, "both orders of the files have the same segments"


@pytest.mark.parametrize("after_turns", [3, 17])
def test_a_killed_writer_loses_nothing_that_was_committed(
    store: Store, database_url: str, opener: Callable[[], Store], after_turns: int
) -> None:
    store.runs.create(run())
    process = start(WRITE, database_url)
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        told.append(tuple(map(int, line.split())))
        if len(told) == after_turns:
            process.send_signal(signal.SIGKILL)
            break
    told += [tuple(map(int, line.split())) for line in process.stdout.read().splitlines() if line.count(" ") == 1]
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    after = opener()
    assert after.claim(RUN) == 2
    keys = {each.key: each.seq for each in after.events.read(RUN)}
    for turn, seq in told:
        assert keys[f"turn:{turn}"] == seq
    committed = [record for record in after.queries.calls(run_id=RUN) if record.state == "committed"]
    assert len(committed) >= len(told)
    for record in committed:
        reply = after.calls.reply(record.key)
        assert reply is not None
        assert reply.content[0]["text"] == f"reply {str(record.key).rsplit('#', 1)[1]}"
    assert len(after.calls.unfinished(RUN)) <= 1, "at most the call in flight is open"
