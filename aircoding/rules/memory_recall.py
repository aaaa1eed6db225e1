"""Recall by topic: what a request is about, which entries of memory speak of that, and in which order they count.

Words are compared as everywhere (`rules.word_match`), without those that stand in every request. Nothing here reads a
disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aircoding.rules.front_matter import parse_front_matter
from aircoding.rules.markdown_lines import read_lines
from aircoding.rules.sections import split_sections
from aircoding.rules.word_match import hits_of, scores_of, words_of

__all__ = ["Recalled", "TopicEntry", "recall", "request_topics", "topic_entries"]

_STOP_WORDS = frozenset(
    """
    a about above after again all also always an and any are as at be because been before below between both but by can
    could did do does doing done down during each either else even every few for from further get give had has have how
    i if in instead into is it its just keep let like made may me more most much must my need never new no none not now
    of off on once one only onto or other our out over own per put same see set shall should since so some still such
    than that the their them then there these they this those through thus to too two under until up upon us use used
    uses using very via want was we were what when where which while who why will with within without would yet you your
    add adds added adding change changed changes changing check code create created file files fix fixed fixes folder
    implement improve line lines make makes remove removed rename run runs support task tasks test tested tests update
    work works write
    cfg css doc docs go html ini java js json jsx lib main md mjs package packages py rb rs sh sql src toml ts tsx txt
    xml yaml yml
    """.split()
)
"""What stands in requests of every kind, and the parts of paths that say nothing of the matter."""
_WIDE_MATCH = 2
"""A text matches when it holds so many different topics; a title, when it holds one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicEntry:
    """One section or paragraph of a topic file; lines count in the file (from 1)."""

    name: str
    title: str
    text: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What recall says of one entry: the topics that it shares (none: it does not match), and 0 to 1 how much."""

    topics: tuple[str, ...]
    score: float


def request_topics(*, title: str, description: str, tags: Iterable[str], paths: Iterable[str]) -> frozenset[str]:
    """Return the topics of a request: its words and names, and those of the paths that it is about."""
    return _topics("\n".join((title, description, *tags, *paths)))


def _topics(text: str) -> frozenset[str]:
    words = words_of(text).counts
    return frozenset(word for word in words if word not in _STOP_WORDS and not word.isdigit() and _says(word))


def _says(word: str) -> bool:
    """Whether a word is more than a letter; one ideograph is a word."""
    return len(word) > 1 or not word.isascii()


def topic_entries(text: str, name: str) -> tuple[TopicEntry, ...]:
    """Return the entries of a topic file: its `##` sections, and the paragraphs of what stands before them.

    A header that can be read is no entry. Never raises.
    """
    header = parse_front_matter(text, name)
    body, first = (text, 1) if header.broken else (header.body, header.body_start_line)
    entries: list[TopicEntry] = []
    for section in split_sections(body):
        start = first - 1 + section.start_line
        if section.title:
            end = first - 1 + section.end_line
            entries.append(_entry(section.slug, section.title, section.text, start, end))
            continue
        entries += _paragraphs(section.text, start)
    return tuple(entries)


def _paragraphs(text: str, first: int) -> list[TopicEntry]:
    """Split at blank lines outside fences."""
    found: list[TopicEntry] = []
    held: list[tuple[int, str]] = []
    for line in (*read_lines(text), None):
        if line is not None and (line.text.strip() or (held and line.fence is not None)):
            held.append((line.number, line.text))
        elif held:
            numbers = [number for number, _ in held]
            shown = "\n".join(one for _, one in held)
            found.append(_entry(f"_{len(found) + 1}", "", shown, first - 1 + numbers[0], first - 1 + numbers[-1]))
            held = []
    return found


def _entry(name: str, title: str, text: str, start_line: int, end_line: int) -> TopicEntry:
    return TopicEntry(name=name, title=title, text=text, start_line=start_line, end_line=end_line)


def recall(topics: frozenset[str], entries: Sequence[tuple[str, str]], *, wide: bool = True) -> list[Recalled]:
    """Say of each entry, given as (title, text), which topics it shares and how much it says of them, in order.

    With `wide` an entry matches by one topic in its title, else by two in its text (by one where the request has no
    more); without, by one topic anywhere.
    """
    hits = [hits_of(f"{title}\n{text}", topics) for title, text in entries]
    scores = scores_of(hits)
    needed = min(_WIDE_MATCH, len(topics)) if wide else 1
    return [
        Recalled(topics=tuple(word for word, _ in hit.counts), score=round(score, 9))
        if hit.counts and (len(hit.counts) >= needed or _topics(title) & topics)
        else Recalled(topics=(), score=0.0)
        for (title, _), hit, score in zip(entries, hits, scores, strict=True)
    ]
