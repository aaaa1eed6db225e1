"""Replays as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aircoding.app.questions.replays import Replay

__all__ = ["replay_text"]


def replay_text(replays: Sequence[Replay]) -> str:
    """Return whether rebuilt requests equal the recorded ones."""
    equal = sum(1 for one in replays if one.equal)
    redacted = sum(1 for one in replays if one.redacted)
    lines = [f"{one.manifest_id}  {_word(one)}  {one.digest}" for one in replays]
    lines.append(f"{equal} of {len(replays)} equal to the recorded digest")
    if redacted:
        lines.append(f"{redacted} redacted: not byte for byte, secrets were masked before the run was taken in")
    return "\n".join(lines)


def _word(one: Replay) -> str:
    return "equal" if one.equal else "redacted" if one.redacted else "DIFFERENT"
