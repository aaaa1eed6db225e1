"""Turn what a plugin's code hands over into values of our own, in the plugin's thread.

An object of a plugin can raise, leave or hang in any of its methods, also in those of a text or of an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aircoding.records.hooks import PluginFailedError

__all__ = ["in_words", "plain_text", "plain_value"]

_MOST_VALUES = 100_000
_MOST_DEPTH = 100


def plain_text(value: str) -> str:
    """Return a text without the class that a plugin gave it."""
    return str.__str__(value)


def plain_value(value: Any) -> Any:
    """Return a copy that holds only what JSON has, in Python's own types.

    Raises:
        PluginFailedError: it holds something else, too much, or a key twice. What the value's own code raises gets out.
    """
    return _Copier().copy(value, 0)


@dataclass(slots=True)
class _Copier:
    """Copies one value; what never ends is cut off by its size."""

    count: int = 0

    def copy(self, value: Any, depth: int) -> Any:
        self.count += 1
        if self.count > _MOST_VALUES or depth > _MOST_DEPTH:
            raise PluginFailedError(f"its answer is deeper than {_MOST_DEPTH}, or of more than {_MOST_VALUES} values")
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return plain_text(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, list | tuple):
            return [self.copy(item, depth + 1) for item in value]
        found = f"a {type(value).__name__}"
        raise PluginFailedError(f"its answer holds {found}" if depth else f"it returned {found}")

    def _object(self, value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        copied: dict[Any, Any] = {}
        for key, item in value.items():
            name = self.copy(key, depth + 1)
            if isinstance(name, list | dict) or name in copied:
                raise PluginFailedError(f"its answer holds the key {str(name)[:80]} twice, or it is no key")
            copied[name] = self.copy(item, depth + 1)
        return copied


def in_words(error: BaseException) -> str:
    """Say an error that a plugin raised; one whose own words fail is known by its name."""
    try:
        name = "" if type(error) is PluginFailedError else f"{plain_text(type(error).__name__)}: "
    except BaseException:  # noqa: BLE001 - a foreign object's own code
        name = "an error: "
    try:
        said = plain_text(str(error))
    except BaseException:  # noqa: BLE001 - the same
        said = ""
    return f"{name}{said}".rstrip(": ")
