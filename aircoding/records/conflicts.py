"""A conflict: two segments, or a segment and a policy, that contradict (DESIGN section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Conflict", "ConflictKind", "JudgedConflict", "NamedRule", "Route", "Ruling", "Suspicion"]


class ConflictKind(StrEnum):
    """The five kinds."""

    POLICY = "policy"
    ARCHITECTURE = "architecture"
    USER_RULE = "user_rule"
    EVIDENCE = "evidence"
    PROVIDER = "provider"


class Route(StrEnum):
    """Who handles a conflict, besides the coordinating agent, who always receives it."""

    MAIN = "main"
    ARCHITECTURE_DESIGNER = "architecture_designer"
    EXPERIENCE_MINER = "experience_miner"
    PROVIDER_ROUTING = "provider_routing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """One conflict. `parties` are segment ids or policy lines (`uri:line`).

    `ruling` says in words what holds, `winner` is the party that holds (None: nobody). `state`
    is `open` or `ruled`; an open blocking conflict stops its task.
    """

    conflict_id: str
    kind: ConflictKind
    parties: tuple[str, ...]
    subject: str
    detail: str
    ruling: str
    winner: str | None
    route: Route
    blocking: bool
    state: str = "ruled"
    ruled_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a person ruled on a conflict: why (`ruling`), and the party that holds (None: nobody's).

    `before_run` says that it stood when the run began: only then may it change text that all workers of the run share.
    """

    conflict_id: str
    ruling: str
    winner: str | None
    ruled_by: str
    ruled_at: str
    before_run: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRule:
    """Words of a rule and where they stand: `place` is the uri of the rule's source, without digest and lines."""

    place: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Two rules of which a model says that they contradict: on what, and why.

    It is no conflict by itself: code makes it one where both rules stand in a prompt and nothing else decides.
    """

    one: NamedRule
    other: NamedRule
    subject: str
    why: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedConflict:
    """A suspicion that was let in, and the conflict that it made."""

    suspicion: Suspicion
    conflict: Conflict
