"""Whether two globs have a path in common, and by what literal parts that can be ruled out quickly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from aircoding.rules.glob_syntax import ANY, DOUBLE, STAR, CharClass, Segment, Token

__all__ = ["Outline", "could_meet", "outline_of", "segments_meet"]


T = TypeVar("T")


class Outline(NamedTuple):
    """What a pattern says literally: its first folders, and how its last name begins and ends.

    `name` is the whole last name where it has no wildcards.
    """

    folders: tuple[str, ...]
    name: str | None
    prefix: str
    suffix: str


def outline_of(segments: tuple[Segment, ...]) -> Outline:
    """Return the outline of a pattern."""
    folders: list[str] = []
    for segment in segments[:-1]:
        text = _literal_start(segment)
        if len(text) < len(segment):
            break
        folders.append(text)
    last = segments[-1]
    prefix, suffix = _literal_start(last), _literal_start(last[::-1])[::-1]
    return Outline(tuple(folders), prefix if len(prefix) == len(last) else None, prefix, suffix)


def could_meet(left: Outline, right: Outline) -> bool:
    """Whether two last names could be the same; False is certain, True is not."""
    return (left.prefix.startswith(right.prefix) or right.prefix.startswith(left.prefix)) and (
        left.suffix.endswith(right.suffix) or right.suffix.endswith(left.suffix)
    )


def _literal_start(segment: Segment) -> str:
    text = ""
    for token in segment:
        if not isinstance(token, str):
            break
        text += token
    return text


def segments_meet(left: tuple[Segment, ...], right: tuple[Segment, ...]) -> bool:
    """Whether some path matches both; never False when one does."""
    return _meet(_folders(left), _folders(right), lambda one: one is DOUBLE, _names_meet)


def _folders(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """A `**` at the end stands for at least one name: write that as `*/**`, `**` then standing for none or more."""
    return (*segments[:-1], (STAR,), DOUBLE) if segments[-1] is DOUBLE else segments


def _names_meet(left: Segment, right: Segment) -> bool:
    return bool(left and right) and _meet(left, right, lambda one: one is STAR, _tokens_meet)


def _meet(left: Sequence[T], right: Sequence[T], many: Callable[[T], bool], pair: Callable[[T, T], bool]) -> bool:
    """Whether two sequences, in which what `many` says stands for any number of things, have one in common.

    `row[j]` says so of `left` from the present place on and `right` from `j` on; it is filled from the
    end, which costs the product of the lengths.
    """
    end = len(right)
    below = [all(many(one) for one in right[j:]) for j in range(end + 1)]
    for here in reversed(left):
        row = [False] * end + [many(here) and below[end]]
        for j in range(end - 1, -1, -1):
            if many(here) or many(right[j]):
                row[j] = below[j] or row[j + 1]
            else:
                row[j] = below[j + 1] and pair(here, right[j])
        below = row
    return below[0]


def _tokens_meet(left: Token, right: Token) -> bool:
    if isinstance(left, str):
        return left == right if isinstance(right, str) else _holds(right, left)
    if isinstance(right, str):
        return _holds(left, right)
    if isinstance(left, CharClass) and isinstance(right, CharClass) and not (left.negated or right.negated):
        return any(max(a, c) <= min(b, d) for a, b in left.ranges for c, d in right.ranges)
    return True


def _holds(token: Token, char: str) -> bool:
    return token is ANY or (isinstance(token, CharClass) and token.holds(char))
