"""How much of each foreign rule file is taken, so that a chain of them stays within a limit (E32, E33).

The nearest file is funded first, then outward; what is rendered stays from the root to the leaf. A file's part is
what the hungriest folder below leaves it: it depends on the project alone, never on the task, so that every worker
of a run gets the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aircoding.rules.tree import chain

__all__ = ["MAX_RULE_BYTES", "Claimant", "allotments"]

MAX_RULE_BYTES = 262_144
"""What of one rule file is taken (256 KiB, five times the largest of three public projects); the rest is listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """A file that wants bytes, and the folder that it speaks for; of one folder the first is funded first."""

    path: str
    folder: str
    size_bytes: int


def allotments(claimants: Iterable[Claimant], max_bytes: int) -> Mapping[str, int]:
    """Return how many bytes of each file are taken."""
    by_folder: dict[str, list[Claimant]] = {}
    for claimant in claimants:
        by_folder.setdefault(claimant.folder, []).append(claimant)
    taken_below: dict[str, int] = {}
    granted: dict[str, int] = {}
    for folder in sorted(by_folder, key=lambda name: (-_depth(name), name)):
        left = max(0, max_bytes - taken_below.get(folder, 0))
        for claimant in by_folder[folder]:
            granted[claimant.path] = min(claimant.size_bytes, left, MAX_RULE_BYTES)
            left -= granted[claimant.path]
        taken = max_bytes - left
        for above in chain(f"{folder}/_")[:-1] if folder else ():
            taken_below[above] = max(taken_below.get(above, 0), taken)
    return granted


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0
