# SPDX-License-Identifier: Apache-2.0
"""Money as whole cents, so that sums are exact."""


def cents(text: str) -> int:
    """Return the cents of an amount such as `12.50`."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0")[:2] or 0)


def amount(value: int) -> str:
    """Return cents as an amount such as `12.50`."""
    return f"{value // 100}.{value % 100:02d}"
