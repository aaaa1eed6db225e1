"""What a rule text asks for: commands that it names, and whether it forbids them."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["NamedCommand", "commands_in"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(\w*)")
_SHELL_FENCES = frozenset({"", "sh", "bash", "shell", "console", "zsh", "terminal"})
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_FORBIDS = re.compile(
    r"\b(never|not|don't|do\s+not|doesn't|cannot|can't|mustn't|shouldn't|avoid|forbidden|prohibited|disallowed|refuse|"
    r"instead\s+of|rather\s+than|without|no)\b",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"^[$>#%][ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommand:
    """A command that a text names, with its line (from 1) and whether the words around it forbid it."""

    command: str
    line: int
    forbidden: bool


def commands_in(text: str) -> tuple[NamedCommand, ...]:
    """Return the commands in code spans and in fenced shell blocks, in order.

    Whether a span is forbidden is read from the words before it in its own sentence; a fenced
    block from the sentence that leads to it.
    """
    found: list[NamedCommand] = []
    fence, shell, lead = "", False, ""
    for number, line in enumerate(text.split("\n"), 1):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and line.strip() == opening[1]:
                fence = ""
            elif shell and line.strip() and not line.lstrip().startswith("#"):
                command = _PROMPT.sub("", line.strip())
                found.append(NamedCommand(command=command, line=number, forbidden=_forbids(lead)))
            continue
        if opening:
            fence, shell = opening[1], opening[2].lower() in _SHELL_FENCES
            continue
        found.extend(_spans(line, number))
        lead = line if line.strip() else lead
    return tuple(found)


def _spans(line: str, number: int) -> list[NamedCommand]:
    spans: list[NamedCommand] = []
    for match in _SPAN.finditer(line):
        before = line[: match.start()]
        sentence = re.split(r"(?<=[.;!?])\s+", before)[-1]
        spans.append(NamedCommand(command=match[2].strip(), line=number, forbidden=_forbids(sentence)))
    return spans


def _forbids(words: str) -> bool:
    return _FORBIDS.search(words) is not None
