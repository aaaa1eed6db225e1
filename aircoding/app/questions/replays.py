"""Recorded requests again, from the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.project import open_project
from aircoding.app.questions.finding import full_id
from aircoding.app.run_results import newest_run
from aircoding.errors import UsageError
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import ManifestId

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["Replay", "replay_contexts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A request rebuilt from the store: its digest now, and whether that is the recorded one."""

    manifest_id: str
    digest: str
    equal: bool


def replay_contexts(start: Path, given: str | None, *, whole_run: bool) -> tuple[Replay, ...]:
    """Rebuild requests from the store alone and compare their digests with the recorded ones.

    With `whole_run` the id is that of a run; none given: the newest one.
    """
    if given is None and not whole_run:
        raise UsageError("no assembly is named", hint="name one (`aircoding context list`), or give --all for a run")
    with open_project(start).open_store() as store:
        if given is None or whole_run:
            run = newest_run(store) if given is None else store.runs.get(given).run_id
            ids = [head.manifest_id for head in store.index.heads(run_id=run)]
        else:
            ids = [full_id(store, given)]
        return tuple(_replayed(store, one) for one in ids)


def _replayed(store: Store, manifest_id: str) -> Replay:
    rebuilt = store.assemblies.get(ManifestId(manifest_id))
    digest = sha256_bytes(canonical_json(rebuilt.request))
    return Replay(manifest_id=manifest_id, digest=digest, equal=digest == rebuilt.manifest.digest)
