"""What a text asks a worker to do besides commands: to get around the permissions, to use a path, to reach a host.

Only what is asked in the imperative counts. What is told (`the test disables the sandbox`), forbidden (`never skip the
permission check`) or made a condition (`if the sandbox is off`) is no request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from aircoding.rules.markdown_lines import spans_of
from aircoding.rules.negation import forbids, forbids_after
from aircoding.rules.sentences import Sentence, sentences_in

__all__ = ["BYPASS_FLAGS", "Request", "requests_in"]

BYPASS_FLAGS = frozenset(
    {
        *("--no-verify", "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo"),
        *("--no-sandbox", "--disable-sandbox", "--allow-dangerously-skip-permissions", "--skip-permissions"),
    }
)
"""Flags of git and of coding agents that turn checks off (`git commit --no-verify`; the agents' own help pages)."""

_MOST = 600
_BEGIN = (
    r"(?:^|[,;:]\s+|\b(?:and|then|please|always|just|simply|first|also|must|should|may|can|instead)\s+)"
    r"(?:(?:you|we|agents?|workers?)\s+(?:(?:must|should|may|can)\s+)?)?(?:(?:feel\s+free|remember|(?:make|be)\s+sure)\s+to\s+)?(?:always\s+|just\s+|simply\s+)?"
)
_OBJECT = (
    r"(?:(?:permission|approval|security|safety|sandbox)[\s-]+(?:checks?|engine|system|prompts?|polic(?:y|ies)|rules?|"
    r"requests?|restrictions?|gates?|dialogs?|hooks?)|permissions?|approvals?|sandbox(?:ing)?|write\s+area|guard\s*rails?|"
    r"denied\s+paths|(?:pre-?commit|pre-?push|git)\s+hooks?|polic(?:y|ies)|confirmation\s+prompts?)"
)
_ENDS = (
    r"(?:$|[.,;:!)\u2014]|(?:and|when|whenever|if|while|so|during|before|by|with|because|since|as|to|\w+ly)\b|"
    r"for\s+(?:now|this|these|the|all|every|any|speed|performance|convenience)\b)"
)
"""What may stand behind the object: an end, a clause, an adverb, `for` with a reason or a determiner.

A noun would make it another thing (`the sandbox tests`), and another noun after `for` mostly tells of the product
(`skip permission checks for admins`).
"""
_BYPASS = re.compile(
    rf"{_BEGIN}(?:skip|bypass|ignore|disable|circumvent|override|evade|work\s+around|get\s+around|turn\s+off|switch\s+off|"
    rf"do\s+not\s+(?:respect|obey|wait\s+for)|don['\u2019]t\s+(?:respect|obey|wait\s+for))\s+"
    rf"(?:(?:the|all|any|your|our|this|every)\s+)*{_OBJECT}"
    rf"(?=\s*{_ENDS})",
    re.IGNORECASE,
)
_RUN = (
    rf"{_BEGIN}(?:(?:run|use|pass|commit|push|start|launch|invoke|call|execute|install|retry|rerun)\b(?!\s+an?\b)[^.;!?]{{0,80}}?"
    r"|(?:add|append|set)\s+`?)"
)
_FLAG = re.compile(
    rf"{_RUN}(?<![\w-])(?P<flag>{'|'.join(sorted(map(re.escape, BYPASS_FLAGS)))})(?![\w-])", re.IGNORECASE
)
_AS_ROOT = re.compile(rf"{_RUN}\b(?P<program>sudo|doas|pkexec)\b", re.IGNORECASE)
_READS = "read|open|load|print|cat|dump|copy|source|upload|send|parse"
_WRITES = "write|edit|modify|change|update|delete|remove|create|overwrite|append\\s+to|add\\s+to|save|store|put|patch"
_PATH = re.compile(rf"{_BEGIN}(?:(?P<read>{_READS})|(?P<write>{_WRITES}))\s[^.;!?`()]{{0,60}}?$", re.IGNORECASE)
_FETCH = re.compile(
    rf"{_BEGIN}(?:download|fetch|clone|upload|send|post|connect|pull|push|install|get|report|publish|submit|call|ping|query)\b"
    r"[^.;!?]{0,80}?[\s<(`](?P<url>https?://[^\s)>`\"']+)",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:if|unless|whether|over)\b", re.IGNORECASE)
"""Words that make what follows a case or the lesser choice, and no request."""
_CONDITION = re.compile(r"^(?:if|when|whenever|unless|while|where|in\s+case|once|after|should)\b[^,]*,", re.IGNORECASE)
_Form: TypeAlias = tuple[str, re.Pattern[str], str | int, tuple[str, ...]]
_FORMS: tuple[_Form, ...] = (
    (
        "bypass",
        _BYPASS,
        0,
        tuple("permission approv sandbox polic hook area guard denied confirm safety secur".split()),
    ),
    ("flag", _FLAG, "flag", ("--",)),
    ("command", _AS_ROOT, "program", ("sudo", "doas", "pkexec")),
    ("host", _FETCH, "url", ("://",)),
)
"""Kind, pattern, the group that is the target, and words of which one must be there."""
_PATH_SPAN = re.compile(r"(?:~|\.{0,2})/?[\w.@*{}-]+(?:/[\w.@*{}-]+)*/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One thing that a text asks for.

    `kind` is `bypass` (`target` are the words), `flag`, `command`, `read`, `write` (a path) or `host` (a URL). Lines
    count from 1.
    """

    kind: str
    target: str
    line: int


@lru_cache(maxsize=2048)
def requests_in(text: str) -> tuple[Request, ...]:
    """Return what a text asks for, in order; commands are `named_commands`' business."""
    sentences = sentences_in(text)
    forms = _possible("\n".join(sentence.text for sentence in sentences).lower(), _FORMS)
    return tuple(request for sentence in sentences for request in _requests(sentence, forms))


def _possible(lower: str, forms: Iterable[_Form]) -> tuple[_Form, ...]:
    """Return the forms that can stand in a text: the patterns are slow, and few sentences can match one."""
    return tuple(form for form in forms if any(needle in lower for needle in form[3]))


def _requests(sentence: Sentence, forms: tuple[_Form, ...]) -> Iterator[Request]:
    text = sentence.text
    if len(text) > _MOST or text.endswith("?"):
        return
    for kind, pattern, group, _ in _possible(text.lower(), forms) if forms else ():
        match = pattern.search(text)
        if match is not None and _is_asked(text, match):
            target = match[group].rstrip(".,;:!?")
            yield Request(kind=kind, target=_words(target) if kind == "bypass" else target, line=sentence.line)
    yield from _paths(sentence)


def _paths(sentence: Sentence) -> Iterator[Request]:
    for place, span in spans_of(sentence.text):
        before = _PATH.search(sentence.text[:place])
        if (
            before is None
            or _PATH_SPAN.fullmatch(span) is None
            or not ("/" in span or span.startswith(".") or "." in span)
        ):
            continue
        after = sentence.text[place + len(span) :].partition("`")[2]
        said = _CONDITION.sub("", sentence.text[: before.end()], count=1)
        if not _is_refused(said) and not forbids_after(after):
            yield Request(kind="read" if before["read"] else "write", target=span, line=sentence.line)


def _is_asked(text: str, match: re.Match[str]) -> bool:
    """Whether nothing before or in the words forbids them, and nothing behind them says that they are refused."""
    said = _CONDITION.sub("", text[: match.end()], count=1)
    said = re.sub(r"\b(?:do\s+not|don['\u2019]t)\s+(?:respect|obey|wait\s+for)\b", "", said, flags=re.IGNORECASE)
    said = re.sub(r"--[\w-]+", "", said)
    return not _is_refused(said) and not forbids_after(text[match.end() :])


def _is_refused(said: str) -> bool:
    return forbids(said) or _HEDGED.search(said) is not None


def _words(text: str) -> str:
    return " ".join(text.strip(" ,;:").split())
