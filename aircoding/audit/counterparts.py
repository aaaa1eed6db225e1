"""What of a file as it is now stands where a recorded text stood: like is compared with like. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.audit.references import Referent
from aircoding.rules.front_matter import parse_front_matter
from aircoding.rules.sections import split_sections

__all__ = ["Counterpart", "counterpart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """The part of a file that answers to a recorded text; `what` names it, `same` says that the words are those."""

    text: str
    what: str
    same: bool = False


def counterpart(one: Referent, file: str) -> Counterpart:
    """Return the part of a file (masked as prompts are) that a recorded text of that file would be now.

    A text that still stands in the file is itself; else a section is the one of that name, the body of a file with a
    header is the body, lines are those lines, and of what was taken only in short it is the whole file.
    """
    held = (one.text or "").strip()
    if held and held in file and not one.short:
        return Counterpart(text=one.text or "", what="this text", same=True)
    if not one.short and (part := (one.segment_id or "").rpartition("@")[0].partition("#")[2]):
        header = parse_front_matter(file)
        section = next((each for each in split_sections(header.body) if each.slug == part), None)
        if section is not None:
            return Counterpart(text=section.text, what=f"section {part}")
        return Counterpart(text=header.body, what="all below the header" if header.present else "the whole file")
    lines = file.splitlines()
    if one.short or one.start_line is None or one.end_line is None or one.start_line > len(lines):
        return Counterpart(text=file, what="the whole file")
    what = f"lines {one.start_line}-{min(one.end_line, len(lines))} of {len(lines)}"
    return Counterpart(text="\n".join(lines[one.start_line - 1 : one.end_line]), what=what)
