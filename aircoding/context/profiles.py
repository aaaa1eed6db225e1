"""What of a candidate's layer a role retrieves, and what a mode leaves out."""

from __future__ import annotations

from aircoding.records.layers import Layer, Mode, SegmentKind, Trust
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment

__all__ = ["ALWAYS", "default_mode", "mode_excerpt", "mode_refusal", "profile_refusal"]

ALWAYS = frozenset({Layer.L0, Layer.L1, Layer.L2, Layer.L9})
"""Every role carries these, whatever its profile retrieves (DESIGN section 8)."""

_MUST_KEEP = frozenset({Layer.L0, Layer.L1, Layer.L2, Layer.L5, Layer.L9})
_NOT_MINIMAL = frozenset({SegmentKind.MEMORY, SegmentKind.SKILLS_INDEX})


def default_mode(profile: Profile) -> Mode:
    """Return the mode of a role whose caller names none: sub-agents and scheduled work take the minimal one."""
    return Mode.FULL if profile.user_facing else Mode.MINIMAL


def profile_refusal(profile: Profile, segment: Segment) -> str | None:
    """Return why the role does not retrieve the segment, or None when it does."""
    if segment.layer in ALWAYS:
        return None
    selection = profile.layers.get(segment.layer)
    if selection is None:
        return f"the {profile.role} profile retrieves no {segment.layer}"
    if segment.kind in {SegmentKind.NOTICE, SegmentKind.CONTEXT}:
        return None  # it is about a text that the role had; a plugin was told the role when it gave its text
    if selection.kinds and segment.kind not in selection.kinds:
        kinds = ", ".join(kind.value for kind in selection.kinds)
        return f"of {segment.layer} the {profile.role} profile retrieves {kinds}, not {segment.kind.value}"
    if (
        segment.kind is SegmentKind.RULE
        and selection.rule_kinds
        and segment.rule_kind is not None
        and segment.rule_kind not in selection.rule_kinds
    ):
        kinds = " and ".join(selection.rule_kinds)
        return f"the {profile.role} profile retrieves {kinds} rules, this is a {segment.rule_kind} rule"
    return None


def mode_refusal(mode: Mode, segment: Segment) -> str | None:
    """Return why the mode leaves the segment out, or None when it does not (DESIGN section 2, modes)."""
    if mode is Mode.FULL or segment.required:
        return None
    if mode is Mode.NONE:
        return None if segment.layer in _MUST_KEEP else f"mode none keeps {', '.join(sorted(_MUST_KEEP))} only"
    if segment.kind in _NOT_MINIMAL:
        return f"mode minimal leaves out {segment.kind.value}"
    if _is_own_identity(segment) and segment.excerpt is None:
        return "mode minimal keeps one line of identity, and this one has no such line"
    return None


def mode_excerpt(mode: Mode, segment: Segment) -> str | None:
    """Return the one line that the mode keeps of a segment; None where it takes the segment as it is."""
    if mode is not Mode.MINIMAL or segment.required or not _is_own_identity(segment):
        return None
    return segment.excerpt if segment.excerpt != segment.text else None


def _is_own_identity(segment: Segment) -> bool:
    return segment.kind is SegmentKind.IDENTITY and segment.trust is not Trust.BUILTIN
