"""Globs over project paths, in the two dialects that users write.

`ROOT_ANCHORED` is the dialect of `paths` in rule files and of write areas: a pattern is anchored at the project root,
`*` and `?` do not cross `/`, `**` does, braces expand, a folder with a `/` behind it means all in it. `GITIGNORE` is
that of permission paths: a pattern without a slash matches at any depth, one that names a folder all in it; braces are
literal. In both, files whose name begins with a dot match like others, case counts, and `!` is refused.

Matching takes time in proportion to path and pattern, whatever they hold: a repository must not be able to stop the
engine with a glob. (That is why the gitignore dialect is not read by pathspec: its expressions can take exponential
time. Tests hold the dialect equal to git.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache

from aircoding.rules.glob_overlap import Outline, could_meet, outline_of, segments_meet
from aircoding.rules.glob_regex import segments_regex
from aircoding.rules.glob_syntax import DOUBLE, MAX_EXPANSIONS, STAR, Segment, expand, parse_segments

__all__ = [
    "MAX_EXPANSIONS",
    "Dialect",
    "Matcher",
    "Outline",
    "compile_globs",
    "could_meet",
    "glob_fault",
    "glob_faults",
    "outlines",
    "overlap",
    "split_globs",
]

_MAX_PATTERN = 4096
"""Longest glob: as long as a path may be on Linux."""


class Dialect(Enum):
    """How a glob is read."""

    ROOT_ANCHORED = "root_anchored"
    GITIGNORE = "gitignore"


class Matcher:
    """A compiled list of globs; a pattern that cannot be read matches nothing (see `glob_faults`)."""

    def __init__(self, patterns: Sequence[str], dialect: Dialect) -> None:
        faults = glob_faults(patterns, dialect)
        good = [pattern for pattern, fault in zip(patterns, faults, strict=True) if fault is None]
        regexes = [segments_regex(segments) for pattern in good for segments in _forms(pattern, dialect)]
        self._regex = re.compile("|".join(dict.fromkeys(regexes)) or r"(?!)")
        self._may_be_absolute = dialect is Dialect.GITIGNORE

    def matches(self, path: str) -> bool:
        """Whether a path (POSIX separators, no `.` and `..`) matches any of the globs.

        An absolute path matches no ROOT_ANCHORED glob; GITIGNORE globs are anchored at its root.
        """
        if path.startswith("/"):
            if not self._may_be_absolute:
                return False
            path = path.lstrip("/")
        return self._regex.match(path.rstrip("/")) is not None


@lru_cache(maxsize=4096)
def _compiled(patterns: tuple[str, ...], dialect: Dialect) -> Matcher:
    return Matcher(patterns, dialect)


def compile_globs(patterns: Iterable[str], dialect: Dialect) -> Matcher:
    """Return a matcher for a list of globs; the same list gives the same matcher."""
    return _compiled(tuple(patterns), dialect)


def split_globs(text: str) -> tuple[str, ...]:
    r"""Split a comma-separated list of globs; a comma inside braces does not split, nor one behind `\`."""
    parts: list[str] = []
    depth, start, escaped = 0, 0, False
    for place, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "{}":
            depth = max(0, depth + (1 if char == "{" else -1))
        elif char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return tuple(part.strip() for part in parts if part.strip())


def glob_fault(pattern: str, dialect: Dialect) -> str | None:
    """Return what is wrong with a glob, or None when it can be read."""
    return _read(pattern, dialect)[1]


def glob_faults(patterns: Sequence[str], dialect: Dialect) -> tuple[str | None, ...]:
    """Return for each glob of a list what is wrong with it; the list shares one budget of expansions."""
    left = MAX_EXPANSIONS
    faults: list[str | None] = []
    for pattern in patterns:
        forms, fault = _read(pattern, dialect)
        if fault is None and dialect is Dialect.ROOT_ANCHORED:
            if len(forms) > left:
                fault = f"the braces of the list expand to more than {MAX_EXPANSIONS} patterns"
            else:
                left -= len(forms)
        faults.append(fault)
    return tuple(faults)


@lru_cache(maxsize=16_384)
def _read(pattern: str, dialect: Dialect) -> tuple[tuple[tuple[Segment, ...], ...], str | None]:
    """Return the forms of a glob, or none and what is wrong with it."""
    fault = _plain_fault(pattern)
    if fault is not None:
        return (), fault
    try:
        if dialect is Dialect.GITIGNORE:
            return _gitignore_forms(pattern), None
        forms = tuple(_anchored_form(one) for one in expand(pattern))
    except ValueError as error:
        return (), str(error)
    return (forms, None) if forms else ((), f"its braces expand to more than {MAX_EXPANSIONS} patterns")


def _plain_fault(pattern: str) -> str | None:
    if not pattern.strip():
        return "it is empty"
    if len(pattern) > _MAX_PATTERN:
        return f"it is longer than {_MAX_PATTERN} characters"
    if pattern.startswith("!"):
        return "a `!` at the start does not turn a glob round; write `\\!` for a name that begins so"
    if "\0" in pattern or "\n" in pattern or "\r" in pattern:
        return "it holds a line break or a zero byte"
    return None


def _forms(pattern: str, dialect: Dialect) -> tuple[tuple[Segment, ...], ...]:
    return _read(pattern, dialect)[0]


def _anchored_form(pattern: str) -> tuple[Segment, ...]:
    path = pattern.strip().removeprefix("./").lstrip("/")
    if not path or path in (".", "./"):
        raise ValueError("it names the root itself; write `**` for all files")
    if path.endswith("/"):
        path += "**"
    segments = parse_segments(path)
    if any(not segment for segment in segments):
        raise ValueError("it holds `//`")
    return segments


def _gitignore_forms(pattern: str) -> tuple[tuple[Segment, ...], ...]:
    """Return what a line of a .gitignore file stands for: the path itself, and all in it if it is a folder."""
    if pattern.startswith("#"):
        raise ValueError("a `#` at the start is a comment; write `\\#`")
    path = _without_trailing_blanks(pattern)
    folder_only = path.endswith("/") and path != "/"
    path = path.removesuffix("/")
    anchored = "/" in path
    path = path.removeprefix("/")
    if not path:
        raise ValueError("it names the root itself; write `**` for all files")
    segments = parse_segments(path)
    if any(not segment for segment in segments):
        raise ValueError("it holds `//`")
    if not anchored and segments[0] is not DOUBLE:
        segments = (DOUBLE, *segments)
    if segments[-1] is DOUBLE:
        return ((*segments[:-1], (STAR,), DOUBLE),) if folder_only else (segments,)
    within = (*segments, DOUBLE)
    return (within,) if folder_only else (segments, within)


def _without_trailing_blanks(pattern: str) -> str:
    r"""Git leaves blanks at the end out, unless a `\` stands before."""
    stripped = pattern.rstrip(" ")
    slashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if slashes % 2 and len(stripped) < len(pattern) else stripped


def overlap(left: str, right: str) -> bool:
    """Whether some path could match both globs (ROOT_ANCHORED). A glob that cannot be read may match anything."""
    return _overlap(left, right) if left <= right else _overlap(right, left)


@lru_cache(maxsize=65_536)
def _overlap(left: str, right: str) -> bool:
    left_forms, left_fault = _read(left, Dialect.ROOT_ANCHORED)
    right_forms, right_fault = _read(right, Dialect.ROOT_ANCHORED)
    if left_fault is not None or right_fault is not None:
        return True
    outlined = [(form, outline_of(form)) for form in right_forms]
    return any(
        _folders_could_meet(mine, theirs) and could_meet(mine, theirs) and segments_meet(form, other)
        for form in left_forms
        for mine in (outline_of(form),)
        for other, theirs in outlined
    )


def _folders_could_meet(left: Outline, right: Outline) -> bool:
    return all(one == other for one, other in zip(left.folders, right.folders, strict=False))


@lru_cache(maxsize=16_384)
def outlines(pattern: str) -> tuple[Outline, ...]:
    """Return the outline of each pattern that a ROOT_ANCHORED glob expands to, for an index.

    Two patterns have a path in common only if the literal folders of one begin those of the other
    and `could_meet` does not say no. A glob that cannot be read counts as one that may match anything.
    """
    forms, fault = _read(pattern, Dialect.ROOT_ANCHORED)
    if fault is not None:
        return (Outline((), None, "", ""),)
    return tuple(outline_of(form) for form in forms)
