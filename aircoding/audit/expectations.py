"""Whether a view is as a context test expects, and why not. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aircoding.audit.context_tests import ContextTest, Expected, ExpectedOmission
from aircoding.audit.subjects import matches
from aircoding.audit.views import LeftOut, Part, View
from aircoding.records.source_names import lines_of, plain_uri

__all__ = ["Failure", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One expectation that does not hold: its line in the test file, what is wrong, and why it came so."""

    line: int
    message: str
    why: tuple[str, ...] = ()


def judge(test: ContextTest, view: View, candidates: Mapping[str, str]) -> tuple[Failure, ...]:
    """Return what a view fails of a test; its golden is another matter.

    Args:
        test: what is expected.
        view: what is seen.
        candidates: the text of everything that was considered, by its place.
    """
    found = [_absent(one, view, candidates) for one in test.must_contain]
    found += [_present(one, view) for one in test.must_not_contain]
    found += [_not_omitted(one, view) for one in test.omitted]
    if test.max_tokens is not None and view.tokens > test.max_tokens:
        layers = ", ".join(f"{layer} {tokens:,}" for layer, tokens in view.layer_tokens.items() if tokens)
        largest = sorted(view.parts, key=lambda part: -part.tokens)[:3]
        why = (f"by layer: {layers}", *(f"{_shown(part)} has {part.tokens:,}" for part in largest))
        over = f"{view.tokens:,} tokens, {view.tokens - test.max_tokens:,} more than `max_tokens` {test.max_tokens:,}"
        found.append(Failure(line=test.line, message=over, why=why))
    return tuple(one for one in found if one is not None)


def _named(expected: Expected | ExpectedOmission, uri: str, rule_id: str | None, place: str) -> bool:
    """Whether an expectation names a source: a file by its path from the root alone, a rule by any of its names."""
    if expected.kind == "file":
        return plain_uri(uri) == expected.value
    return matches(expected.value, uri, rule_id, f"{place}@")


def _in(expected: Expected, view: View) -> list[Part]:
    if expected.kind in ("file", "rule"):
        return [one for one in view.parts if _named(expected, one.uri, one.rule_id, one.place)]
    return [one for one in view.parts if _stands(expected, one.text)]


def _stands(expected: Expected, text: str) -> bool:
    if expected.kind == "regex":
        return re.search(expected.value, text, re.MULTILINE) is not None
    # A tool stands in the prompt as JSON, in which a quote or the end of a line is written otherwise.
    return expected.value in text or json.dumps(expected.value, ensure_ascii=False)[1:-1] in text


def _absent(expected: Expected, view: View, candidates: Mapping[str, str]) -> Failure | None:
    if expected.kind in ("text", "regex"):
        if any(_stands(expected, block) for block in view.blocks):
            return None
        holders = {place for place, text in candidates.items() if _stands(expected, text)}
        out = [one for one in view.left_out if one.place in holders]
        never = "no source that was considered holds it"
    else:
        if _in(expected, view):
            return None
        out = [one for one in view.left_out if _named(expected, one.uri, one.rule_id, one.place)]
        never = "it was never considered: no source has that name"
    why = tuple(_reason(one) for one in out[:5]) or (never,)
    return Failure(line=expected.line, message=f"{expected.shown} is missing", why=why)


def _present(expected: Expected, view: View) -> Failure | None:
    parts = _in(expected, view)
    if not parts and (expected.kind in ("file", "rule") or not any(_stands(expected, block) for block in view.blocks)):
        return None
    why = tuple(f"it is in from {_shown(part)}, by {part.by}" for part in parts[:5])
    return Failure(line=expected.line, message=f"{expected.shown} may not be in, and is", why=why)


def _not_omitted(expected: ExpectedOmission, view: View) -> Failure | None:
    named = f"{expected.kind} {expected.value}"
    out = [one for one in view.left_out if _named(expected, one.uri, one.rule_id, one.place)]
    reason = expected.reason
    if any(reason is None or one.reason == reason for one in out):
        return None
    if out:
        message = f"{named} is left out, but not for `{reason}`"
        return Failure(line=expected.line, message=message, why=tuple(map(_reason, out[:5])))
    parts = [one for one in view.parts if _named(expected, one.uri, one.rule_id, one.place)]
    why = tuple(f"it is in from {_shown(part)}, by {part.by}" for part in parts[:5])
    return Failure(
        line=expected.line,
        message=f"{named} should be left out, and is {'in' if parts else 'unknown'}",
        why=why or ("it was never considered: no source has that name",),
    )


def _shown(part: Part) -> str:
    return lines_of(part.uri, part.start_line, part.end_line)


def _reason(one: LeftOut) -> str:
    """Return why a candidate is out, where that was decided, and what would change it."""
    parts: Iterable[str] = (
        f"{plain_uri(one.uri)} is {one.outcome} ({one.reason}): {one.detail}",
        f"decided at {plain_uri(one.by)}" if one.by and one.by != one.uri else "",
        f"to change it: {one.remedy}" if one.remedy else "",
    )
    return "; ".join(part for part in parts if part)
