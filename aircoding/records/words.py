"""Amounts as a person reads them: one form for money, and nouns that agree with their number."""

from __future__ import annotations

__all__ = ["counted", "dollars"]


def dollars(usd: float) -> str:
    """Return US dollars: two places from one dollar on, up to four below it, since one call costs less than a cent."""
    if abs(usd) >= 1:
        return f"${usd:,.2f}"
    whole, _, part = f"{usd:.4f}".partition(".")
    return f"${whole}.{part[:2]}{part[2:].rstrip('0')}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, whose plural takes an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
