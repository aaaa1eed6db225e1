"""The run revision: all text of fleet and run scope, and the profiles and tools, frozen when a run starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter, ValidationError

from aircoding.errors import StoreError
from aircoding.records.digests import sorted_json
from aircoding.records.ids import Digest, SegmentId
from aircoding.records.jsonable import jsonable
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.records.snapshot import ToolSpec

__all__ = ["FrozenRole", "Revision", "revision_from_text", "revision_text"]

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenRole:
    """One role as it was when the run started; `segment_ids` are its fleet and run scope."""

    profile: Profile
    tools: tuple[ToolSpec, ...]
    segment_ids: tuple[SegmentId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What every session of a run shares. `rules` are the ids of all run-scope rules, whatever role takes them.

    There is no time in it: the same files give the same revision.
    """

    prompts: Digest
    segments: Mapping[SegmentId, Segment]
    roles: Mapping[str, FrozenRole]
    rules: tuple[SegmentId, ...]
    version: int = _VERSION

    def of_role(self, role: str) -> tuple[Segment, ...]:
        """Return the frozen segments of a role."""
        return tuple(self.segments[name] for name in self.roles[role].segment_ids)

    def run_rules(self) -> tuple[Segment, ...]:
        """Return the frozen rules of run scope that some role takes."""
        return tuple(self.segments[name] for name in self.rules if name in self.segments)


@cache
def _adapter() -> TypeAdapter[Revision]:
    return TypeAdapter(Revision)


def revision_text(revision: Revision) -> str:
    """Return a revision as canonical JSON; its digest is the name of the revision."""
    return sorted_json(jsonable(revision)).decode("utf-8")


def revision_from_text(text: str) -> Revision:
    """Read a revision back.

    Raises:
        StoreError: it is damaged, or a newer version wrote it.
    """
    try:
        revision = _adapter().validate_json(text)
    except ValidationError as error:
        raise _unreadable(str(error.errors(include_url=False)[0]["msg"])) from None
    if revision.version != _VERSION:
        raise _unreadable(f"it has version {revision.version}, this program reads {_VERSION}")
    return revision


def _unreadable(why: str) -> StoreError:
    return StoreError(
        f"the frozen text of this run cannot be read: {why}",
        hint="resume with the version of aircoding that started the run, or start a new run",
        code="store.damaged",
    )
