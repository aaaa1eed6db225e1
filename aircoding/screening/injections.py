"""All injections of one text: raw characters, phrases in every form of it, containers, personas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from aircoding.screening.characters import hidden_characters
from aircoding.screening.containers import Hidden, fenced_ranges, hidden_texts, is_within
from aircoding.screening.decoded import Decoded, decoded_texts
from aircoding.screening.demands import DEMAND_RULES
from aircoding.screening.exfiltration import EXFILTRATION_RULES
from aircoding.screening.hits import Hit
from aircoding.screening.instructing import instructs
from aircoding.screening.languages import LATIN_RULES
from aircoding.screening.overrides import OVERRIDE_RULES
from aircoding.screening.passages import DenseText, Passage
from aircoding.screening.persona import PERSONA_RULES, may_describe, persona_spans
from aircoding.screening.plain_text import PlainText, look_alikes
from aircoding.screening.quoting import Quoting
from aircoding.screening.rule_set import RuleSet, TextRule
from aircoding.screening.scripts import OTHER_RULES
from aircoding.screening.tokens import TOKEN_RULES

__all__ = ["RULE_SETS", "injections"]

_PHRASES = RuleSet((*TOKEN_RULES, *EXFILTRATION_RULES, *OVERRIDE_RULES, *DEMAND_RULES, *LATIN_RULES))
_PERSONAS = RuleSet(PERSONA_RULES)
_FOREIGN = RuleSet(OTHER_RULES, of_bytes=False)
_FOREIGN_BLOCKS = frozenset(ord(char) >> 7 for rule in OTHER_RULES for char in rule.pattern if char > "\u02ff")
"""Where the letters of these rules stand: a text without any of them has nothing that they could find."""
RULE_SETS = (_PHRASES, _PERSONAS, _FOREIGN)
"""All rules over visible text."""


def injections(text: str) -> list[Hit]:
    """Return every hit in a text, the whole of it, in no order.

    Time is linear in the length. A hit that a text about security only quotes is a remark.
    """
    plain = PlainText(text)
    hits = _phrases(plain.text, decode=True)
    if (alike := look_alikes(plain.text)) is not None:
        hits += _disguised(_phrases(alike), hits)
    hits += [_container(one) for one in hidden_texts(plain.text) if instructs(one.body)]
    hits = [_placed(hit, plain) for hit in hits]
    return _judged(text, [*hidden_characters(text, plain.foreign), *hits])


def _judged(text: str, hits: list[Hit]) -> list[Hit]:
    if not hits:
        return hits
    fences = fenced_ranges(text)
    quoting = Quoting(text, fences)
    return [_judge(hit, quoting, fences) for hit in hits]


def _judge(hit: Hit, quoting: Quoting, fences: list[tuple[int, int]]) -> Hit:
    """What stands in a block of code is shown, not hidden; what a text about security quotes is no order."""
    shown = hit.code in _CONTAINERS and is_within(fences, hit.start)
    if hit.kind == "exfiltration":
        quoted = quoting.shows(hit.start, hit.end)
    elif hit.code == "control.token":
        quoted = quoting.is_literal(hit.start, hit.end)
    else:
        quoted = (shown or hit.kind in ("override", "control")) and quoting.quotes(hit.start, hit.end)
    if quoted:
        return replace(hit, remark=True)
    return replace(hit, suspect=True) if shown else hit


_CONTAINERS = frozenset(
    f"hidden.{name}" for name in ("comment", "element", "attribute", "definition", "far_right", "far_down")
)


def _phrases(plain: str, *, decode: bool = False) -> list[Hit]:
    """Return the hits of all rules over a normalised text, each place once though passages overlap.

    `decode`: also of what stands in it encoded.
    """
    dense = DenseText(plain)
    found: dict[Hit, None] = {}
    for passage in dense.passages():
        hits = list(_passage_hits(passage))
        for encoded in decoded_texts(passage) if decode else ():
            hits += _encoded(encoded, hits)
        for hit in hits:
            found[replace(hit, start=dense.place(hit.start), end=dense.place(hit.end))] = None
    return list(found)


def _passage_hits(passage: Passage) -> Iterator[Hit]:
    is_foreign = len(passage.data) != len(passage.text) and not passage.blocks.isdisjoint(_FOREIGN_BLOCKS)
    for rules in (_PHRASES, _FOREIGN) if is_foreign else (_PHRASES,):
        for rule in rules.candidates(passage):
            for start, end in rules.spans(rule, passage):
                yield _hit(rule, passage, start, end)
    if may_describe(passage.words):
        signals = [
            (start, end, rule.signal, rule.weight)
            for rule in _PERSONAS.candidates(passage)
            for start, end in _PERSONAS.spans(rule, passage)
        ]
        for start, end in persona_spans(signals):
            yield _hit(PERSONA_RULES[0], passage, start, end)


def _hit(rule: TextRule, passage: Passage, start: int, end: int) -> Hit:
    return Hit(
        rule.kind, rule.code, passage.character(start), passage.character(end), rule.detail, suspect=rule.suspect
    )


def _disguised(hits: Iterable[Hit], seen: list[Hit]) -> list[Hit]:
    """What is found only once look-alike letters are read as the Latin ones."""
    plainly = {(hit.code, hit.start) for hit in seen}
    detail = "written with letters that look like others"
    return [
        Hit("hidden", "hidden.look_alikes", hit.start, hit.end, f"{hit.detail}, {detail}")
        for hit in hits
        if (hit.code, hit.start) not in plainly
    ]


def _container(hidden: Hidden) -> Hit:
    return Hit("hidden", hidden.code, hidden.start, hidden.end, hidden.detail)


def _encoded(found: Decoded, seen: list[Hit]) -> list[Hit]:
    """At most one hit for a text that stands encoded: what its words are a hit of, or that they instruct."""
    words = PlainText(found.text).text
    plainly = {hit.code for hit in seen if hit.start < found.end and found.start < hit.end}
    for hit in _phrases(words):
        if hit.code not in plainly:
            return [Hit("hidden", f"hidden.{found.code}", found.start, found.end, f"{found.code}: {hit.detail}")]
    if not found.spelled and instructs(words):
        return [Hit("hidden", f"hidden.{found.code}", found.start, found.end, f"{found.code}: an instruction")]
    return []


def _placed(hit: Hit, plain: PlainText) -> Hit:
    start, end = plain.span(hit.start, hit.end)
    return replace(hit, start=start, end=end)
