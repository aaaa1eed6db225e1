"""What a rule text asks for: its directives, read from the words as they stand, sentence by sentence.

What is not plainly a directive is none. They serve to find contradictions, never to decide one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from aircoding.rules.choices import choice_of, normal
from aircoding.rules.negation import NOT, REFUSED
from aircoding.rules.sentences import Sentence, first_outside_code, sentences_in

__all__ = ["Directive", "Verb", "directives_in"]

_MAX_SENTENCE = 500
"""A longer sentence is no plain directive, and the patterns below are not meant for one."""


class Verb(StrEnum):
    """What a directive asks: `always`, `use`, `prefer` and `do` want their subject, `never` and `do_not` refuse it."""

    ALWAYS = "always"
    NEVER = "never"
    USE = "use"
    PREFER = "prefer"
    DO = "do"
    DO_NOT = "do_not"

    @property
    def wants(self) -> bool:
        """Whether the subject is wanted (else refused)."""
        return self not in (Verb.NEVER, Verb.DO_NOT)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_WHO = (
    r"(?:(?:please|just|instead|also|then|here)\s*,?\s+)?"
    r"(?:(?:you|we|agents?|workers?|developers?|contributors?|everyone)\s+)?(?:please\s+)?"
)
_MODAL = r"(?:(?:must|should|shall|will)\s+)?"
_IMPERATIVES = (
    "add|annotate|answer|catch|check|commit|create|declare|define|delete|disable|document|edit|enable|export|format|implement|"
    "import|include|indent|install|keep|log|mention|merge|mock|name|omit|open|pin|place|print|push|put|raise|rebase|"
    "remove|rename|reply|respond|return|run|skip|sort|squash|store|test|throw|type|update|write|wrap"
)
_VERB_FORMS: tuple[tuple[Verb, str], ...] = (
    (Verb.ALWAYS, r"(?:do\s+not|don['\u2019]t|never)\s+forget\s+to\s+"),
    (Verb.NEVER, rf"{_WHO}{_MODAL}never\s+(?:ever\s+)?"),
    (Verb.DO_NOT, rf"{_WHO}(?:{NOT}|{_MODAL}avoid|refrain\s+from|stop)\s+"),
    (Verb.ALWAYS, rf"{_WHO}{_MODAL}always\s+(?!prefer\b|favou?r\b)|{_WHO}must\s+|(?:make|be)\s+sure\s+to\s+"),
    (Verb.PREFER, rf"{_WHO}{_MODAL}(?:always\s+)?(?:prefer|favou?r)(?:\s+to)?\s+"),
    (Verb.USE, rf"{_WHO}{_MODAL}(?:only\s+)?(?:use|stick\s+(?:to|with)|switch\s+to)\s+"),
    (Verb.DO, rf"{_WHO}{_MODAL}(?=(?:{_IMPERATIVES})\s)"),
)
_VERBS = _pattern("|".join(f"(?P<v{place}>{form})" for place, (_, form) in enumerate(_VERB_FORMS)))
"""All in one, the first that fits: a sentence that begins with none of them is let go in one step."""
_NO_REQUEST = _pattern(
    r"(?:always|only|just|hesitate|worry|need|have\s+to|forget|be\s+(?:afraid|shy)|rely\s+(?:only|solely))\b"
)
_ACTION = _pattern(r"(?:only\s+)?(?:use|using|prefer|preferring|be\s+using)\s+")
_INDENT = _pattern(
    r"(?:always\s+)?indent(?:\s+(?:(?:all|every|the|your)\s+)?(?:(?P<part>[\w+#]+)(?:\s+(?:code|files?))?))?"
    r"\s+(?:with|by|using)\s+(?P<thing>[^,.;]+)"
)
_PASSIVE = _pattern(
    r"(?P<thing>[\w`][\w`./ -]{0,60}?)\s+(?:must|should|shall|may|can)(?P<no>\s+not|\s+never|not)?(?:\s+always)?"
    r"\s+be\s+used(?P<rest>\s+.*)?"
)
_NONE_OF = _pattern(r"no\s+(?P<thing>[\w`-]+(?:\s+[\w`-]+){0,2})[.!]?$")
_LENGTH = _pattern(
    r"(?:(?P<before>.*)\bline[\s-]+(?:length|width)\s*(?:is|of|to|at|:|=|under|below|within|limit|must\s+be)?"
    r"\s*(?:of|to|at)?|"
    r"(?:keep|limit|wrap|break)\s+(?:all\s+|code\s+)?lines\s+(?:to|at|under|below|within|shorter\s+than|up\s+to|at\s+most)|"
    r"lines\s+(?:must|should|may|can)\s+"
    r"(?:not\s+(?:exceed|be\s+longer\s+than)|be\s+(?:up\s+to|at\s+most|no\s+longer\s+than)))"
    r"\s*(?P<number>\d{2,3})\b(?:\s*-?(?:char(?:acter)?s?|col(?:umn)?s?))?(?:\s+(?:long|wide|at\s+most|max(?:imum)?|or\s+less))?"
)
_NO_SCOPE = _pattern(
    r"\b(?:please|we|always|must|should|set|use|keep|limit|prefer|the|a|an|our|max(?:imum)?|default|to|is)\b"
)
"""Words before `line length` that do not say of which lines."""
_PREFIX = _pattern(
    r"(?P<when>(?:in|for|when|on|if|inside|within|during|while|unless|with|by|after|before|under)\s+[^,:]{1,80}),\s+"
)
_FORBIDDEN = _pattern(
    rf"(?!(?:this|that|it|they|these|those|which|what)\b)(?P<thing>[\w`-]+(?:\s+[\w`-]+){{0,2}})\s+(?:is|are)\s+"
    rf"(?:{REFUSED})(?P<rest>\s+.*)?[.!]?$"
)
_THIS_NOT_THAT = _pattern(r"(?P<thing>\w[\w -]{0,30}),\s+not\s+(?P<over>\w[\w -]{0,30})[.!]?$")
_LABEL = _pattern(r"(?:important|note|rule(?:\s+\d+)?|critical|warning|style|convention)\s*:\s*")
_NAMED_PART = _pattern(r"(?P<part>[\w+#/& -]{1,30}):\s+(?=[^\W\d])")
_REASON = _pattern(
    r"\s+(?:because|since|so\s+that|so|as\s+(?:it|this|they|that|we)|which|to\s+(?:avoid|ensure|keep|make|prevent|help))\b"
    r"|\s*[(\u2192:]|\s+-+>?\s"
)
_PURPOSE = _pattern(r"\s+(?P<link>for|when|as|in|to)\s+")
_WHERE = _pattern(r"\s+in\s+")
"""Where an end is meant (`for indentation in Python`): a condition like `In Python, ...`."""
_OVER = _pattern(r",?\s+(?:over|instead\s+of|rather\s+than|and\s+not|not|never)\s+")
_EXCEPTION = _pattern(
    r",?\s+(?:unless|except|only|if|but|where|while|until|other\s+than|apart\s+from|without|whenever|after|before|once)\b.*"
)
_LIST = _pattern(r",\s+(?:and|or)\s")
_COMMA = _pattern(r",\s")
_ARTICLES = _pattern(r"^(?:the|a|an|any|all|your|our)\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """One thing that a sentence asks for.

    `Use tabs for indentation` has the subject `indentation` and the value `tabs`; without a purpose
    (`Never use floats`) the thing itself is the subject and there is no value. `over` is what it is
    preferred to (`Prefer pathlib over os.path`). `link` is the word between value and subject, `uses` says that the
    value is used (and not, say, written or pushed). `condition` is when it holds or does not
    (`in tests`, `unless asked`), `areas` what the headings above it name. Phrases are lower case, without emphasis.
    """

    verb: Verb
    subject: str
    value: str | None
    over: str | None
    line: int
    text: str
    link: str = ""
    uses: bool = False
    condition: str = ""
    areas: frozenset[str] = frozenset()

    @property
    def thing(self) -> str:
        """What is wanted or refused."""
        return self.value or self.subject

    @property
    def purpose(self) -> str:
        """What for; empty where it is said of everything."""
        return self.subject if self.value else ""


@lru_cache(maxsize=2048)
def directives_in(text: str) -> tuple[Directive, ...]:
    """Return the directives of a text in order; fences, headings and bad examples hold none."""
    found = (_directive(sentence) for sentence in sentences_in(text))
    return tuple(directive for directive in found if directive is not None)


def _directive(sentence: Sentence) -> Directive | None:
    if len(sentence.text) > _MAX_SENTENCE or sentence.text.endswith("?"):
        return None
    words, condition = sentence.text, ""
    if ":" in words:
        words = _LABEL.sub("", words, count=1)
        if (named := _NAMED_PART.match(words)) is not None:
            words, condition = words[named.end() :], _tidy(named["part"])
    if "," in words and (prefix := _PREFIX.match(words)) is not None:
        words, condition = words[prefix.end() :], _tidy(prefix["when"])
    special = _special(words, sentence, condition)
    if special is not None:
        return special
    match = _VERBS.match(words)
    if match is None or match.lastgroup is None:
        return None
    verb, rest = _VERB_FORMS[int(match.lastgroup[1:])][0], words[match.end() :]
    if not verb.wants and _NO_REQUEST.match(rest):
        return None
    return _made(verb, rest, sentence, condition)


def _special(words: str, sentence: Sentence, condition: str) -> Directive | None:
    """Read the forms that do not begin with their verb; most patterns are slow, and few sentences can match one."""
    lower = words.lower()
    if "line" in lower and (length := _LENGTH.match(words)) is not None:
        scope = f"{_NO_SCOPE.sub('', length['before'] or '')} {_cut(words[length.end() :], _REASON)}"
        return _made(
            Verb.USE, f"use {length['number']} for line length", sentence, f"{condition} {_tidy(scope)}".strip()
        )
    if "indent" in lower and (indent := _INDENT.match(words)) is not None:
        part = (indent["part"] or "code").lower()
        where = "" if part in ("code", "file", "files") else f" in {part}"
        return _made(Verb.USE, f"use {indent['thing']} for indentation{where}", sentence, condition)
    if "used" in lower and (passive := _PASSIVE.match(words)) is not None:
        verb = Verb.NEVER if passive["no"] else Verb.USE
        return _made(verb, f"use {passive['thing']}{passive['rest'] or ''}", sentence, condition)
    if lower.startswith("no") and (none := _NONE_OF.match(words)) is not None:
        return _made(Verb.NEVER, f"use {none['thing']}", sentence, condition)
    if ("is" in lower or "are" in lower) and (none := _FORBIDDEN.match(words)) is not None:
        return _made(Verb.NEVER, f"use {none['thing']}{none['rest'] or ''}", sentence, condition)
    choice = _THIS_NOT_THAT.match(words) if "not" in lower else None
    if choice is not None and _are_alternatives(choice["thing"], choice["over"]):
        return _made(Verb.USE, words, sentence, condition)
    return None


def _are_alternatives(one: str, other: str) -> bool:
    choices = choice_of(normal(one), ""), choice_of(normal(other), "")
    return choices[0] is not None and choices[1] is not None and choices[0][0] == choices[1][0]


def _made(verb: Verb, rest: str, sentence: Sentence, condition: str) -> Directive | None:
    rest = _cut(rest, _REASON)
    exception = first_outside_code(_EXCEPTION, rest)
    if exception is not None and _OVER.match(exception[0]) is None:
        condition = f"{condition} {_tidy(exception[0].lstrip(', '))}".strip()
        rest = rest[: exception.start()]
    action = _ACTION.match(rest)
    wanted, _, over = _parted(rest[action.end() :] if action else rest, _OVER)
    if ", " in wanted and _LIST.search(wanted):
        return None  # a list: what is said of its members together is said of none alone
    wanted = _cut(wanted, _COMMA)
    value, link, purpose = _parted(wanted, _PURPOSE)
    if link == "for":
        purpose, _, where = _parted(purpose, _WHERE)
        condition = f"{condition} in {_tidy(where)}".strip() if where else condition
    subject = _tidy(purpose if link else value)
    if not subject or (link and not _tidy(value)):
        return None
    return Directive(
        verb=verb,
        subject=subject,
        value=_tidy(value) if link else None,
        over=_tidy(_cut(over, _COMMA)) or None,
        line=sentence.line,
        text=sentence.text,
        link=link,
        uses=verb in (Verb.USE, Verb.PREFER) or action is not None,
        condition=condition,
        areas=sentence.areas,
    )


def _parted(text: str, at: re.Pattern[str]) -> tuple[str, str, str]:
    """Split at the first match outside code spans; the middle is the word that joins."""
    match = first_outside_code(at, text)
    if match is None:
        return text, "", ""
    return text[: match.start()], match[0].strip(" ,").lower(), text[match.end() :]


def _cut(text: str, at: re.Pattern[str]) -> str:
    return _parted(text, at)[0]


def _tidy(text: str) -> str:
    text = _ARTICLES.sub("", text.strip().rstrip(".,;:!?")).replace("`", "")
    return " ".join(text.lower().split())
