"""A secret in a text: where it stands and what it is called in its place."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SecretSpan"]


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret in a text, by character offsets; `kind` is of `[a-z0-9_]`, at most 32 characters."""

    start: int
    end: int
    kind: str
