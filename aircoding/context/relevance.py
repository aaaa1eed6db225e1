"""How much a text is about the task: paths that meet, names and words that both carry (`rules.word_match`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from aircoding.records.segments import Segment
from aircoding.records.tasks import TaskSpec
from aircoding.rules.globs import Dialect, compile_globs
from aircoding.rules.word_match import hits_of, scores_of, words_of

__all__ = ["NEUTRAL", "relevance"]

NEUTRAL = 0.5
"""The relevance of everything where there is no task to ask about."""

_WILD = frozenset("*?[{")


def relevance(segments: Sequence[Segment], task: TaskSpec | None, touched_paths: Sequence[str]) -> list[float]:
    """Return 0 to 1 for each segment, in order.

    Half of it is the place: 1 where the segment's path is one that the task names, writes or has touched, or where the
    task names all of its `relevance_terms`; less the further away its folder is. The other half is the text, measured
    against the best match among `segments`. The time is linear in the texts, and each text is taken apart only once.
    """
    if task is None:
        return [NEUTRAL] * len(segments)
    named = (*task.write_area, *task.reads)
    query = _query("\n".join((task.title, task.description, *task.acceptance, *task.tags, *named)))
    texts = scores_of([hits_of(segment.text, query) for segment in segments])
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


@lru_cache(maxsize=256)
def _query(text: str) -> frozenset[str]:
    return frozenset(words_of(text).counts)
