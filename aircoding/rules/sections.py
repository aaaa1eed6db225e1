"""Sections of a rule file: split at `##` headings outside fences, each with its own identity (DESIGN section 5)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from aircoding.rules.markdown_lines import read_lines

__all__ = ["Section", "slug", "split_sections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A stretch of a file. `slug` is `_` for the text before the first heading; lines count from 1 in the body."""

    slug: str
    title: str
    text: str
    start_line: int
    end_line: int


def slug(title: str) -> str:
    """Return a heading as a slug: lower case, letters and digits of any script, the rest as single hyphens."""
    folded = unicodedata.normalize("NFKC", title).lower()
    return re.sub(r"[\W_]+", "-", folded).strip("-") or "section"


def split_sections(body: str) -> tuple[Section, ...]:
    """Return the sections of a Markdown body in order; parts without any text are left out."""
    lines = body.split("\n")
    headings = {
        line.number - 1: title for line in read_lines(body) if line.fence is None and (title := _title(line.text))
    }
    starts = sorted({0, *headings})
    taken: dict[str, int] = {}
    sections: list[Section] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first, last = _trim(lines, start, end)
        if first >= last:
            continue
        title = headings.get(start, "")
        sections.append(
            Section(
                slug=_free(slug(title) if title else "_", taken),
                title=title,
                text="\n".join(lines[first:last]),
                start_line=first + 1,
                end_line=last,
            )
        )
    return tuple(sections)


def _title(line: str) -> str:
    """Return the title of a `##` heading, without hashes that close it; empty when the line is none."""
    if not line.startswith(("## ", "##\t")):
        return ""
    title = line[2:].strip()
    bare = title.rstrip("#")
    return bare.rstrip() if bare != title and (not bare or bare[-1] in " \t") else title


def _free(name: str, taken: dict[str, int]) -> str:
    """Return a slug that no section before has: repeats get `-2`, `-3`."""
    count = taken.get(name, 0) + 1
    free = name if count == 1 else f"{name}-{count}"
    while free in taken:
        count += 1
        free = f"{name}-{count}"
    taken[name] = count
    taken.setdefault(free, 1)
    return free


def _trim(lines: list[str], start: int, end: int) -> tuple[int, int]:
    """Leave blank lines at both ends out."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end
