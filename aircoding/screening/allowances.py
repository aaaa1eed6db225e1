"""What a person allowed although it was found: one rule in one version of one file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from aircoding.records.ids import Digest
from aircoding.records.segments import Finding

__all__ = ["Allowance", "lift"]


@dataclass(frozen=True, slots=True)
class Allowance:
    """`code` no longer blocks in the source `uri` while that has the digest `digest`, of its raw bytes."""

    uri: str
    digest: Digest
    code: str


def lift(
    findings: Iterable[Finding], allowed: Collection[Allowance], *, uri: str, digest: Digest
) -> tuple[Finding, ...]:
    """Return the findings of a source, those that are allowed as warnings that say so."""
    return tuple(
        replace(one, blocks=False, detail=f"{one.detail}, allowed by you")
        if one.blocks and Allowance(uri, digest, one.code) in allowed
        else one
        for one in findings
    )
