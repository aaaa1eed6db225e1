"""The commands that a rule text names: code spans and shell fences, and what the words around them say of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from aircoding.rules.markdown_lines import read_lines, spans_of
from aircoding.rules.sentences import SENTENCE_END, introduces_bad

__all__ = ["NamedCommand", "commands_in", "forbids", "forbids_after"]

_SHELL_FENCES = frozenset({"", "sh", "bash", "shell", "console", "zsh", "terminal", "shell-session", "sh-session"})
_FORBIDS = re.compile(
    r"\b(never|not|don['\u2019]t|doesn['\u2019]t|cannot|can['\u2019]t|mustn['\u2019]t|shouldn['\u2019]t|avoid|forbidden|prohibited|disallowed|"
    r"refuse[ds]?|rejects?|blocks|den(?:y|ies)|instead\s+of|rather\s+than|prefer\b.{1,80}\bover|without|no)\b",
    re.IGNORECASE,
)
_FORBIDS_AFTER = re.compile(
    r"^[^.;!?]{0,40}?\b(?:is|are|will\s+be|must|should|may|can|gets?)\b[^.;!?]{0,30}?"
    r"\b(?:not|never|forbidden|prohibited|denied|refused|blocked|unavailable|banned|disallowed)\b"
    r"|^[^.;!?]{0,40}?\b(?:isn|aren|cannot|can|mustn|shouldn|won)['\u2019]?t?\b[^.;!?]{0,30}?\b(?:not|be|allowed|available)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:run|execute|start|launch|invoke|type|rerun|re-run)(?:\s+(?:it\s+)?(?:with|the\s+command))?\s*:?\s*$",
    re.IGNORECASE,
)
_TELLS = re.compile(r"\b(?:runs|uses|calls|executes|invokes|does|ran|used|called|wraps|like)\s*$", re.IGNORECASE)
_LISTING = re.compile(r"[\u2500-\u257f]")
"""Lines that draw a tree of files."""
_NEAR = 300
"""Characters around a span that can say something of it."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
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
    found: list[NamedCommand] = []
    lead, started, parts = _Lead(), 0, list[str]()
    for line in read_lines(text):
        if line.fence is None:
            lead.read(line.text)
            found.extend(_named_in(line.text, line.number, refused=lead.refuses(line.text)))
        elif line.edge or line.fence not in _SHELL_FENCES or _LISTING.search(line.text) is not None:
            parts = []
        elif line.text.strip() and (parts or not _is_comment(line.text)):
            started = started if parts else line.number
            parts.append(_PROMPT.sub("", line.text.strip()))
            if not parts[-1].endswith("\\"):
                command = " ".join(part.removesuffix("\\").strip() for part in parts)
                forbidden = forbids(_last_sentence(lead.last)) or lead.bad
                found.append(NamedCommand(command=command, line=started, forbidden=forbidden, asked=bool(line.fence)))
                parts = []
    return tuple(found)


class _Lead:
    """The words above a line: the last line of text, and whether a heading or a lead refuses what follows."""

    def __init__(self) -> None:
        self.last = ""
        self._heading_bad = self._lead_bad = False

    @property
    def bad(self) -> bool:
        return self._heading_bad or self._lead_bad

    def read(self, line: str) -> None:
        """Take in a line of text."""
        plain = line.strip().strip("*_ ")
        if not plain:
            return
        self.last = line.strip()
        if plain.startswith("#"):
            self._heading_bad, self._lead_bad = introduces_bad(plain.lstrip("# ")), False
        elif not _ITEM.match(line):
            self._lead_bad = plain.endswith(":") and introduces_bad(plain)

    def refuses(self, line: str) -> bool:
        """Whether a line is one of what is refused above it."""
        return self._heading_bad or (self._lead_bad and _ITEM.match(line) is not None)


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


def forbids(words: str) -> bool:
    """Whether the words before a thing forbid it."""
    return _FORBIDS.search(words) is not None


def forbids_after(words: str) -> bool:
    """Whether the words behind a thing forbid it (`is not allowed`)."""
    return _FORBIDS_AFTER.match(words) is not None
