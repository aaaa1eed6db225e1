"""A choice of tools, in which Claude Code may be called `claude` and `claude-code` alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

__all__ = ["ToolChoice"]

_ALIKE = ("claude", "claude-code")


class ToolChoice(click.Choice[str]):
    """Takes both names of Claude Code and returns the one that is among the choices."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices)
        self._own = next((name for name in _ALIKE if name in choices), None)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the choice."""
        meant = self._own if value in _ALIKE and self._own is not None else value
        return super().convert(meant, param, ctx)
