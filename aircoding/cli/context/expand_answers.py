"""What references stand for, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aircoding.cli.output import visible_line
from aircoding.records.source_names import lines_of

if TYPE_CHECKING:
    from aircoding.app.questions.expansions import Expansion, Now

__all__ = ["expand_text"]


def expand_text(found: Sequence[Expansion]) -> str:
    """Return each text below a line that says what it is, where it stood, and in which version."""
    return "\n".join(line for one in found for line in _lines(one))


def _lines(one: Expansion) -> Iterator[str]:
    what = one.referent
    place = lines_of(what.uri, what.start_line, what.end_line)
    where = f"  in {one.manifest_id}" if one.manifest_id else ""
    yield f"--- {visible_line(place)}  {what.digest[:12]}{where}"
    if what.text is None:
        yield f"the text is no longer kept; its sha256 was {what.text_digest}"
    else:
        if what.short:
            yield "(only this short form was taken; --now reads the source as it is)"
        yield what.text.removesuffix("\n")
    if one.now is not None:
        yield from _now(one.now, what.text)


def _now(now: Now, before: str | None) -> Iterator[str]:
    if now.problem is not None:
        yield f"--- now: {visible_line(now.problem)}"
    elif now.equal:
        yield f"--- now: the source is the same ({now.digest[:12]})"
        if before is None and now.text is not None:
            yield now.text.removesuffix("\n")
    elif now.same_text:
        yield f"--- now: the source is another ({now.digest[:12]}), and this text stands in it as it was"
    else:
        yield f"--- now: the source is another ({now.digest[:12]}); {visible_line(now.part)}:"
        yield (now.text or "").removesuffix("\n")
