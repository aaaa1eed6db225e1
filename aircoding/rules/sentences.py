"""A rule text by sentences: wrapped lines joined, bullets and emphasis taken off, with what stands above each.

A heading, a lead (`In tests:`) or a parent bullet says what a sentence is about; one that introduces bad examples
(`Don't:`, a cross) makes the sentences below it no requests.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from aircoding.rules.choices import areas_in
from aircoding.rules.markdown_lines import CodeLine, read_lines, spans_of
from aircoding.rules.negation import introduces_bad

__all__ = ["SENTENCE_END", "Sentence", "first_outside_code", "is_one_statement", "refusals", "sentences_in"]

SENTENCE_END = re.compile(r"(?<=[.;!?])\s+| [\u2013\u2014] ")
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|([ \t]*)>[ \t]+")
_HEADING = re.compile(r"[ \t]*(#{1,6})[ \t]+(.*)")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_STARTS_ANEW = re.compile(
    r"(?:always|never|do not|don['\u2019]t|use|prefer|avoid|you must|must|please|we use|run|no)\b", re.IGNORECASE
)
_SAYS_MORE = re.compile(r"[,;:(]|\b(?:and|but|while|then)\b", re.IGNORECASE)
"""What joins a second statement to the first of a sentence."""
_CROSS = re.compile(r"\s*(?:[\u274c\u2717\u2718\U0001f6ab]|(?:bad|wrong|incorrect)\s*:)", re.IGNORECASE)
_CHECK = re.compile(r"^[\s\u2705\u2713\u2714\ufe0f]+(?:do\s*:\s*)?|^(?:good|correct|do)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence with the line on which it begins (from 1).

    `areas` are the languages and parts of a project that headings, leads and parent bullets name (`python`, `test`).
    """

    text: str
    line: int
    areas: frozenset[str]


@dataclass(slots=True)
class _Above:
    """What stands above a line: its depth (headings before bullets), its areas, whether it introduces bad examples."""

    depth: int
    areas: frozenset[str]
    bad: bool


_LEAD_DEPTH = 10
_BULLET_DEPTH = 11


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading, paragraph or bullet by lines, with what stands above it.

    `refused` says that it is one of what is not to be done, `refuses` that what follows it is (a fence, a table).
    """

    parts: tuple[tuple[int, str], ...]
    is_heading: bool
    areas: frozenset[str]
    refused: bool
    refuses: bool


@lru_cache(maxsize=1024)
def sentences_in(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text in order; fences, tables, headings and bad examples hold none."""
    plain = (block for block in _blocks(text) if not block.is_heading and not block.refused)
    return tuple(sentence for block in plain for sentence in _split(block.parts, block.areas))


def refusals(text: str) -> tuple[tuple[int, bool], ...]:
    """Return (line, whether it and the lines from it on stand under words that refuse them), as this changes."""
    found: list[tuple[int, bool]] = []
    for block in _blocks(text):
        found += [(block.parts[0][0], block.refused), (block.parts[-1][0] + 1, block.refuses)]
    return tuple(found)


def is_one_statement(text: str) -> bool:
    """Whether a text says one thing besides its headings: who leaves that out loses nothing else with it."""
    blocks = _blocks(text)
    said = [sentence for one in blocks if not one.is_heading for sentence in _split(one.parts, one.areas)]
    read = {number for one in blocks for number, _ in one.parts}
    more = any(line.text.strip() and line.number not in read for line in read_lines(text))
    return len(said) == 1 and not more and _SAYS_MORE.search(said[0].text) is None


@lru_cache(maxsize=1024)
def _blocks(text: str) -> tuple[_Block, ...]:
    return tuple(_read_blocks(text))


def _read_blocks(text: str) -> Iterator[_Block]:
    above: list[_Above] = []
    for depth, parts in _paragraphs(text):
        whole = _plain(" ".join(part for _, part in parts))
        while above and above[-1].depth >= depth:
            above.pop()
        areas = frozenset[str]().union(*(one.areas for one in above))
        refused = any(one.bad for one in above) or _CROSS.match(whole) is not None
        is_heading = depth < _LEAD_DEPTH
        leads = is_heading or whole.rstrip().endswith(":")
        if leads or depth > _LEAD_DEPTH:
            bad = leads and introduces_bad(SENTENCE_END.split(whole.strip())[-1])
            above.append(_Above(depth, areas_in(whole) if leads else frozenset(), bad))
        refuses = any(one.bad for one in above)
        yield _Block(tuple(parts), is_heading, areas, refuses if is_heading else refused, refuses)


def _paragraphs(text: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Yield (depth, [(line, text)]): headings 1 to 6, paragraphs 10, bullets 11 and deeper by their indent."""
    held: list[tuple[int, str]] = []
    depth = _LEAD_DEPTH
    for line in read_lines(text):
        heading = _HEADING.match(line.text) if line.fence is None and "#" in line.text else None
        bullet = _BULLET.match(line.text)
        goes_on = line.fence is None and line.text.strip() and not heading and not bullet
        if held and not (goes_on and not _is_row(line) and _STARTS_ANEW.match(line.text.strip()) is None):
            yield depth, held
            held = []
        if line.fence is not None or not line.text.strip() or _is_row(line):
            continue
        if heading:
            yield len(heading[1]), [(line.number, heading[2])]
            continue
        if not held:
            depth = _LEAD_DEPTH if bullet is None else _BULLET_DEPTH + len((bullet[1] or "").expandtabs(4))
        held.append((line.number, line.text[bullet.end() :] if bullet else line.text.strip()))
    if held:
        yield depth, held


def _is_row(line: CodeLine) -> bool:
    return line.text.lstrip().startswith("|")


def _split(parts: tuple[tuple[int, str], ...], areas: frozenset[str]) -> Iterator[Sentence]:
    whole = " ".join(part for _, part in parts) + " "
    starts, length = list[int](), 0
    for _, part in parts:
        starts.append(length)
        length += len(part) + 1
    begin = 0
    for end, following in [
        *((m.start(), m.end()) for m in _outside_code(SENTENCE_END, whole)),
        (len(whole), len(whole)),
    ]:
        raw = whole[begin:end]
        line = parts[bisect_right(starts, begin + len(raw) - len(raw.lstrip())) - 1][0]
        plain = _CHECK.sub("", _plain(raw)).strip()
        if plain:
            yield Sentence(text=plain, line=line, areas=areas)
        begin = following


def _plain(text: str) -> str:
    return _EMPHASIS.sub("", text) if "*" in text or "_" in text else text


def _outside_code(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that begin outside code spans."""
    spans = spans_of(text)
    start = end = -1
    for match in pattern.finditer(text):
        while end <= match.start():
            start, end = _next_span(spans)
        if match.start() < start:
            yield match


def first_outside_code(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the first match that begins outside code spans."""
    match = pattern.search(text)
    if match is None or "`" not in text[: match.start()]:
        return match  # mostly so, and then nobody asks where the code is
    return next(_outside_code(pattern, text), None)


def _next_span(spans: Iterator[tuple[int, str]]) -> tuple[int, int]:
    place, span = next(spans, (sys.maxsize, ""))
    return place, place + len(span) + 2
