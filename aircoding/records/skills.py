"""A text of a skill as it crosses from the shelf to the tool that gives it to a model."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.records.ids import Digest
from aircoding.records.layers import Trust

__all__ = ["SkillText"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    """The body of a skill, or one of its own files. `start_line` is where the text begins in the file at `uri`.

    `digest` is of the raw bytes of the file.
    `files` names what else lies in the skill's folder, one level deep, where the text is the body.
    """

    uri: str
    trust: Trust
    text: str
    digest: Digest
    start_line: int = 1
    files: tuple[str, ...] = ()
