"""Large projects for measurements: prose, rules and code by a fixed seed."""

from __future__ import annotations

import random
from dataclasses import replace

from aircoding.records.layers import Layer, Scope, SegmentKind
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Snapshot
from aircoding.sources.excerpts import reference_line, shorten
from support.contexts import LIMITS, TASK, segment, snapshot

__all__ = ["bulk_files", "bulk_segments", "bulk_snapshot", "fresh"]

_PLACES = (
    (Layer.L3, Scope.RUN, SegmentKind.RULE),
    (Layer.L3, Scope.SESSION, SegmentKind.RULE),
    (Layer.L4, Scope.RUN, SegmentKind.PLAN),
    (Layer.L6, Scope.SESSION, SegmentKind.FILE),
    (Layer.L6, Scope.SESSION, SegmentKind.FILE),
    (Layer.L8, Scope.SESSION, SegmentKind.FAILURE),
)
_BYTES_PER_TOKEN = 3.2


def _vocabulary(chance: random.Random) -> list[str]:
    letters = "eeeaaiioutnnsrrlldhcmpgbfvkwyxz"
    return ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(3_000)]


def _lines(chance: random.Random, words: list[str], size_bytes: int, *, code: bool) -> str:
    made: list[str] = []
    while size_bytes > 0:
        a, b, c, *rest = chance.choices(words, k=10)
        line = f"    {a}_{b} = self.{c}({rest[0]}, {rest[1]}[{len(a)}])" if code else " ".join([a, b, c, *rest]) + "."
        if not code and chance.random() < 0.1:
            line = f"- Run `{a} --{b}` before {c}."
        made.append(line)
        size_bytes -= len(line) + 1
    return "\n".join(made) + "\n"


def bulk_segments(count: int, tokens: int, *, seed: int = 3) -> list[Segment]:
    """Return `count` candidates of some `tokens` tokens in all, with the short forms that the sources would give."""
    chance = random.Random(seed)
    words = _vocabulary(chance)
    each_bytes = int(tokens * _BYTES_PER_TOKEN / count)
    made = []
    for number in range(count):
        layer, scope, kind = _PLACES[number % len(_PLACES)]
        size = int(each_bytes * chance.choice([0.3, 0.5, 0.8, 2.4]))
        text = _lines(chance, words, size, code=kind is SegmentKind.FILE)
        path = f"src/{chance.choice(words)}/{chance.choice(words)}_{number}.py"
        made.append(
            segment(
                text,
                layer=layer,
                scope=scope,
                kind=kind,
                uri=f"project:{path}",
                excerpt=shorten(text, kind=kind),
                reference=reference_line(path, start_line=1, end_line=text.count("\n")),
                recency=chance.randint(0, 9),
            )
        )
    return made


def bulk_snapshot(segments: list[Segment], *, window_tokens: int) -> Snapshot:
    """Return the snapshot of a task that shares some words with the segments."""
    words = " ".join(one.text[:40] for one in segments[:5])
    task = replace(TASK, title="Items", description=words, write_area=("src/**",))
    return snapshot(*segments, task=task, limits=replace(LIMITS, window_tokens=window_tokens))


def fresh(frame: Snapshot) -> Snapshot:
    """Return an equal snapshot of new strings, as the next process step would read them."""
    copies = tuple(replace(one, text=one.text.encode().decode()) for one in frame.segments)
    return replace(frame, segments=copies)


def bulk_files(count: int, tokens: int) -> dict[str, str]:
    """Return files of a project whose reading gives about `count` segments of `tokens` tokens in all."""
    files: dict[str, str] = {}
    for number, one in enumerate(bulk_segments(count, tokens)):
        rule = one.kind is SegmentKind.RULE
        files[f"src/p{number // 40}/d{number}/AGENTS.md" if rule else f"src/p{number // 40}/m{number}.py"] = one.text
    return files
