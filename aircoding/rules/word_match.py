"""How much texts say of what is asked for: words and names that both carry, weighed against each other.

The words are weighed by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009):
a word that few of the candidates hold counts more, its repetition counts less and less, a long text gets no credit for
its length. A name counts as a whole and in its parts, so `parse_header`, `parseHeader` and "parse the header" meet. No
word is stemmed: what the order says must be the same in every release of every library.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Hits", "Words", "hits_of", "scores_of", "words_of"]

_K1 = 1.2
"""How soon repetition stops to count; the value of Lucene and of most systems since."""
_B = 0.75
"""How far the length of a text is held against it: 0 not at all, 1 in full; the usual value."""

_NAME = re.compile(r"\w+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_FIRST_IDEOGRAPH = "\u2e80"


class Words(NamedTuple):
    """The words of a text: how often each stands in it, and how many there are in all."""

    counts: Mapping[str, int]
    total: int


class Hits(NamedTuple):
    """The words of the query that a text holds, each with how often, and how many words it has in all."""

    counts: tuple[tuple[str, int], ...]
    total: int


@lru_cache(maxsize=16_384)
def hits_of(text: str, query: frozenset[str]) -> Hits:
    """Kept, since the workers of a task ask the same of the same texts again and again."""
    words = words_of(text)
    return Hits(tuple((word, words.counts[word]) for word in sorted(query & words.counts.keys())), words.total)


def scores_of(texts: Sequence[Hits]) -> list[float]:
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
