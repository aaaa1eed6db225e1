"""Whether two directives contradict: opposite polarity on one subject, or another value where there is one only.

Said of general words, so it errs on the side of silence: another condition, another part of the project or a narrower
purpose make two directives different. Two things for one end live side by side, unless they are known alternatives
(`choices`), or two numbers or versions of one thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from aircoding.rules.choices import MANNERS, choice_of, kind_of, normal
from aircoding.rules.directives import Directive

__all__ = ["Key", "Sides", "agree", "contradiction", "subject_sides"]

Key = tuple[str, ...]
"""A subject on which directives can contradict."""

Sides = Mapping[Key, str]
"""The subjects of a directive, and on which side of each it stands: two can contradict only from different sides."""

_EVERYWHERE = re.compile(r"(?:every|each|all)(?: public)? (?:function|method|class|file|module)(?:s|es)?")
_AROUND = re.compile(r"^(?:in|for) |(?<=\S) (?:file|code)$")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_VERSIONED = re.compile(r"(?:python|node|node\.js|java|go|ruby|php|typescript|react|django|rust)\s+\d")


def contradiction(one: Directive, other: Directive, *, one_text: bool, covers: bool = False) -> str | None:
    """Return the subject on which two directives contradict, or None.

    Args:
        one: a directive.
        other: another one.
        one_text: whether both stand in one file: what an author writes side by side is mostly meant so.
        covers: whether `one` holds for every part of the project (a wish of the user), so that it meets `other` also
            where that stands under a heading of its own.
    """
    if _condition(one) != _condition(other):
        return None
    if one.areas != other.areas and not (covers and not one.areas):
        return None
    if one.verb.wants != other.verb.wants:
        return _opposed(one, other)
    if not one.verb.wants:
        return None
    return (
        _passed_over(one, other)
        or _passed_over(other, one)
        or _another_manner(one, other)
        or _another_value(one, other, one_text=one_text)
    )


def subject_sides(directive: Directive) -> Sides:
    """Return the subjects of a directive with its sides.

    A wanted thing is met by what refuses it, by what passes it over, and by another thing for the same end where that
    end takes one only.
    """
    thing, end = _key(directive)
    sides: dict[Key, str] = {("thing", thing, end): "wants" if directive.verb.wants else "refuses"}
    if directive.verb.wants and _is_everywhere(directive):
        sides["thing", thing, ""] = "wants"
    if _manner(directive) is not None:
        sides["in", thing] = normal(directive.purpose)
    if directive.uses and directive.verb.wants:
        sides["over", thing] = "wants"
        if choice_of(thing, end) is not None:
            sides["choice", end] = thing
        elif end and kind_of(thing) is not None:
            sides["kind", str(kind_of(thing)), end] = thing
        elif _NUMBER.search(thing) is not None and (end or _VERSIONED.match(thing)):
            sides["number", _NUMBER.sub("#", thing), end] = thing
    if directive.over is not None:
        sides["over", _split_purpose(normal(directive.over))[0]] = "passes over"
    return sides


def agree(one: Directive, other: Directive) -> bool:
    """Whether two directives ask the same."""
    same_condition = _condition(one) == _condition(other)
    return same_condition and one.verb.wants == other.verb.wants and _key(one) == _key(other)


def _key(directive: Directive) -> tuple[str, str]:
    """Return (thing, purpose) in one spelling; a purpose that the thing implies is its choice's name."""
    thing, purpose = normal(directive.thing), normal(directive.purpose)
    choice = choice_of(thing, purpose)
    return (thing, choice[0]) if choice is not None else (thing, purpose)


def _opposed(one: Directive, other: Directive) -> str | None:
    """Opposite polarity: the same thing for the same end."""
    if one.over or other.over or (_key(one) != _key(other) and not (_meets_all(one, other) or _meets_all(other, one))):
        return None
    return f"{one.thing} for {one.purpose}" if one.purpose else one.thing


def _meets_all(wanting: Directive, refusing: Directive) -> bool:
    """Whether a thing is wanted everywhere (`Add comments to every function`) that is refused as such."""
    if refusing.purpose or not wanting.verb.wants or not _is_everywhere(wanting):
        return False
    return _key(wanting)[0] == _key(refusing)[0]


def _is_everywhere(directive: Directive) -> bool:
    return _EVERYWHERE.fullmatch(directive.purpose) is not None


def _condition(directive: Directive) -> str:
    """Return when a directive holds, in one spelling: `in Python code`, `for Python` and `Python:` say the same."""
    return _AROUND.sub("", normal(directive.condition))


def _passed_over(one: Directive, other: Directive) -> str | None:
    """`Prefer A over B` and a directive that wants B."""
    if one.over is None or not other.uses:
        return None
    over, end = _split_purpose(normal(one.over))
    wanted, purpose = _key(other)
    if over != wanted or wanted == _key(one)[0]:
        return None
    mine = normal(one.purpose) or end
    plain = (
        purpose == mine
        or _says_no_more(purpose, normal(one.thing), over)
        or _says_no_more(mine, normal(one.thing), over)
    )
    known = choice_of(over, "")
    if plain or (known is not None and known[0] == purpose and mine in ("", purpose)):
        return f"{one.thing} or {other.thing}"
    return None


def _split_purpose(text: str) -> tuple[str, str]:
    thing, found, purpose = text.partition(" for ")
    return (thing, purpose) if found else (text, "")


def _says_no_more(purpose: str, *things: str) -> bool:
    """Whether a purpose only repeats what its things are (`os.path for paths`)."""
    words = purpose.split()
    return bool(words) and any(word in thing for word in words for thing in things) and len(words) <= 2


def _another_value(one: Directive, other: Directive, *, one_text: bool) -> str | None:
    """Two things are to be used for one end that takes one only."""
    if not (one.uses and other.uses):
        return None
    (mine, end), (yours, other_end) = _key(one), _key(other)
    if mine == yours or end != other_end or _holds(mine, yours):
        return None
    choices = choice_of(mine, end), choice_of(yours, end)
    if choices[0] is not None and choices[1] is not None:
        return (end or one.subject) if choices[0][0] == choices[1][0] else None
    if _NUMBER.sub("#", mine) == _NUMBER.sub("#", yours):
        return (end or mine) if end or _VERSIONED.match(mine) else None
    if not end or one_text:
        return None
    return end if kind_of(mine) is not None and kind_of(mine) == kind_of(yours) else None


def _another_manner(one: Directive, other: Directive) -> str | None:
    """The same is done in one language, or time zone, or another."""
    manners = _manner(one), _manner(other)
    if None in manners or normal(one.thing) != normal(other.thing) or one.subject == other.subject:
        return None
    return one.thing if manners[0] == manners[1] else None


def _manner(directive: Directive) -> frozenset[str] | None:
    if directive.link != "in":
        return None
    return next((group for group in MANNERS if normal(directive.purpose) in group), None)


def _holds(mine: str, yours: str) -> bool:
    """Whether one phrase holds the other: `pytest` and `pytest with fixtures` say nothing against each other."""
    return set(mine.split()) <= set(yours.split()) or set(yours.split()) <= set(mine.split())
