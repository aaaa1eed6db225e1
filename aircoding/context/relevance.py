"""How much a text is about the task: paths that meet, names and words that both carry.

The words are weighed by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009):
a word that few of the candidates hold counts more, its repetition counts less and less, a long text gets no credit for
its length. A name counts as a whole and in its parts, so `parse_header`, `parseHeader` and "parse the header" meet. No
word is stemmed: what the order says must be the same in every release of every library.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from aircoding.records.segments import Segment
from aircoding.records.tasks import TaskSpec
from aircoding.rules.globs import Dialect, compile_globs

__all__ = ["NEUTRAL", "Words", "relevance", "words_of"]

NEUTRAL = 0.5
"""The relevance of everything where there is no task to ask about."""

_K1 = 1.2
"""How soon repetition stops to count; the value of Lucene and of most systems since."""
_B = 0.75
"""How far the length of a text is held against it: 0 not at all, 1 in full; the usual value."""

_NAME = re.compile(r"\w+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WILD = frozenset("*?[{")
_FIRST_IDEOGRAPH = "\u2e80"


class Words(NamedTuple):
    """The words of a text: how often each stands in it, and how many there are in all."""

    counts: Mapping[str, int]
    total: int


def relevance(segments: Sequence[Segment], task: TaskSpec | None, touched_paths: Sequence[str]) -> list[float]:
    """Return 0 to 1 for each segment, in order.

    Half of it is the place: 1 where the segment's path is one that the task names, writes or has touched, or where the
    task names all of its `relevance_terms`; less the further away its folder is. The other half is the text, measured
    against the best match among `segments`. The time is linear in the texts, and each text is taken apart only once.
    """
    if task is None:
        return [NEUTRAL] * len(segments)
    named = (*task.write_area, *task.reads)
    query = _query("\n".join((task.title, task.description, *task.acceptance, *named)))
    texts = _bm25([_hits(segment.text, query) for segment in segments])
    places = _Places((*task.write_area, *(read.split(":", 1)[0] for read in task.reads)), touched_paths)
    known = query | frozenset(named)
    return [
        round((max(_named_share(segment, known), places.closeness(segment)) + text) / 2, 9)
        for segment, text in zip(segments, texts, strict=True)
    ]


def _named_share(segment: Segment, known: frozenset[str]) -> float:
    terms = segment.relevance_terms
    return sum(1 for term in terms if term in known) / len(terms) if terms else 0.0


class _Places:
    """The globs that a task is about, and the paths that its session has touched."""

    def __init__(self, globs: Iterable[str], paths: Iterable[str]) -> None:
        given = tuple(sorted(set(globs)))
        self._matcher, self._paths = compile_globs(given, Dialect.ROOT_ANCHORED), frozenset(paths)
        self._folders = {folder for place in (*map(_literal, given), *self._paths) for folder in _ancestors(place)}

    def closeness(self, segment: Segment) -> float:
        """Return 1 for a path that is one of the places, else up to a half for the folders that it shares with one."""
        scheme, _, path = segment.source.uri.partition(":")
        if scheme != "project" or not path:
            return 0.0
        if path in self._paths or self._matcher.matches(path):
            return 1.0
        above = _ancestors(path)
        shared = next((depth for depth, folder in enumerate(above) if folder in self._folders), len(above))
        return 0.5 * (len(above) - shared) / len(above) if above else 0.0


def _literal(glob: str) -> str:
    """Return the folders that a glob names for certain, as the path of something in the last of them."""
    parts = glob.split("/")
    fixed = next((number for number, part in enumerate(parts) if _WILD & set(part)), len(parts) - 1)
    return "/".join([*parts[:fixed], ""])


def _ancestors(path: str) -> list[str]:
    """Return the folders above a path, the nearest first; the root is none."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts), 0, -1)]


class _Hits(NamedTuple):
    """The words of the query that a text holds, each with how often, and how many words it has in all."""

    counts: tuple[tuple[str, int], ...]
    total: int


@lru_cache(maxsize=256)
def _query(text: str) -> frozenset[str]:
    return frozenset(words_of(text).counts)


@lru_cache(maxsize=16_384)
def _hits(text: str, query: frozenset[str]) -> _Hits:
    """Kept, since the workers of a task ask the same of the same texts again and again."""
    words = words_of(text)
    return _Hits(tuple((word, words.counts[word]) for word in sorted(query & words.counts.keys())), words.total)


def _bm25(texts: Sequence[_Hits]) -> list[float]:
    """Return the score of each text as a share of the best one; 0 for all where none holds a word of the query."""
    holders = Counter(word for text in texts for word, _ in text.counts)
    weights = {word: math.log(1 + (len(texts) - held + 0.5) / (held + 0.5)) for word, held in holders.items()}
    mean = sum(text.total for text in texts) / max(len(texts), 1) or 1.0
    scores = []
    for counts, total in texts:
        damping = _K1 * (1 - _B + _B * total / mean)
        scores.append(math.fsum(weights[word] * times * (_K1 + 1) / (times + damping) for word, times in counts))
    best = max(scores, default=0.0) or 1.0
    return [score / best for score in scores]


@lru_cache(maxsize=4_096)
def words_of(text: str) -> Words:
    """Return the words of a text, in lower case: names as a whole and in parts."""
    counts: Counter[str] = Counter()
    for name, times in Counter(_NAME.findall(text)).items():
        if name.isascii() and name.islower() and name.isalpha():
            counts[name] += times
            continue
        for word in _parts(name):
            counts[word] += times
    return Words(counts, counts.total())


def _parts(name: str) -> set[str]:
    whole = name.lower()
    if name.isascii():
        return {whole, *(piece.lower() for piece in _PIECE.findall(name))}
    found = {whole, *(piece for piece in whole.split("_") if piece)}
    # No blanks stand between words of ideographs and kana: pairs of characters take their place.
    for piece in tuple(found):
        if max(piece) >= _FIRST_IDEOGRAPH:
            found.update(piece[at : at + 2] for at in range(len(piece) - 1))
    return found
