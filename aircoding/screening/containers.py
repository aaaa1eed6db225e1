"""Where a rendered page hides text: comments, elements and attributes that no reader sees, far-off columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from aircoding.screening.automata import regex_set
from aircoding.screening.hidden_styles import hides

__all__ = ["Hidden", "fenced_ranges", "hidden_texts", "is_within"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A text that a page hides, by places in the text around it; `body` is its own part without the container."""

    code: str
    start: int
    end: int
    body: str
    detail: str


_TAG = re.compile(r"<(?:(?P<comment>!--)|(?P<name>[A-Za-z][A-Za-z0-9-]{0,30})(?P<attributes>(?:\s[^<>]{0,2000})?)/?>)")
_VALUE = re.compile(
    r"""\b(?P<name>alt|title|aria-[a-z]{1,20}|data-[a-z-]{1,30}|content|longdesc|value|summary|label|placeholder)\s*=\s*"""
    r"""(?:"(?P<double>[^"]{12,})"|'(?P<single>[^']{12,})')""",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[(?P<body>[^\[\]]{12,4000})\]\(")
_LINK_TITLE = re.compile(r"\]\([^()\s]{0,400}\s+(?:\"(?P<double>[^\"]{12,4000})\"|'(?P<single>[^']{12,4000})')\)")
_DEFINITION = re.compile(
    r"^[ ]{0,3}\[(?!\^)[^\]\n]{1,100}\]:[ \t]*(?:\S+|<[^>\n]*>)[ \t]*\n?[ \t]*(?P<open>[\"'(])", re.MULTILINE
)
_LABEL = re.compile(r"^[ ]{0,3}\[(?!\^)(?P<body>[^\]\n]{25,1000})\]:[ \t]*\S", re.MULTILINE)
_SOURCE_COMMENTS = (
    ("{/*", "*/}"),
    ("{#", "#}"),
    ("{{!--", "--}}"),
    ("<%#", "%>"),
    ("{% comment %}", "{% endcomment %}"),
)
_FAR_RIGHT = re.compile(r"(?<![ \t])[ \t]{80,}+(?P<body>\S[^\n]*)")
_FAR_DOWN = re.compile(r"(?:(?<=\S)|\A)(?:[ \t]*+\r?\n){40,}+(?P<body>[ \t]*+\S[^\n]*(?:\n[^\n]+){0,30})")
_COMMENT_END = re.compile(r"--!?>")
_FENCE = re.compile(r"^[ ]{0,3}(?:[-*+>][ ]+|\d+\.[ ]+)?[ ]*(?P<mark>`{3,}|~{3,})", re.MULTILINE)
_CLOSERS = {'"': '"', "'": "'", "(": ")"}


def hidden_texts(text: str) -> Iterator[Hidden]:
    """Yield what a rendered page would not show of a text, in no order; time is linear in its length."""
    for look in _looks()(text.encode("utf-8", "replace")):
        yield from _LOOKS[look][1](text)


def _comments(text: str) -> Iterator[Hidden]:
    for opening, closing in _SOURCE_COMMENTS:
        yield from _between(text, opening, closing)


def _far_right(text: str) -> Iterator[Hidden]:
    for match in _FAR_RIGHT.finditer(text):
        yield Hidden("hidden.far_right", *match.span("body"), match["body"], "a text far to the right")


def _far_down(text: str) -> Iterator[Hidden]:
    for match in _FAR_DOWN.finditer(text):
        yield Hidden("hidden.far_down", *match.span("body"), match["body"], "a text below many empty lines")


def _elements(text: str) -> Iterator[Hidden]:
    """Comments, hidden elements and attributes; what is hidden within what is hidden is a part of it."""
    done = 0
    unclosed: set[str] = set()
    while match := _TAG.search(text, done):
        done = match.end()
        if match["comment"]:
            start, stop, done = _comment(text, match.start())
            yield Hidden("hidden.comment", match.start(), done, text[start:stop], "a comment that instructs")
            continue
        name, attributes = match["name"].lower(), match["attributes"]
        if attributes:
            yield from _values(match, attributes)
        if name in unclosed or text[done - 2] == "/" or not hides(name, attributes, text, done):
            continue
        end = _closing(text, name, done)
        if end < 0:
            unclosed.add(name)
            if not attributes.strip():  # a placeholder such as `<name>`, not an element
                continue
            end = len(text)
        done = end
        yield Hidden(
            "hidden.element", match.start(), end, _TAG.sub(" ", text[match.end() : end]), f"text hidden in <{name}>"
        )


def _comment(text: str, start: int) -> tuple[int, int, int]:
    """Return where the body of a comment begins and ends, and where the comment ends; unclosed it takes all."""
    end = _COMMENT_END.search(text, start + 2)
    stop, after = (len(text), len(text)) if end is None else end.span()
    return start + 4, max(stop, start + 4), max(after, start + 4)


def _closing(text: str, name: str, start: int) -> int:
    found = re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE).search(text, start)
    return -1 if found is None else found.end()


def _values(tag: re.Match[str], attributes: str) -> Iterator[Hidden]:
    offset = tag.start("attributes")
    for match in _VALUE.finditer(attributes):
        body = match["double"] or match["single"]
        start, end = match.span("double" if match["double"] else "single")
        detail = f"an instruction in the attribute `{match['name'].lower()}`"
        yield Hidden("hidden.attribute", offset + start, offset + end, body, detail)


def _between(text: str, opening: str, closing: str) -> Iterator[Hidden]:
    place = text.find(opening)
    while place >= 0:
        end = text.find(closing, place + len(opening))
        if end < 0:
            return
        stop = end + len(closing)
        yield Hidden("hidden.comment", place, stop, text[place + len(opening) : end], "a comment that instructs")
        place = text.find(opening, stop)


def _image_texts(text: str) -> Iterator[Hidden]:
    for match in _IMAGE.finditer(text):
        yield Hidden("hidden.attribute", *match.span("body"), match["body"], "an instruction in the text of an image")


def _link_titles(text: str) -> Iterator[Hidden]:
    for match in _LINK_TITLE.finditer(text):
        group = "double" if match["double"] else "single"
        yield Hidden("hidden.attribute", *match.span(group), match[group], "an instruction in the title of a link")


def _definitions(text: str) -> Iterator[Hidden]:
    ends: dict[str, int] = {}
    for match in _DEFINITION.finditer(text):
        start, closer = match.end(), _CLOSERS[match["open"]]
        if ends.get(closer, -1) < start:
            found = re.compile(re.escape(closer) + r"[ \t]*(?:\n|\Z)").search(text, start)
            ends[closer] = len(text) if found is None else found.start()
        detail = "an instruction in the definition of a link"
        yield Hidden("hidden.definition", match.start(), ends[closer], text[start : ends[closer]], detail)
    for match in _LABEL.finditer(text):
        yield Hidden("hidden.definition", *match.span("body"), match["body"], "an instruction in the name of a link")


_HIDING_TAG = (
    "(?i:<!--|<(?:template|noscript|noframes|datalist|dialog|metadata|title|desc|object|canvas|audio|video|noembed|"
    r"details|font)\b|<[a-z][^<>]*\s(?:style|class|classname|hidden|aria-[a-z]+|data-[a-z-]+|inert|type|color|size|alt|"
    r"title|content|longdesc|value|summary|label|placeholder|width|height|opacity|fill-opacity|font-size)\b)"
)
_LOOKS: tuple[tuple[str, Callable[[str], Iterator[Hidden]]], ...] = (
    (_HIDING_TAG, _elements),
    (r"\{/\*|\{#|\{\{!--|<%#|\{% comment", _comments),
    (r"!\[[^\[\]]{12}", _image_texts),
    (r"\]\([^()\s]*\s+[\"']", _link_titles),
    (r"(?m:^[ ]{0,3}\[[^\]\n]*\]:[ \t]*\S)", _definitions),
    (r"[ \t]{80}", _far_right),
    (r"(?:\n[ \t\r]*){40}", _far_down),
)
"""How a text looks that may hide something in one way, and what finds it there."""


@lru_cache(maxsize=1)
def _looks() -> Callable[[bytes], list[int]]:
    return regex_set([pattern for pattern, _ in _LOOKS])


def fenced_ranges(text: str) -> list[tuple[int, int]]:
    """Return the fenced code blocks of a Markdown text: what stands there is shown, whatever it looks like."""
    ranges: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        mark = match["mark"]
        if opened is None:
            opened = (match.start(), mark)
        elif mark[0] == opened[1][0] and len(mark) >= len(opened[1]):
            ranges.append((opened[0], match.end()))
            opened = None
    return ranges


def is_within(ranges: list[tuple[int, int]], place: int) -> bool:
    """Whether a place lies in one of some ranges that stand in order and do not meet."""
    before = bisect_right(ranges, place, key=lambda one: one[0]) - 1
    return before >= 0 and place < ranges[before][1]
