"""The words by which a text refuses something: one list each, for what stands before, behind and above a thing."""

from __future__ import annotations

import re

__all__ = ["NOT", "REFUSED", "forbids", "forbids_after", "introduces_bad"]

_T = r"['\u2019]t"
NOT = rf"(?:do\s+not|don{_T}|must\s+not|mustn{_T}|should\s+not|shouldn{_T}|shall\s+not|can\s*not|can{_T}|may\s+not)"
"""The verbs that refuse (a pattern)."""
REFUSED = r"(?:forbidden|prohibited|disallowed|banned|not\s+(?:allowed|permitted))"
"""What a refused thing is called (a pattern)."""

_BEFORE = re.compile(
    rf"\b(?:{NOT}|doesn{_T}|{REFUSED}|never|not|avoid|refuse[ds]?|rejects?|blocks|den(?:y|ies)|instead\s+of|rather\s+than|"
    r"prefer\b.{1,80}\bover|without|no)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^[^.;!?]{0,40}?\b(?:is|are|will\s+be|must|should|may|can|gets?)\b[^.;!?]{0,30}?"
    rf"\b(?:not|never|denied|refused|blocked|unavailable|{REFUSED})\b"
    rf"|^[^.;!?]{{0,40}}?\b(?:isn{_T}|aren{_T}|won{_T}|{NOT})\b[^.;!?]{{0,30}}?\b(?:not|be|allowed|available)\b",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    r"^\W*(?:(?:you|we|agents?|workers?)\s+)?(?:(?:must|should|shall|may)\s+)?"
    rf"(?:{NOT}|don['\u2019]?ts?|never|not|avoid|bad|wrong|incorrect|anti-?patterns?|{REFUSED}|"
    r"(?:common\s+)?(?:mistakes|pitfalls)|what\s+not\s+to|things\s+(?:to\s+avoid|not\s+to))\b"
    rf"|\b(?:{REFUSED}|off[\s-]limits)\b[^.]{{0,20}}$"
    r"|[\u274c\u2717\u2718\U0001f6ab]",
    re.IGNORECASE,
)


def forbids(words: str) -> bool:
    """Whether the words before a thing forbid it."""
    return _BEFORE.search(words) is not None


def forbids_after(words: str) -> bool:
    """Whether the words behind a thing forbid it (`is not allowed`)."""
    return _AFTER.match(words) is not None


def introduces_bad(lead: str) -> bool:
    """Whether a heading or a lead says that what follows is not to be done."""
    return _ABOVE.search(lead) is not None
