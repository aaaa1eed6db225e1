"""Amounts as a person reads them: one form for money, and nouns that agree with their number."""

from __future__ import annotations

__all__ = ["counted", "dollars"]


def dollars(usd: float) -> str:
    """Return US dollars with two places, or with four where they are needed: one call costs less than a cent."""
    fine = f"{usd:.4f}"
    return f"${usd:,.2f}" if abs(usd) >= 1 or fine.endswith("00") else f"${fine}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, whose plural takes an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
