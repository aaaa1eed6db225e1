"""Recorded requests again, from the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aircoding.app.questions.asking import record_of
from aircoding.app.questions.kept import require_texts
from aircoding.app.questions.selectors import selected_id
from aircoding.errors import NotFoundError, StoreError, UsageError
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import ManifestId

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["Replay", "replay_contexts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A request rebuilt from the store: its digest now, and whether that is the recorded one.

    Where it cannot be rebuilt `why` says so, and `digest` is empty. `redacted`: secrets were masked in it after it was
    sent, so it is as it was taken in, and not byte for byte.
    """

    manifest_id: str
    digest: str
    equal: bool
    why: str = ""
    redacted: bool = False


def replay_contexts(start: Path, given: str | None, *, whole_run: bool) -> tuple[Replay, ...]:
    """Rebuild requests from the store alone and compare their digests with the recorded ones.

    With `whole_run` the id is that of a run; none given: the newest one.
    """
    if given is None and not whole_run:
        raise UsageError("no assembly is named", hint="name one (`aircoding context list`), or give --all for a run")
    with record_of(start) as (_, store):
        if whole_run:
            run = store.sightings.newest_run() if given is None else store.runs.get(given).run_id
            require_texts(store, run)
            return tuple(_replayed_or_why(store, head.manifest_id) for head in store.index.heads(run_id=run))
        return (_replayed(store, selected_id(store, given or "")),)


def _replayed_or_why(store: Store, manifest_id: str) -> Replay:
    try:
        return _replayed(store, manifest_id)
    except (NotFoundError, StoreError) as error:
        return Replay(manifest_id=manifest_id, digest="", equal=False, why=error.message)


def _replayed(store: Store, manifest_id: str) -> Replay:
    rebuilt = store.assemblies.get(ManifestId(manifest_id))
    digest = sha256_bytes(canonical_json(rebuilt.request))
    return Replay(
        manifest_id=manifest_id,
        digest=digest,
        equal=digest == rebuilt.manifest.digest,
        redacted=rebuilt.manifest.provenance == "redacted",
    )
