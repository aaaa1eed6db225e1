"""What a reader of files says about them: never raised, always shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Diagnostic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One remark on one place. `code` is stable (`rule.front_matter.unclosed`), `hint` is the way out."""

    severity: Literal["error", "warning", "info"]
    code: str
    message: str
    uri: str
    line: int | None = None
    hint: str = ""
