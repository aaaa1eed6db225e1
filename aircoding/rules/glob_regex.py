"""Segments as regular expressions that never backtrack over what is settled.

For a star, the first place where the text behind it fits is as good as any later one; so all but the last such choice
in a segment, and among `**` in a path, are atomic groups. Matching costs at most the length of the path times that of
the pattern, whatever both hold.
"""

from __future__ import annotations

import re

from aircoding.rules.glob_syntax import ANY, DOUBLE, STAR, CharClass, Segment, Token

__all__ = ["segments_regex"]

_NAME = "[^/]+"
_FOLDERS = "(?:[^/]++/)*"


def segments_regex(segments: tuple[Segment, ...]) -> str:
    """Return a regular expression that matches the whole of a path (to be used with `re.match`)."""
    chunks: list[list[str]] = [[]]
    for segment in segments:
        if segment is DOUBLE:
            chunks.append([])
        else:
            chunks[-1].append(_segment(segment))
    first, rest = chunks[0], chunks[1:]
    if not rest:
        return "/".join(first) + r"\Z"
    regex = "".join(f"{one}/" for one in first)
    for chunk in rest[:-1]:
        regex += f"(?>{_FOLDERS}?" + "".join(f"{one}/" for one in chunk) + ")"
    last = rest[-1]
    return regex + (rf"{_FOLDERS}{_NAME}\Z" if not last else _FOLDERS + "/".join(last) + r"\Z")


def _segment(segment: Segment) -> str:
    pieces: list[list[str]] = [[]]
    for token in segment:
        if token is STAR:
            pieces.append([])
        else:
            pieces[-1].append(_token(token))
    first, *rest = ["".join(piece) for piece in pieces]
    if not rest:
        return first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1])
    # A name is never empty; a lone star would take one for a match.
    return f"(?=[^/])(?>{first}{middle}[^/]*{rest[-1]}(?=/|\\Z))"


def _token(token: Token) -> str:
    if isinstance(token, str):
        return re.escape(token)
    if token is ANY:
        return "[^/]"
    if isinstance(token, CharClass):
        inside = "".join(re.escape(low) + "-" + re.escape(high) for low, high in token.ranges)
        return f"(?!/)[{'^' if token.negated else ''}{inside}]"
    raise AssertionError(token)
