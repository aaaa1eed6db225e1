"""What is wrong with a JSON value, in words that tell a model what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

__all__ = ["schema_faults"]

_SHOWN = 8
_VALUE_CHARS = 80


def schema_faults(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return each fault with its place (`findings[0].line: …`), the first few of many; none when it is valid."""
    errors = sorted(Draft202012Validator(dict(schema)).iter_errors(value), key=lambda error: list(map(str, error.path)))
    faults = tuple(f"{_place(error)}: {_said(error)}" for error in errors[:_SHOWN])
    return (*faults, f"and {len(errors) - _SHOWN} more") if len(errors) > _SHOWN else faults


def _place(error: ValidationError) -> str:
    path = ""
    for step in error.absolute_path:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.lstrip(".") or "the input"


def _said(error: ValidationError) -> str:
    """Say the fault; the library's own words quote whole values, which may be long."""
    rule, wanted = error.validator, error.validator_value
    if rule in {"anyOf", "oneOf"} and isinstance(wanted, list) and error.context:
        return _nearest(error, wanted)
    if rule == "enum" and isinstance(wanted, list):
        return f"{_short(error.instance)} is none of {', '.join(map(str, wanted))}"
    if rule == "type":
        return f"{_short(error.instance)} is not of type {wanted}"
    if rule in {"required", "additionalProperties"}:
        return error.message
    return error.message if len(error.message) <= 200 else f"{_short(error.instance)} breaks `{rule}`"


def _nearest(error: ValidationError, forms: list[Any]) -> str:
    """Say what is missing for the form that the value comes closest to; several forms are allowed."""
    by_form: dict[int, list[ValidationError]] = {}
    for inner in error.context or ():
        by_form.setdefault(int(inner.schema_path[0]), []).append(inner)
    number, faults = min(by_form.items(), key=lambda item: len(item[1]))
    title = forms[number].get("title", f"form {number + 1}")
    return f"as {title}, {'; '.join(_said(fault) for fault in faults[:3])}"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _VALUE_CHARS else f"{shown[:_VALUE_CHARS]}…"
