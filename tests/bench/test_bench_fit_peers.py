"""The fit stage alone beside libraries that fit prompts: the same segments, priorities, counter and budget.

Ours values, orders, cuts by forms and writes the account of each cut; the peers are given the order as priorities and
drop whole segments. Each is measured warm inside its own process.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import statistics
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.bulk import bulk_segments, bulk_snapshot

from aircoding.context import fitting
from aircoding.context.draft import Draft, begin
from aircoding.context.selection import select
from aircoding.records.layers import OutcomeKind, Scope
from aircoding.records.segments import Segment

pytestmark = pytest.mark.bench

PEERS = Path(__file__).parent / "peers"
RUNS, ROUNDS = {300: 7, 1_000: 1}, 3
LEAST_RATIO = 3.0


def count_tokens(text: str) -> int:
    return -(-len(text.encode("utf-8")) // 4)


def segments_of(count: int) -> list[Segment]:
    return [replace(one, scope=Scope.SESSION) for one in bulk_segments(count, count * 333)]


def draft_of(segments: list[Segment]) -> tuple[Draft, int]:
    """Return a draft in which all segments wait to be fitted, and a budget that takes half of their tokens."""
    budget = sum(count_tokens(one.text) for one in segments) // 2
    window = int(budget * 100 / fitting.SESSION_PERCENT * 1.25)
    draft, _ = select(begin(bulk_snapshot(segments, window_tokens=window + 8_000)))
    return draft, budget


def ours(segments: list[Segment]) -> tuple[float, list[str]]:
    """Return the median in ms, and the ids of what was cut, the dearest first."""
    draft, _ = draft_of(segments)
    spent = []
    _, notes = fitting.fit(draft)
    for _ in range(21):
        start = time.perf_counter()
        fitting.fit(draft)
        spent.append(1_000 * (time.perf_counter() - start))
    return statistics.median(spent), [note.segment_id for note in notes if note.outcome is not OutcomeKind.INCLUDED]


def in_node(script: str, segments: list[Segment], budget: int, folder: Path) -> float:
    given = {
        "segments": [{"text": one.text, "priority": number + 1} for number, one in enumerate(segments)],
        "budget_tokens": budget,
        "runs": RUNS[len(segments)],
        "warm_up": 1,
    }
    path = folder / "input.json"
    path.write_text(json.dumps(given))
    done = subprocess.run(["node", script, str(path)], cwd=PEERS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert 0 < said["kept"] < len(segments)
    return float(said["median_ms"])


def in_langchain(segments: list[Segment], budget: int) -> float:
    from langchain_core.messages import BaseMessage, HumanMessage, trim_messages

    messages = [HumanMessage(one.text) for one in segments]

    def counter(given: list[BaseMessage]) -> int:
        return sum(count_tokens(str(one.content)) for one in given)

    spent = []
    for _ in range(RUNS[len(segments)]):
        start = time.perf_counter()
        kept = trim_messages(messages, max_tokens=budget, token_counter=counter, strategy="last")
        spent.append(1_000 * (time.perf_counter() - start))
    assert 0 < len(kept) < len(segments)
    return statistics.median(spent)


@pytest.mark.parametrize("count", sorted(RUNS))
def test_the_fit_stage_beside_its_peers(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fitting, "estimate_tokens", lambda text, _estimator: count_tokens(text))
    segments = segments_of(count)
    _, budget = draft_of(segments)
    node = shutil.which("node") is not None and (PEERS / "node_modules").is_dir()
    langchain = importlib.util.find_spec("langchain_core") is not None
    if not node and not langchain:
        pytest.skip("no peer is installed: `make bench-peers` brings them")

    rounds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        mine, cut = ours(segments)
        rounds.setdefault("ours", []).append(mine)
        if node:
            for name in ("prompt-tsx", "priompt"):
                rounds.setdefault(name, []).append(in_node(f"{name}.mjs", segments, budget, tmp_path))
        if langchain:
            rounds.setdefault("trim_messages", []).append(in_langchain(segments, budget))
    assert cut
    medians = {name: statistics.median(found) for name, found in rounds.items()}
    with capsys.disabled():
        said = [
            f"{name} {median:.2f} ms ({median / medians['ours']:.1f} times ours)" for name, median in medians.items()
        ]
        print(f"\nfit of {count} segments, {2 * budget} tokens (bytes/4) into {budget}: {'; '.join(said)}")
    for name in ("prompt-tsx", "priompt"):
        assert name not in medians or medians[name] / medians["ours"] >= LEAST_RATIO
