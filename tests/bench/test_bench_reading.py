"""Blame and difference of large prompts, in CPU time; ten times the prompt for the growth."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.bulk import bulk_segments, bulk_snapshot

from aircoding.audit.blame import blame
from aircoding.audit.differences import compare, compare_texts
from aircoding.context.assembler import assemble
from aircoding.records.digests import sha256_text
from aircoding.records.ids import SegmentId
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment

pytestmark = pytest.mark.bench

SEGMENTS, TOKENS = 10_000, 640_000
MAX_BLAME_MS, MAX_COMPARE_MS, MAX_TEXTS_MS, MAX_GROWTH = 500.0, 600.0, 1_000.0, 14.0
ROUNDS = 7


def prompt(segments: list[Segment]) -> AssembledContext:
    context = assemble(bulk_snapshot(segments, window_tokens=50_000_000))
    assert isinstance(context, AssembledContext)
    return context


def best_ms(work: Callable[[], object]) -> float:
    """Return the best CPU time of some rounds: what else the machine does only adds to it."""
    gc.collect()
    gc.freeze()
    try:
        found = []
        for _ in range(ROUNDS):
            before = time.process_time()
            work()
            found.append((time.process_time() - before) * 1_000)
        return min(found)
    finally:
        gc.unfreeze()


def other_words(one: Segment) -> Segment:
    text = one.text.replace(" ", "  more ", 3)
    digest = sha256_text(text)
    name = f"{one.segment_id.rpartition('@')[0]}@{digest[:8]}"
    return replace(one, text=text, segment_id=SegmentId(name), source=replace(one.source, text_digest=digest))


def test_blame_of_ten_thousand_segments() -> None:
    large, small = prompt(bulk_segments(SEGMENTS, TOKENS)), prompt(bulk_segments(SEGMENTS // 10, TOKENS // 10))
    size = sum(len(line.text) for line in blame(large))
    took_ms, tenth_ms = best_ms(lambda: blame(large)), best_ms(lambda: blame(small))
    print(f"\nblame of {size} characters: {took_ms:.0f} ms; of a tenth: {tenth_ms:.0f} ms")
    assert took_ms < MAX_BLAME_MS
    assert took_ms / tenth_ms < MAX_GROWTH


def test_difference_of_ten_thousand_segments() -> None:
    segments = bulk_segments(SEGMENTS, TOKENS)
    changed = [other_words(one) if number % 2 else one for number, one in enumerate(segments) if number % 20]
    before, after = prompt(segments), prompt(changed)
    difference = compare(before.manifest, after.manifest)
    compare_ms = best_ms(lambda: compare(before.manifest, after.manifest))
    texts_ms = best_ms(lambda: compare_texts(before, after, difference))
    print(f"\n{len(difference.changed)} changed segments: {compare_ms:.0f} ms, their words {texts_ms:.0f} ms")
    assert (len(difference.changed), len(difference.removed)) == (SEGMENTS // 2, SEGMENTS // 20)
    assert compare_ms < MAX_COMPARE_MS
    assert texts_ms < MAX_TEXTS_MS
