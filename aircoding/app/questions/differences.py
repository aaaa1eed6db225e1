"""What changed between recorded prompts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aircoding.app.questions.asking import record_of
from aircoding.app.questions.kept import whole_or_account
from aircoding.app.questions.selectors import previous_id, selected_id
from aircoding.audit.differences import Difference, TextChange, compare, compare_texts

__all__ = ["ContextDifference", "diff_contexts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextDifference:
    """Two recorded assemblies, what differs between them, and the texts that were asked for."""

    before_id: str
    after_id: str
    difference: Difference
    texts: tuple[TextChange, ...]


def diff_contexts(
    start: Path, first: str, second: str | None, *, texts: bool = True, whole: bool = False
) -> ContextDifference:
    """Return what changed between two recorded assemblies.

    Args:
        start: a folder of the project.
        first: the assembly before, by any selector; alone it is the one after.
        second: the assembly after; None: `first` is compared with the assembly before it, of its session or else of
            the attempt before.
        texts: compare the texts of changed segments, where they are kept.
        whole: give the texts of segments that are in one of them only, too.

    Raises:
        NotFoundError: there is no such assembly, or none before it.
    """
    with record_of(start) as (_, store):
        given, given_whole = whole_or_account(store, selected_id(store, first))
        other_id = previous_id(store, given.manifest) if second is None else selected_id(store, second)
        other, other_whole = whole_or_account(store, other_id)
    old, new = (other, given) if second is None else (given, other)
    difference = compare(old.manifest, new.manifest)
    texts = texts and given_whole and other_whole
    found = compare_texts(old, new, difference, whole=whole) if texts else ()
    return ContextDifference(before_id=old.manifest_id, after_id=new.manifest_id, difference=difference, texts=found)
