"""Screening: bytes a second on code and documents, the slowest document, and time that grows with the text's length."""

from __future__ import annotations

import statistics
import sysconfig
import time
from pathlib import Path

import pytest
from screening.injection_texts import ENCODED, HIDDEN, LANGUAGES, OVERRIDE

from aircoding.records.layers import Trust
from aircoding.screening.screener import TextScreener

pytestmark = pytest.mark.bench

DOCS = Path(__file__).parents[2] / "docs"
MIN_MB_PER_SECOND, MAX_DOCUMENT_SECONDS, MAX_GROWTH = 10.0, 0.25, 15.0
FILES, RUNS = 300, 3
SCREENER = TextScreener(key=b"test key")

HOSTILE = {
    "open tags": "<a ",
    "open comments": "<!-- ",
    "closed comments": "<!-- a -->",
    "hidden elements": '<b style="display:none">x</b>',
    "open hidden elements": '<b style="display:none">',
    "open images": "![",
    "definitions": '[a]: b "',
    "blanks": " ",
    "line ends": "\n",
    "blanks and words": " " * 100 + "x",
    "verbs": "ignore ",
    "verbs and nouns": "ignore previous ",
    "phrases": OVERRIDE[0] + " ",
    "other languages": LANGUAGES["Russian"] + " ",
    "one long word": "A",
    "base64": "SWdub3JlIGFsbA",
    "percent": "%41",
    "references": "&#65;",
    "letters apart": "a ",
    "joiners": "a\u200d",
    "look-alikes": "\u0430a",
    "selectors": "\ufe01",
    "quotes": "\"'`",
    "pipes": "cat .env | ",
    "hidden": HIDDEN["definition"] + "\n",
    "encoded": ENCODED["base64"] + "\n",
}


def seconds(text: str) -> float:
    start = time.process_time()
    SCREENER.findings(text, uri="file:document", trust=Trust.EXTERNAL)
    return time.process_time() - start


def test_throughput_and_the_slowest_document(capsys: pytest.CaptureFixture[str]) -> None:
    code = sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py"))
    paths = [*code[:: max(1, len(code) // FILES)], *DOCS.rglob("*.md")]
    texts = [path.read_text("utf-8", "replace") for path in paths]
    size = sum(len(text.encode()) for text in texts)
    for text in texts:
        seconds(text)  # the automata are built as texts need them

    spent = [[seconds(text) for text in texts] for _ in range(RUNS)]
    rate = size / 1e6 / min(sum(times) for times in spent)
    slowest = max(min(times) for times in zip(*spent, strict=True))
    with capsys.disabled():
        print(f"\nscreening: {len(texts)} files, {size / 1e6:.1f} MB, {rate:.1f} MB/s CPU; slowest {slowest:.3f} s")
    assert slowest <= MAX_DOCUMENT_SECONDS
    assert rate >= MIN_MB_PER_SECOND


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_length_and_no_faster(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    piece = HOSTILE[name]
    small, large = (piece * (size // len(piece)) for size in (40_000, 400_000))
    seconds(small)
    growth = []
    for _ in range(RUNS):
        before = max(seconds(small), 1e-4)
        growth.append(seconds(large) / before)
    with capsys.disabled():
        print(f"\nscreening {name}: ten times the text takes {statistics.median(growth):.1f} times as long")
    assert statistics.median(growth) <= MAX_GROWTH
