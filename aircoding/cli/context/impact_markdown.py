"""The impact of a change as a comment on a pull request: short first, the details folded, and no text of others alive.

A comment on GitHub has 65,536 characters at most. Whatever a rule file holds stands in a fence that is longer than any
in it, or as text in which HTML, Markdown and mentions are escaped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aircoding.cli.context.impact_answers import change_lines, idle_files, place_of_part, reader_words, signed, summary
from aircoding.cli.output import visible, visible_line

if TYPE_CHECKING:
    from aircoding.app.impact import Impact
    from aircoding.audit.impact import Effect
    from aircoding.audit.views import Part

__all__ = ["MAX_CHARS", "impact_markdown"]

MAX_CHARS = 65_000
"""Below what a comment may have."""
_SHOWN_LINES = 120
_SHOWN_FILES = 50
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~:$^=])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "<code>&#64;</code>"}
"""Mentions are looked for in what is shown, where an escape is its character: so `@` stands in a node of its own."""
_NUMBER = re.compile(r"\\?#(?=\d)")
"""What would name an issue."""


def impact_markdown(impact: Impact) -> str:
    """Return the comment."""
    head = ["### What agents see", "", f"{_safe(impact.base)} → {_safe(impact.head)}: {_safe(summary(impact))}", ""]
    if impact.effects:
        head += ["| | tokens | what | who |", "| ---: | ---: | --- | --- |"]
        head += [_row(number, effect, impact) for number, effect in enumerate(impact.effects[:_SHOWN_FILES], 1)]
        head += [""]
    idle = idle_files(impact)
    if idle:
        shown = [f"- {_safe(one.path)} ({one.status})" for one in idle[:_SHOWN_FILES]]
        more = [f"- and {len(idle) - _SHOWN_FILES} more"] if len(idle) > _SHOWN_FILES else []
        head += ["**Changed, and seen by nobody who was compared:**", "", *shown, *more, ""]
    unsure = [one.path for one in impact.files if one.state == "unsure"]
    if unsure:
        head += [f"It cannot be told which of the changes these files make: {_safe(', '.join(unsure[:20]))}", ""]
    head += [f"> {_safe(one)}" for one in impact.notes[:20]]
    text = _cut("\n".join(head).rstrip("\n") + "\n", MAX_CHARS // 2)
    for number, effect in enumerate(impact.effects, 1):
        folded = _folded(number, effect, impact)
        if len(text) + len(folded) > MAX_CHARS:
            left = len(impact.effects) - number + 1
            return f"{text}\n{left} of {len(impact.effects)} details are left out here: a comment has no more room.\n"
        text += folded
    return text


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most].rpartition(chr(10))[0]}\n\nThe list is cut here: a comment has no more room.\n"


def _row(number: int, effect: Effect, impact: Impact) -> str:
    change = effect.change
    what = [f"added {place_of_part(part)}" for part in change.added]
    what += [f"removed {place_of_part(one.part)}" for one in change.removed]
    what += [f"changed {place_of_part(one.after)}" for one in change.changed]
    what += [f"moved {place_of_part(part)}" for part in change.moved]
    what += ["a new contradiction"] * bool(change.conflicts_added)
    what += ["a contradiction is gone"] * bool(change.conflicts_removed)
    who = [line.removeprefix("seen by ") for line in reader_words(effect, impact)]
    cells = (str(number), signed(change.token_change), _listed(what), _listed(who))
    return f"| {' | '.join(cells)} |"


def _listed(texts: list[str]) -> str:
    more = [f"and {len(texts) - 6} more"] if len(texts) > 6 else []
    return "<br>".join(_short(text) for text in [*texts[:6], *more])


def _short(text: str) -> str:
    return _safe(text if len(text) <= 200 else f"{text[:199]}…")


def _folded(number: int, effect: Effect, impact: Impact) -> str:
    lines = [*change_lines(effect.change, most=_SHOWN_LINES), *reader_words(effect, impact)]
    body = "\n".join(line.removeprefix("    ") for line in map(_fenced_line, lines))
    ticks = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, ticks + 1)
    title = _html(visible_line(", ".join(sorted({place_of_part(part) for part in _about(effect)}))[:200] or "order"))
    return f"\n<details><summary>{number}. {title}</summary>\n\n{fence}diff\n{body}\n{fence}\n\n</details>\n"


def _about(effect: Effect) -> list[Part]:
    change = effect.change
    parts = [*change.added, *(one.part for one in change.removed), *(one.after for one in change.changed)]
    return parts or list(change.moved)


def _fenced_line(line: str) -> str:
    return visible(line).replace("\n", "\\n")


def _safe(text: str) -> str:
    """Return a text of others on one line in which nothing is Markdown, HTML or a mention."""
    return _html(_SPECIAL.sub(r"\\\1", visible_line(text)))


def _html(text: str) -> str:
    """Return a text that is no HTML and no mention; a block of HTML needs no more, as no Markdown counts there."""
    parts = _NUMBER.split(text)
    return "<code>#</code>".join("".join(_HTML.get(char, char) for char in part) for part in parts)
