"""What a rule text asks for: its directives, and the commands that it names and whether it forbids them.

Both are read from the words as they stand, sentence by sentence; what is not plainly a directive is none. They serve to
find contradictions, never to decide one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from aircoding.rules.markdown_lines import code_spans, read_lines, spans_of

__all__ = ["Directive", "NamedCommand", "Verb", "code_spans", "commands_in", "directives_in"]

_SHELL_FENCES = frozenset({"", "sh", "bash", "shell", "console", "zsh", "terminal", "shell-session", "sh-session"})
_FORBIDS = re.compile(
    r"\b(never|not|don['\u2019]t|doesn['\u2019]t|cannot|can['\u2019]t|mustn['\u2019]t|shouldn['\u2019]t|avoid|forbidden|prohibited|disallowed|"
    r"refuse|instead\s+of|rather\s+than|without|no)\b",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"^(?:[$>%]|#(?=[ \t]*\S+[ \t]))[ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+| [\u2013\u2014] ")
_MAX_SENTENCE = 500
"""A longer sentence is no plain directive, and the patterns below are not meant for one."""
_BULLET = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,3}[.)]|>)[ \t]+(?:\[[ xX]\][ \t]+)?")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")


class Verb(StrEnum):
    """What a directive asks: `always` and `use` want their subject, `never` and `do_not` refuse it."""

    ALWAYS = "always"
    NEVER = "never"
    USE = "use"
    PREFER = "prefer"
    DO_NOT = "do_not"

    @property
    def wants(self) -> bool:
        """Whether the subject is wanted (else refused)."""
        return self not in (Verb.NEVER, Verb.DO_NOT)


_VERBS: tuple[tuple[Verb, re.Pattern[str]], ...] = (
    (Verb.NEVER, re.compile(r"(?:you\s+)?(?:must\s+|should\s+)?never\s+", re.IGNORECASE)),
    (
        Verb.DO_NOT,
        re.compile(r"(?:please\s+)?(?:do\s+not|don['\u2019]t|avoid|(?:you\s+)?must\s+not)\s+", re.IGNORECASE),
    ),
    (Verb.ALWAYS, re.compile(r"(?:you\s+)?(?:must\s+|should\s+)?always\s+|(?:you\s+)?must\s+", re.IGNORECASE)),
    (Verb.PREFER, re.compile(r"(?:please\s+)?prefer\s+", re.IGNORECASE)),
    (Verb.USE, re.compile(r"(?:please\s+)?use\s+", re.IGNORECASE)),
)
_ACTION = re.compile(r"(?:use|using|prefer|preferring)\s+", re.IGNORECASE)
_PURPOSE = re.compile(r"\s+(?:for|when|as|in|to)\s+", re.IGNORECASE)
_OVER = re.compile(r"\s+(?:over|instead\s+of|rather\s+than|not)\s+", re.IGNORECASE)
_ARTICLES = re.compile(r"^(?:the|a|an|any|all|your|our)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """One thing that a line asks for.

    `Use tabs for indentation` has the subject `indentation` and the value `tabs`; without a purpose
    (`Never use floats`) the thing itself is the subject and there is no value. `over` is what it is
    preferred to (`Prefer pathlib over os.path`). All three are lower case, without emphasis.
    """

    verb: Verb
    subject: str
    value: str | None
    over: str | None
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommand:
    """A command that a text names, with its line (from 1) and whether the words around it forbid it."""

    command: str
    line: int
    forbidden: bool


def directives_in(text: str) -> tuple[Directive, ...]:
    """Return the directives of a text in order; fences hold none."""
    found: list[Directive] = []
    for line in read_lines(text):
        if line.fence is not None or line.text.lstrip().startswith("#"):
            continue
        for sentence in _SENTENCE_END.split(_BULLET.sub("", line.text, count=1)):
            directive = _directive(sentence, line.number)
            if directive is not None:
                found.append(directive)
    return tuple(found)


def _directive(sentence: str, line: int) -> Directive | None:
    if len(sentence) > _MAX_SENTENCE:
        return None
    plain = _EMPHASIS.sub("", sentence).strip()
    for verb, pattern in _VERBS:
        match = pattern.match(plain)
        if match is None:
            continue
        rest = plain[match.end() :]
        wanted, _, over = _parted(_ACTION.sub("", rest, count=1), _OVER)
        value, has_purpose, purpose = _parted(wanted, _PURPOSE)
        subject = _tidy(purpose if has_purpose else value)
        if not subject:
            return None
        return Directive(
            verb=verb,
            subject=subject,
            value=(_tidy(value) or None) if has_purpose else None,
            over=_tidy(over) or None,
            line=line,
            text=plain,
        )
    return None


def _parted(text: str, at: re.Pattern[str]) -> tuple[str, bool, str]:
    """Split at the first match outside code spans."""
    spans = [(place, place + len(span) + 2) for place, span in spans_of(text)]
    for match in at.finditer(text):
        if not any(start <= match.start() < end for start, end in spans):
            return text[: match.start()], True, text[match.end() :]
    return text, False, ""


def _tidy(text: str) -> str:
    text = _ARTICLES.sub("", text.strip().rstrip(".,;:!?")).replace("`", "")
    return " ".join(text.lower().split())


def commands_in(text: str) -> tuple[NamedCommand, ...]:
    r"""Return the commands in code spans and in fenced shell blocks, in order.

    Whether a span is forbidden is read from the words before it in its own sentence; a fenced
    block from the last sentence before it. Lines of a block that end in `\` are one command.
    """
    found: list[NamedCommand] = []
    lead, started, parts = "", 0, list[str]()
    for line in read_lines(text):
        if line.fence is None:
            found.extend(_named_in(line.text, line.number))
            lead = line.text.strip() or lead
        elif line.edge or line.fence not in _SHELL_FENCES:
            parts = []
        elif line.text.strip() and (parts or not _is_comment(line.text)):
            started = started if parts else line.number
            parts.append(_PROMPT.sub("", line.text.strip()))
            if not parts[-1].endswith("\\"):
                command = " ".join(part.removesuffix("\\").strip() for part in parts)
                found.append(NamedCommand(command=command, line=started, forbidden=_forbids(_last_sentence(lead))))
                parts = []
    return tuple(found)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _named_in(line: str, number: int) -> Iterator[NamedCommand]:
    for place, span in spans_of(line):
        yield NamedCommand(command=span, line=number, forbidden=_forbids(_last_sentence(line[:place])))


def _last_sentence(words: str) -> str:
    return _SENTENCE_END.split(words)[-1]


def _forbids(words: str) -> bool:
    return _FORBIDS.search(words) is not None
