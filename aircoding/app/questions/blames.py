"""Whose each line of a recorded prompt is."""

from __future__ import annotations

from pathlib import Path

from aircoding.app.questions.assemblies import load_context
from aircoding.audit.blame import BlameLine, blame
from aircoding.audit.texts import block_pointers
from aircoding.errors import NotFoundError
from aircoding.records.manifest import AssembledContext

__all__ = ["blame_context", "blame_recorded"]


def blame_recorded(
    start: Path, given: str, *, block: str | None = None, layer: str | None = None, source: str | None = None
) -> tuple[BlameLine, ...]:
    """Return the lines of a recorded prompt with their owners.

    Args:
        start: a folder of the project.
        given: an assembly, by its id or another selector (`app.questions.selectors`).
        block: the number of a block in request order (from 1), or its JSON pointer; None: all.
        layer: only lines that a segment of this layer has a part of.
        source: only lines of this source: its uri, a path, or the end of a path after `/`.

    Raises:
        NotFoundError: there is no such assembly, or it has no such block.
    """
    return blame_context(load_context(start, given), block=block, layer=layer, source=source)


def blame_context(
    context: AssembledContext, *, block: str | None = None, layer: str | None = None, source: str | None = None
) -> tuple[BlameLine, ...]:
    """Return the lines of a prompt with their owners, as `blame_recorded` does."""
    lines = blame(context, block=_pointer(context, block) if block is not None else None)
    return tuple(line for line in lines if _owned(line, layer, source))


def _pointer(context: AssembledContext, block: str) -> str:
    pointers = block_pointers(context)
    if block.isdecimal() and 1 <= int(block) <= len(pointers):
        return pointers[int(block) - 1]
    if any(f"{block}/".startswith(f"{one}/") or one.startswith(f"{block}/") for one in pointers):
        return block
    hint = f"it has the blocks 1 to {len(pointers)}; `aircoding context show --prompt` prints their pointers"
    raise NotFoundError(f"the prompt has no block {block}", hint=hint)


def _owned(line: BlameLine, layer: str | None, source: str | None) -> bool:
    if layer is None and source is None:
        return True
    records = (owner.segment for owner in line.owners if owner.segment is not None)
    return any(
        layer in (None, record.layer.value) and (source is None or _names(source, record.source.uri))
        for record in records
    )


def _names(source: str, uri: str) -> bool:
    plain = uri.partition(":")[2] or uri
    return source in {uri, plain} or plain.endswith(f"/{source}")
