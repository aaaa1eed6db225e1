"""What changed between recorded prompts."""

from __future__ import annotations

from pathlib import Path

from aircoding.app.project import open_project
from aircoding.app.questions.finding import full_id
from aircoding.audit.differences import Difference, compare
from aircoding.records.ids import ManifestId

__all__ = ["diff_contexts"]


def diff_contexts(start: Path, before: str, after: str) -> Difference:
    """Return what changed between two recorded assemblies."""
    with open_project(start).open_store() as store:
        old, new = (store.assemblies.get(ManifestId(full_id(store, given))).manifest for given in (before, after))
        return compare(old, new)
