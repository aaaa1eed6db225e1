"""Replays as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aircoding.cli.output import visible_line

if TYPE_CHECKING:
    from aircoding.app.questions.replays import Replay

__all__ = ["replay_text"]


def replay_text(replays: Sequence[Replay], *, verbose: bool) -> str:
    """Return whether rebuilt requests equal the recorded ones; without `verbose` only those that do not are named."""
    equal = sum(1 for one in replays if one.equal)
    redacted = sum(1 for one in replays if one.redacted)
    shown = [one for one in replays if verbose or not one.equal]
    lines = [f"{one.manifest_id}  {_state(one)}" for one in shown]
    lines.append(f"{equal} of {len(replays)} equal to the recorded digest")
    if redacted:
        lines.append(f"{redacted} redacted: not byte for byte, secrets were masked before the run was taken in")
    return "\n".join(lines)


def _state(one: Replay) -> str:
    if one.why:
        return f"NOT REBUILT  {visible_line(one.why)}"
    return f"{'equal' if one.equal else 'redacted' if one.redacted else 'DIFFERENT'}  {one.digest}"
