"""Globs over project paths, in the two dialects that users write, with matching in linear time.

`ROOT_ANCHORED` is the dialect of `paths` in rule files and of write areas: a pattern is anchored at the project root,
`*` and `?` do not cross `/`, `**` does, braces expand, dot files match. `GITIGNORE` is that of permission paths: a
pattern without a slash matches at any depth, one that names a folder matches all below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import pathspec

__all__ = [
    "MAX_EXPANSIONS",
    "Dialect",
    "Matcher",
    "compile_globs",
    "glob_fault",
    "glob_faults",
    "overlap",
    "split_globs",
]

MAX_EXPANSIONS = 1000
"""Most patterns that the braces of one list may expand to (Claude Code memory documentation, read 2026-08)."""

_MAX_PATTERN = 4096


class Dialect(Enum):
    """How a glob is read."""

    ROOT_ANCHORED = "root_anchored"
    GITIGNORE = "gitignore"


@dataclass(frozen=True, slots=True)
class _Class:
    """A character class: `[a-z]`, `[!x]`."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) is not self.negated


_STAR, _ANY = "*", "?"
_Token = tuple[str, str] | _Class
_Segment = tuple[_Token, ...]
_DOUBLE: _Segment = (("**", ""),)


class Matcher:
    """A compiled list of globs; a pattern that cannot be read matches nothing (see `glob_fault`)."""

    def __init__(self, patterns: Sequence[str], dialect: Dialect) -> None:
        self._dialect = dialect
        good = [pattern for pattern in patterns if glob_fault(pattern, dialect) is None]
        if dialect is Dialect.GITIGNORE:
            self._spec = pathspec.GitIgnoreSpec.from_lines(good)
            self._globs: tuple[tuple[_Segment, ...], ...] = ()
        else:
            self._spec = pathspec.GitIgnoreSpec([])
            self._globs = tuple(_parse(one) for pattern in good for one in _expand(pattern))

    def matches(self, path: str) -> bool:
        """Whether a path (POSIX separators; relative, or absolute for GITIGNORE) matches any of the globs."""
        if self._dialect is Dialect.GITIGNORE:
            return self._spec.match_file(path.lstrip("/"))
        parts = tuple(path.strip("/").split("/"))
        return any(_match_path(glob, parts) for glob in self._globs)


@lru_cache(maxsize=4096)
def _compiled(patterns: tuple[str, ...], dialect: Dialect) -> Matcher:
    return Matcher(patterns, dialect)


def compile_globs(patterns: Iterable[str], dialect: Dialect) -> Matcher:
    """Return a matcher for a list of globs; the same list gives the same matcher."""
    return _compiled(tuple(patterns), dialect)


def split_globs(text: str) -> tuple[str, ...]:
    """Split a comma-separated list of globs; a comma inside braces or a class does not split."""
    parts: list[str] = []
    depth, start, in_class = 0, 0, False
    for place, char in enumerate(text):
        if char == "[":
            in_class = True
        elif char == "]":
            in_class = False
        elif char == "{" and not in_class:
            depth += 1
        elif char == "}" and not in_class:
            depth = max(0, depth - 1)
        elif char == "," and depth == 0 and not in_class:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return tuple(part.strip() for part in parts if part.strip())


def glob_fault(pattern: str, dialect: Dialect) -> str | None:
    """Return what is wrong with a glob, or None when it can be read."""
    if not pattern.strip():
        return "it is empty"
    if len(pattern) > _MAX_PATTERN:
        return f"it is longer than {_MAX_PATTERN} characters"
    if pattern.startswith("!"):
        return "a leading `!` is not a negation here"
    if "\0" in pattern or "\n" in pattern:
        return "it holds a line break or a zero byte"
    if dialect is Dialect.GITIGNORE:
        try:
            pathspec.GitIgnoreSpec.from_lines([pattern])
        except ValueError as error:
            return str(error)
        return None
    expanded = _expand(pattern)
    if not expanded:
        return f"its braces expand to more than {MAX_EXPANSIONS} patterns"
    try:
        for one in expanded:
            _parse(one)
    except ValueError as error:
        return str(error)
    return None


def glob_faults(patterns: Sequence[str], dialect: Dialect) -> tuple[str | None, ...]:
    """Return for each glob of a list what is wrong with it; the list shares one budget of expansions."""
    return tuple(glob_fault(pattern, dialect) for pattern in patterns)


def overlap(left: str, right: str) -> bool:
    """Whether some path could match both globs (ROOT_ANCHORED). A glob that cannot be read may match anything."""
    if glob_fault(left, Dialect.ROOT_ANCHORED) or glob_fault(right, Dialect.ROOT_ANCHORED):
        return True
    return _overlap(left, right) if left <= right else _overlap(right, left)


@lru_cache(maxsize=65_536)
def _overlap(left: str, right: str) -> bool:
    return any(_paths_meet(_parse(a), _parse(b)) for a in _expand(left) for b in _expand(right))


@lru_cache(maxsize=16_384)
def literal_parts(pattern: str) -> tuple[tuple[tuple[str, ...], str | None], ...]:
    """Return for each pattern that a glob expands to the folders it names literally, and its literal file name.

    The name is None where it has wildcards. Only globs of which one's folders begin the other's, and
    whose names are the same or not literal, can have a path in common (ROOT_ANCHORED). A glob that
    cannot be read counts as one that may match anything.
    """
    if glob_fault(pattern, Dialect.ROOT_ANCHORED):
        return (((), None),)
    return tuple(_literal_part(_parse(one)) for one in _expand(pattern))


def _literal_part(segments: tuple[_Segment, ...]) -> tuple[tuple[str, ...], str | None]:
    folders: list[str] = []
    for segment in segments[:-1]:
        text = _literal(segment)
        if text is None:
            break
        folders.append(text)
    return tuple(folders), _literal(segments[-1])


def _literal(segment: _Segment) -> str | None:
    if any(isinstance(token, _Class) or token[0] != "literal" for token in segment):
        return None
    return "".join(token[1] for token in segment if not isinstance(token, _Class))


@lru_cache(maxsize=8192)
def _expand(pattern: str) -> tuple[str, ...]:
    """Return the patterns that the braces stand for; none when there are too many."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        current = todo.pop()
        inner = _first_braces(current)
        if inner is None:
            done.append(current)
        else:
            start, end = inner
            options = split_globs_keep_empty(current[start + 1 : end])
            todo.extend(current[:start] + option + current[end + 1 :] for option in reversed(options))
        if len(done) + len(todo) > MAX_EXPANSIONS:
            return ()
    return tuple(done)


def split_globs_keep_empty(text: str) -> list[str]:
    """Split the inside of braces at its own commas; `{,x}` has an empty option."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return parts


def _first_braces(pattern: str) -> tuple[int, int] | None:
    """Return the first balanced outermost braces that hold a comma; others are literal."""
    start = pattern.find("{")
    while start >= 0:
        depth = 0
        for place in range(start, len(pattern)):
            depth += {"{": 1, "}": -1}.get(pattern[place], 0)
            if depth == 0:
                if "," in pattern[start:place]:
                    return start, place
                break
        start = pattern.find("{", start + 1)
    return None


@lru_cache(maxsize=16_384)
def _parse(pattern: str) -> tuple[_Segment, ...]:
    """Return a pattern as segments of tokens; `**` alone in a segment crosses folders.

    Raises:
        ValueError: a class is not closed.
    """
    path = pattern.removeprefix("./").lstrip("/")
    if path.endswith("/"):
        path += "**"
    segments: list[_Segment] = []
    for part in path.split("/"):
        segment = _DOUBLE if part == "**" else _parse_segment(part)
        if segment is not _DOUBLE or not segments or segments[-1] is not _DOUBLE:
            segments.append(segment)
    return tuple(segments)


def _parse_segment(part: str) -> _Segment:
    tokens: list[_Token] = []
    place = 0
    while place < len(part):
        char = part[place]
        if char == "*":
            if not tokens or tokens[-1] != (_STAR, ""):
                tokens.append((_STAR, ""))
        elif char == "?":
            tokens.append((_ANY, ""))
        elif char == "[":
            token, place = _parse_class(part, place)
            tokens.append(token)
        elif char == "\\" and place + 1 < len(part):
            place += 1
            tokens.append(("literal", part[place]))
        else:
            tokens.append(("literal", char))
        place += 1
    return tuple(tokens)


def _parse_class(part: str, start: int) -> tuple[_Class, int]:
    place = start + 1
    negated = place < len(part) and part[place] in "!^"
    place += negated
    first = place
    ranges: list[tuple[str, str]] = []
    while place < len(part) and (part[place] != "]" or place == first):
        low = part[place]
        if place + 2 < len(part) and part[place + 1] == "-" and part[place + 2] != "]":
            ranges.append((low, part[place + 2]))
            place += 3
        else:
            ranges.append((low, low))
            place += 1
    if place >= len(part):
        raise ValueError("a `[` has no `]`")
    return _Class(tuple(ranges), negated), place


def _holds(token: _Token, char: str) -> bool:
    if isinstance(token, _Class):
        return token.holds(char)
    return token[0] == _ANY or token[1] == char


def _match_segment(tokens: _Segment, text: str) -> bool:
    """Match with one step back to the latest star: never more than tokens times characters."""
    token, place, star, retry = 0, 0, -1, 0
    while place < len(text):
        if token < len(tokens) and tokens[token] == (_STAR, ""):
            star, retry = token, place
            token += 1
        elif token < len(tokens) and _holds(tokens[token], text[place]):
            token += 1
            place += 1
        elif star >= 0:
            retry += 1
            token, place = star + 1, retry
        else:
            return False
    return all(rest == (_STAR, "") for rest in tokens[token:])


def _match_path(glob: tuple[_Segment, ...], parts: tuple[str, ...]) -> bool:
    """The same over path segments, with `**` for the star."""
    segment, place, star, retry = 0, 0, -1, 0
    while place < len(parts):
        if segment < len(glob) and glob[segment] is _DOUBLE:
            star, retry = segment, place
            segment += 1
        elif segment < len(glob) and _match_segment(glob[segment], parts[place]):
            segment += 1
            place += 1
        elif star >= 0:
            retry += 1
            segment, place = star + 1, retry
        else:
            return False
    return segment == len(glob) or (segment == len(glob) - 1 and glob[segment] is _DOUBLE and segment > 0)


def _paths_meet(left: tuple[_Segment, ...], right: tuple[_Segment, ...]) -> bool:
    """Whether two segment lists have a path in common, by dynamic programming from the end."""
    meets = {(len(left), len(right)): True}
    for i in range(len(left), -1, -1):
        for j in range(len(right), -1, -1):
            if (i, j) in meets:
                continue
            if i < len(left) and left[i] is _DOUBLE:
                met = meets[i + 1, j] or (j < len(right) and meets[i, j + 1])
            elif j < len(right) and right[j] is _DOUBLE:
                met = meets[i, j + 1] or (i < len(left) and meets[i + 1, j])
            else:
                met = i < len(left) and j < len(right) and meets[i + 1, j + 1] and _segments_meet(left[i], right[j])
            meets[i, j] = met
    return meets[0, 0]


def _segments_meet(left: _Segment, right: _Segment) -> bool:
    meets = {(len(left), len(right)): True}
    for i in range(len(left), -1, -1):
        for j in range(len(right), -1, -1):
            if (i, j) in meets:
                continue
            if i < len(left) and left[i] == (_STAR, ""):
                met = meets[i + 1, j] or (j < len(right) and meets[i, j + 1])
            elif j < len(right) and right[j] == (_STAR, ""):
                met = meets[i, j + 1] or (i < len(left) and meets[i + 1, j])
            else:
                met = i < len(left) and j < len(right) and meets[i + 1, j + 1] and _tokens_meet(left[i], right[j])
            meets[i, j] = met
    return meets[0, 0]


def _tokens_meet(left: _Token, right: _Token) -> bool:
    if not isinstance(left, _Class) and left[0] == "literal":
        return _holds(right, left[1])
    if not isinstance(right, _Class) and right[0] == "literal":
        return _holds(left, right[1])
    if isinstance(left, _Class) and isinstance(right, _Class) and not (left.negated or right.negated):
        return any(max(a, c) <= min(b, d) for a, b in left.ranges for c, d in right.ranges)
    return True
