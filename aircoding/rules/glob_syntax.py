"""How a glob is read: braces, folders, wildcards, character classes.

A pattern becomes a tuple of segments, one for each folder and the last for the file name; a segment is a tuple of
tokens, or `DOUBLE` (`**`), which stands for any number of folders, at the end of a pattern for at least one name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

__all__ = ["ANY", "DOUBLE", "MAX_EXPANSIONS", "STAR", "CharClass", "Segment", "Token", "expand", "parse_segments"]

MAX_EXPANSIONS = 1000
"""Most patterns that the braces of one list may expand to (Claude Code memory documentation, read 2026-08)."""


@dataclass(frozen=True, slots=True)
class CharClass:
    """A character class: `[a-z]`, `[!x]`. It never holds `/`."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, char: str) -> bool:
        """Whether a character is in the class."""
        return any(low <= char <= high for low, high in self.ranges) is not self.negated


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`*`, `?` or `**`; compared by identity through the constants below."""

    text: str


STAR, ANY = Wildcard("*"), Wildcard("?")
Token: TypeAlias = "str | CharClass | Wildcard"  # noqa: S105 - a token of a glob
"""A literal character, a class, or STAR or ANY."""
Segment: TypeAlias = "tuple[Token, ...]"
DOUBLE: Segment = (Wildcard("**"),)


@lru_cache(maxsize=16_384)
def expand(pattern: str) -> tuple[str, ...]:
    r"""Return the patterns that the braces stand for; none when there are more than MAX_EXPANSIONS.

    Raises:
        ValueError: braces are not closed. Braces without a comma, and those behind `\`, are literal.
    """
    done: list[str] = []
    todo = [(pattern, 0)]
    while todo:
        current, start = todo.pop()
        found = _first_braces(current, start)
        if found is None:
            done.append(current)
        else:
            opening, commas, closing = found
            cuts = [opening, *commas, closing]
            options = [current[left + 1 : right] for left, right in pairwise(cuts)]
            todo.extend((current[:opening] + option + current[closing + 1 :], opening) for option in reversed(options))
        if len(done) + len(todo) > MAX_EXPANSIONS:
            return ()
    return tuple(done)


def _first_braces(pattern: str, start: int) -> tuple[int, list[int], int] | None:
    """Return the first outermost braces with a comma, from `start` on: where they open, their commas, their end."""
    opening, depth, commas = -1, 0, list[int]()
    place = start
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            place += 1
        elif char == "[":
            place = _class_end(pattern, place) or place
        elif char == "{":
            if depth == 0:
                opening, commas = place, []
            depth += 1
        elif char == "}" and depth > 0:
            depth -= 1
            if depth == 0 and commas:
                return opening, commas, place
        elif char == "," and depth == 1:
            commas.append(place)
        place += 1
    if depth > 0:
        raise ValueError("a `{` has no `}`")
    return None


def _class_end(pattern: str, start: int) -> int | None:
    """Return where the class that opens at `start` ends, within its folder; None when it does not."""
    place = start + 1
    if place < len(pattern) and pattern[place] in "!^":
        place += 1
    first = place
    while place < len(pattern) and pattern[place] != "/":
        if pattern[place] == "]" and place > first:
            return place
        place += 2 if pattern[place] == "\\" else 1
    return None


@lru_cache(maxsize=16_384)
def parse_segments(pattern: str) -> tuple[Segment, ...]:
    r"""Return a pattern without braces as segments; repeats of `**` count once.

    Raises:
        ValueError: a class is not closed or cannot be read, or a `\` stands at the end.
    """
    segments: list[Segment] = []
    for part in pattern.split("/"):
        # Git takes any run of two or more stars between slashes for two.
        segment = DOUBLE if len(part) >= 2 and not part.strip("*") else _parse_segment(part)
        if segment is not DOUBLE or not segments or segments[-1] is not DOUBLE:
            segments.append(segment)
    return tuple(segments)


def _parse_segment(part: str) -> Segment:
    tokens: list[Token] = []
    place = 0
    while place < len(part):
        char = part[place]
        if char == "*":
            if not tokens or tokens[-1] is not STAR:
                tokens.append(STAR)
        elif char == "?":
            tokens.append(ANY)
        elif char == "[":
            end = _class_end(part, place)
            if end is None:
                raise ValueError("a `[` has no `]`")
            tokens.append(_parse_class(part[place + 1 : end]))
            place = end
        elif char == "\\":
            place += 1
            if place >= len(part):
                raise ValueError("a `\\` stands before nothing")
            tokens.append(part[place])
        else:
            tokens.append(char)
        place += 1
    return tuple(tokens)


def _parse_class(inside: str) -> CharClass:
    negated = inside[0] in "!^"
    chars: list[tuple[str, bool]] = []
    place = int(negated)
    while place < len(inside):
        if inside.startswith(("[:", "[.", "[="), place):
            raise ValueError("named classes such as `[:alpha:]` are not read")
        escaped = inside[place] == "\\"
        place += escaped
        chars.append((inside[place : place + 1], escaped))
        place += 1
    ranges: list[tuple[str, str]] = []
    place = 0
    while place < len(chars):
        low = high = chars[place][0]
        if place + 2 < len(chars) and chars[place + 1] == ("-", False):
            high = chars[place + 2][0]
            place += 2
        if low > high:
            raise ValueError(f"the range `{low}-{high}` runs backwards")
        ranges.append((low, high))
        place += 1
    return CharClass(tuple(ranges), negated)
