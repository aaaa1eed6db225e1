"""Where tests keep the compiled rules of the secret scanner: each home of a test would compile them anew."""

from __future__ import annotations

from pathlib import Path

__all__ = ["RULE_CACHE"]

RULE_CACHE = Path.home() / ".cache" / "aircoding-tests" / "kingfisher"
"""Of the person who runs the tests; read before any test sets a home of its own."""
