"""What a role's context holds (DESIGN section 8); parsed from the front matter of its prompt file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aircoding.records.layers import Layer, SegmentKind

__all__ = ["LayerSelection", "Profile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSelection:
    """What of one layer a role retrieves.

    `kinds` names the kinds of segment that are let in (empty: all of the layer). `rule_kinds`
    narrows rules to `project` or `toolchain` (empty: both). `detail` is `full`, `relevant`
    (excerpts and references that the task names), `summary`, or `every` (of L3 alone: all rules,
    whatever their paths and tags).
    """

    detail: str = "full"
    kinds: tuple[SegmentKind, ...] = ()
    rule_kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One role: who it is and what its prompt may hold.

    `layers` has an entry for each layer that the role retrieves; L2 in short, its own turns and
    L9 are always there. `shares` are fixed parts of the session budget by layer, each 0 to 1 and
    at most 1 in sum. `writes` is `none`, `area` (the task's write area), or `plan`.
    """

    role: str
    title: str
    layers: Mapping[Layer, LayerSelection]
    writes: str
    user_facing: bool
    tool_categories: tuple[str, ...]
    result_schema: str
    shares: Mapping[Layer, float]
    discipline: str
    prompt: str
    uri: str
