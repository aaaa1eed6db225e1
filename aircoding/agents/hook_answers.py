"""Read what a hook returned: any value at all becomes an answer, or a reason why it is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aircoding.agents.tools.workbench import in_utf8
from aircoding.records.hooks import MOST_REASON_CHARS, MOST_TEXT_CHARS, HookAnswer, HookEvent
from aircoding.records.layers import Layer
from aircoding.records.policy import Effect

__all__ = ["ANSWER_KEYS", "MOST_ANSWER_CHARS", "HookAnswerError", "cut_at_line", "read_answer"]

MOST_ANSWER_CHARS = 1_000_000
"""A text beyond this is taken for a mistake and not used at all."""

ANSWER_KEYS: Mapping[HookEvent, tuple[str, ...]] = {
    HookEvent.CONTEXT: ("context",),
    HookEvent.BEFORE_PROMPT_BUILD: ("prepend_context", "system_prompt_addition"),
    HookEvent.PRE_LLM_CALL: ("context",),
    HookEvent.INSTRUCTIONS_LOADED: (),
    HookEvent.PRE_TOOL_USE: ("decision", "reason", "additional_context"),
    HookEvent.POST_TOOL_USE: ("additional_context",),
}
"""What an answer may hold; a plain text stands for the one that holds text, of two for the first."""
_SPELLINGS = {
    "prependContext": "prepend_context",
    "systemPromptAddition": "system_prompt_addition",
    "additionalContext": "additional_context",
}
_PLAIN = {
    HookEvent.CONTEXT: "context",
    HookEvent.BEFORE_PROMPT_BUILD: "prepend_context",
    HookEvent.PRE_LLM_CALL: "context",
    HookEvent.PRE_TOOL_USE: "additional_context",
    HookEvent.POST_TOOL_USE: "additional_context",
}
_DECISIONS = {"allow": Effect.ALLOW, "ask": Effect.ASK, "deny": Effect.DENY}


class HookAnswerError(ValueError):
    """A value is no answer to its event; the message says why."""


def read_answer(event: HookEvent, value: Any, *, layer: Layer = Layer.L3) -> HookAnswer:
    """Return what a hook said. `None`, an empty object and an empty text say nothing.

    Args:
        event: on which it was asked.
        value: what it returned, any JSON value or worse.
        layer: where the text of a context source stands.

    Raises:
        HookAnswerError: the value is no answer to this event.
    """
    given = _as_object(event, value)
    if event is HookEvent.INSTRUCTIONS_LOADED:
        return HookAnswer(reason="this event only observes: the answer was not used" if given else "")
    places: dict[str, Layer | None] = {
        "prepend_context": Layer.L4,
        "system_prompt_addition": Layer.L3,
        "context": layer if event is HookEvent.CONTEXT else None,
        "additional_context": None,
    }
    texts = tuple((place, text) for key, place in places.items() if (text := _text(key, given.get(key))).strip())
    reason = _text("reason", given.get("reason")).strip()[:MOST_REASON_CHARS]
    return HookAnswer(texts=texts, decision=_decision(given.get("decision")), reason=reason)


def _as_object(event: HookEvent, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, str):
        return {_PLAIN.get(event, "text"): value} if value.strip() else {}
    if not isinstance(value, Mapping):
        raise HookAnswerError(f"it returned {_kind(value)}, not an object, a text or nothing")
    given: dict[str, Any] = {}
    for key, item in value.items():
        name = _SPELLINGS.get(key, key) if isinstance(key, str) else key
        if event is not HookEvent.INSTRUCTIONS_LOADED and name not in ANSWER_KEYS[event]:
            known = ", ".join(ANSWER_KEYS[event])
            raise HookAnswerError(f"it returned the key {_shown(key)}, which {event.value} does not know ({known})")
        if name in given:
            raise HookAnswerError(f"it returned {_shown(name)} twice, in two spellings")
        given[name] = item
    return given


def _text(key: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise HookAnswerError(f"its {key} is {_kind(value)}, not a text")
    if len(value) > MOST_ANSWER_CHARS:
        raise HookAnswerError(f"its {key} has {len(value)} characters, more than {MOST_ANSWER_CHARS}")
    if "\0" in value:
        raise HookAnswerError(f"its {key} holds a zero byte")
    if in_utf8(value) != value:
        raise HookAnswerError(f"its {key} holds half of a surrogate pair, which UTF-8 cannot hold")
    return value


def _decision(value: Any) -> Effect | None:
    if value is None:
        return None
    if isinstance(value, str) and value in _DECISIONS:
        return _DECISIONS[value]
    raise HookAnswerError(f"its decision is {_shown(value)}, not allow, ask or deny")


def cut_at_line(text: str, most_chars: int = MOST_TEXT_CHARS) -> tuple[str, int]:
    """Return the first lines of a text that fit, and how many characters were left out; one long line is cut inside."""
    if len(text) <= most_chars:
        return text, 0
    end = text.rfind("\n", 0, most_chars + 1)
    kept = text[: end if end > 0 else most_chars]
    return kept, len(text) - len(kept)


def _kind(value: Any) -> str:
    return {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}.get(
        type(value), f"a {type(value).__name__}"
    )


def _shown(value: Any) -> str:
    """Name a value that may be anything; even its `repr` may fail."""
    try:
        return in_utf8(repr(value))[:80]
    except Exception:  # noqa: BLE001 - a foreign object's own code
        return f"a {type(value).__name__}"
