"""The page of 10,000 segments: how soon a reader can use it, and what it costs to make."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from support.browsers import chromium, opened
from support.inspected import long_context

from aircoding.audit.inspection import inspect
from aircoding.pages.inspector import inspector_page

pytestmark = pytest.mark.bench

SEGMENTS = 10_000
MOST_MILLISECONDS = 1_000.0
MOST_SECONDS_TO_MAKE = 5.0
RUNS = 7

USE = """async (words) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const timed = async (act) => {
    const from = performance.now();
    act();
    await frame();
    return performance.now() - from;
  };
  const seen = (node) => {
    const { top, bottom } = node.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const late = [...document.querySelectorAll("#layers tbody a")].at(-1);
  const jump = await timed(() => late.click());
  const jumped = seen(document.querySelector(late.hash));
  const search = await timed(() => {
    document.querySelector("#search-words").value = words;
    document.querySelector("#search").requestSubmit();
  });
  return {
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    ready: Number(document.documentElement.dataset.readyMilliseconds),
    jump, jumped, search,
    found: document.querySelector("#search-count").textContent,
    shown: seen(document.querySelector(".s.on")),
    at: document.querySelector(".s.on").textContent.includes(words),
  };
}"""


def test_a_page_of_ten_thousand_segments_can_be_used_within_a_second(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = long_context(SEGMENTS)
    start = time.process_time()
    written = inspector_page(inspect(context))
    made_seconds = time.process_time() - start
    file = tmp_path / "page.html"
    file.write_text(written, encoding="utf-8")
    text_bytes = sum(len(block["text"].encode()) for message in context.messages for block in message["content"])

    runs: list[dict[str, Any]] = []
    with chromium() as browser:
        for _ in range(RUNS):
            with opened(browser, file) as watched:
                runs.append(watched.page.evaluate(USE, "of module 7777:"))
                watched.assert_quiet(file)

    used = [run["ready"] + run["jump"] + run["search"] for run in runs]
    names = ("paint", "ready", "jump", "search")
    parts = ", ".join(f"{name} {median(run[name] for run in runs):.0f}" for name in names)
    with capsys.disabled():
        print(f"\n{len(context.manifest.segments)} segments, {text_bytes / 1e6:.1f} MB of text:", end=" ")
        print(f"a page of {len(written) / 1e6:.1f} MB, made in {made_seconds:.1f} s of CPU time")
        print(f"ms at the median: {parts}; in all {median(used):.0f} ({min(used):.0f} to {max(used):.0f})")
    for run in runs:
        assert (run["jumped"], run["shown"], run["at"], run["found"]) == (True, True, True, "1 of 4")
    assert median(used) < MOST_MILLISECONDS
    assert made_seconds < MOST_SECONDS_TO_MAKE
