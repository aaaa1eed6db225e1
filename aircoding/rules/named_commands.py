"""The commands that a rule text names: code spans and shell fences, and what the words around them say of them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from aircoding.rules.markdown_lines import read_lines, spans_of
from aircoding.rules.negation import forbids, forbids_after
from aircoding.rules.sentences import SENTENCE_END, refusals

__all__ = ["NamedCommand", "commands_in"]

_SHELL_FENCES = frozenset({"", "sh", "bash", "shell", "console", "zsh", "terminal", "shell-session", "sh-session"})
_ASKS = re.compile(
    r"\b(?:run|execute|start|launch|invoke|type|rerun|re-run)(?:\s+(?:it\s+)?(?:with|the\s+command))?\s*:?\s*$",
    re.IGNORECASE,
)
_TELLS = re.compile(r"\b(?:runs|uses|calls|executes|invokes|does|ran|used|called|wraps|like)\s*$", re.IGNORECASE)
_LISTING = re.compile(r"[\u2500-\u257f]")
"""Lines that draw a tree of files."""
_NEAR = 300
"""Characters around a span that can say something of it."""
_PROMPT = re.compile(r"^(?:[$>%]|#(?=[ \t]*\S+[ \t]))[ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommand:
    """A command that a text names, with its line (from 1).

    `forbidden` says that the words around it forbid it or only tell of it; `asked` that they ask for it in so many
    words (`Run ...`, a block marked as shell), so that even a word of English (`mount`) is meant as a command.
    """

    command: str
    line: int
    forbidden: bool
    asked: bool


@lru_cache(maxsize=2048)
def commands_in(text: str) -> tuple[NamedCommand, ...]:
    r"""Return the commands in code spans and in fenced shell blocks, in order.

    Whether a span is forbidden is read from the words around it in its own sentence; a fenced
    block from the last sentence before it. Lines of a block that end in `\` are one command.
    """
    if "`" not in text and "~~~" not in text:
        return ()
    found: list[NamedCommand] = []
    changes = deque(refusals(text))
    refused, last, started, parts = False, "", 0, list[str]()
    for line in read_lines(text):
        while changes and changes[0][0] <= line.number:
            refused = changes.popleft()[1]
        if line.fence is None:
            last = line.text.strip() or last
            found.extend(_named_in(line.text, line.number, refused=refused))
        elif line.edge or line.fence not in _SHELL_FENCES or _LISTING.search(line.text) is not None:
            parts = []
        elif line.text.strip() and (parts or not _is_comment(line.text)):
            started = started if parts else line.number
            parts.append(_PROMPT.sub("", line.text.strip()))
            if not parts[-1].endswith("\\"):
                command = " ".join(part.removesuffix("\\").strip() for part in parts)
                forbidden = refused or forbids(_last_sentence(last))
                found.append(NamedCommand(command=command, line=started, forbidden=forbidden, asked=bool(line.fence)))
                parts = []
    return tuple(found)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _named_in(line: str, number: int, *, refused: bool) -> Iterator[NamedCommand]:
    for place, span in spans_of(line):
        before = _last_sentence(line[max(0, place - _NEAR) : place])
        end = place + len(span)
        after = line[end : end + _NEAR].partition("`")[2].lstrip("`")
        forbidden = refused or forbids(before) or forbids_after(after) or _TELLS.search(before) is not None
        asked = _ASKS.search(before) is not None
        yield NamedCommand(command=span, line=number, forbidden=forbidden, asked=asked)


def _last_sentence(words: str) -> str:
    return SENTENCE_END.split(words)[-1]
