"""Requests and manifests: committed before anything is sent, rebuilt byte for byte from the store alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from sqlalchemy import Connection, Row, select

from aircoding.errors import NotFoundError, StoreError
from aircoding.records.conflicts import Conflict
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import Digest, ManifestId
from aircoding.records.manifest import AssembledContext, Manifest, OutcomeRecord, Ref
from aircoding.records.snapshot import Snapshot
from aircoding.records.usage import TokenEstimate
from aircoding.store.accounts import (
    ASSEMBLIES,
    added,
    read_conflicts,
    read_outcomes,
    read_segments,
    write_conflicts,
    write_outcomes,
    write_segments,
)
from aircoding.store.columns import row
from aircoding.store.database import Database
from aircoding.store.decode import decode
from aircoding.store.deltas import (
    KEYFRAME_TURNS,
    Nodes,
    account_of,
    derived_omissions,
    join_nodes,
    nodes_of,
    rest_after,
    unpack,
)
from aircoding.store.fences import Fences
from aircoding.store.skeleton import Mark, Place, Skeleton, SplitRequest, join_request, needed_texts, split_request
from aircoding.store.snapshots import join_snapshot, split_snapshot
from aircoding.store.tables.assemblies import AssemblyRow
from aircoding.store.texts import put_texts, read_texts

__all__ = ["AssemblyStore"]

_HEAD = (
    "manifest_id",
    "digest",
    "provenance",
    "run_id",
    "run_revision",
    "session_id",
    "task_id",
    "attempt",
    "role",
    "mode",
    "model",
    "turn",
    "epoch",
    "created_at",
    "estimator",
    "policy_digest",
)
"""The fields of a manifest that are columns."""


class AssemblyStore:
    """The log of assemblies (`ports.AssemblyLog`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now

    def record(self, context: AssembledContext, *, snapshot: Snapshot) -> None:
        """Commit request and manifest, durably; the same session and turn again changes nothing.

        The snapshot is kept with it, the texts of candidates that were left out included.

        Raises:
            FencedError: another process owns the run.
            StoreError: a later turn of the session is on record.
        """
        manifest = context.manifest
        split = split_request(context.request, _places(context))
        index, texts = split_snapshot(snapshot)
        texts |= split.texts
        now = self._now()

        def body(connection: Connection) -> None:
            self._fences.check(connection, manifest.run_id)
            latest = _latest(connection, manifest.session_id)
            if latest is not None and latest.turn >= manifest.turn:
                _require_recorded(connection, manifest.session_id, manifest.turn)
                return
            put_texts(connection, texts, now)
            _insert(connection, context, split, latest, index, now)

        self._database.write(body, durable=True)

    def find(self, session_id: str, turn: int) -> AssembledContext | None:
        """Return the assembly of that turn, byte for byte, or None.

        Raises:
            NotFoundError: its texts are not kept.
            StoreError: what is stored does not give the recorded digest.
        """
        return self._read((ASSEMBLIES.c.session_id == session_id) & (ASSEMBLIES.c.turn == turn))

    def get(self, manifest_id: ManifestId) -> AssembledContext:
        """Return an assembly, byte for byte.

        Raises:
            NotFoundError: no such manifest, or its texts are not kept.
            StoreError: what is stored does not give the recorded digest.
        """
        found = self._read(ASSEMBLIES.c.manifest_id == manifest_id)
        if found is None:
            raise _no_such_manifest(manifest_id)
        return found

    def snapshot(self, manifest_id: ManifestId) -> Snapshot:
        """Return the snapshot that an assembly was made of, the texts that were left out included.

        Raises:
            NotFoundError: no such manifest, or its texts are not kept.
        """
        with self._database.read() as connection:
            wanted = select(ASSEMBLIES.c.snapshot_digest).where(ASSEMBLIES.c.manifest_id == manifest_id)
            digest = connection.execute(wanted).scalar()
            if digest is None:
                raise _no_such_manifest(manifest_id)

            def read(digests: frozenset[Digest]) -> Mapping[Digest, str]:
                return read_texts(connection, digests, what=f"The snapshot of {manifest_id}")

            return join_snapshot(digest, read, lambda each: self.get(ManifestId(each)))

    def _read(self, which: Any) -> AssembledContext | None:
        with self._database.read() as connection:
            head = connection.execute(select(ASSEMBLIES).where(which)).first()
            return None if head is None else _rebuild(connection, head)


def _places(context: AssembledContext) -> list[Place]:
    segments = [(span.block, span.start, span.end) for record in context.manifest.segments for span in record.spans]
    return [*segments, *((span.block, span.start, span.end) for span in context.manifest.layout)]


def _latest(connection: Connection, session_id: str) -> Row[Any] | None:
    newest = select(ASSEMBLIES).where(ASSEMBLIES.c.session_id == session_id).order_by(ASSEMBLIES.c.turn.desc())
    return connection.execute(newest.limit(1)).first()


def _require_recorded(connection: Connection, session_id: str, turn: int) -> None:
    """Check that a turn is on record: the lists of later turns would take in one that comes late."""
    wanted = select(ASSEMBLIES.c.turn).where(ASSEMBLIES.c.session_id == session_id, ASSEMBLIES.c.turn == turn)
    if connection.execute(wanted).first() is None:
        raise StoreError(
            f"Turn {turn} of {session_id} comes after a later turn was recorded.",
            hint="Turns are recorded in order; please report this.",
            code="store.order",
        )


def _insert(
    connection: Connection,
    context: AssembledContext,
    split: SplitRequest,
    latest: Row[Any] | None,
    snapshot_digest: Digest,
    now: str,
) -> None:
    """Insert the head and what the turn added to the lists of the turn before."""
    manifest = context.manifest
    turn = manifest.turn
    session_id = manifest.session_id
    since = dict.fromkeys(("nodes", "segments", "outcomes", "conflicts"), turn)
    nodes = nodes_of(split.skeleton, manifest.layout)
    segments, outcomes, conflicts = manifest.segments, manifest.outcomes, manifest.conflicts
    if latest is not None and latest.epoch == manifest.epoch:
        new_nodes = nodes.after(_read_nodes(connection, latest)) if _young(latest.nodes_since, turn) else None
        if new_nodes is not None:
            nodes, since["nodes"] = new_nodes, latest.nodes_since
        earlier = (session_id, latest.segments_since, latest.turn)
        new_segments = rest_after(read_segments(connection, *earlier), segments) if _young(earlier[1], turn) else None
        if new_segments is not None:
            segments, since["segments"] = new_segments, latest.segments_since
        earlier = (session_id, latest.outcomes_since, latest.turn)
        new_outcomes = rest_after(read_outcomes(connection, *earlier), outcomes) if _young(earlier[1], turn) else None
        if new_outcomes is not None:
            outcomes, since["outcomes"] = new_outcomes, latest.outcomes_since
        earlier = (session_id, latest.conflicts_since, latest.turn)
        new_conflicts = (
            rest_after(read_conflicts(connection, *earlier), conflicts) if _young(earlier[1], turn) else None
        )
        if new_conflicts is not None:
            conflicts, since["conflicts"] = new_conflicts, latest.conflicts_since
    assembly = _insert_head(connection, context, split, nodes, since, snapshot_digest, now)
    write_segments(connection, assembly, segments, split)
    write_outcomes(connection, assembly, outcomes)
    write_conflicts(connection, assembly, conflicts)


def _young(since: int, turn: int) -> bool:
    """Whether a list may grow on: one that was stored whole long ago is stored whole again."""
    return turn - since < KEYFRAME_TURNS


def _insert_head(
    connection: Connection,
    context: AssembledContext,
    split: SplitRequest,
    nodes: Nodes,
    since: Mapping[str, int],
    snapshot_digest: Digest,
    now: str,
) -> int:
    manifest = context.manifest
    values = row(
        AssemblyRow,
        **{name: _plain(getattr(manifest, name)) for name in _HEAD},
        recorded_at=now,
        tokens_low=context.token_estimate.low,
        tokens_expected=context.token_estimate.expected,
        tokens_high=context.token_estimate.high,
        window_tokens=manifest.budget.window,
        **{f"{name}_since": turn for name, turn in since.items()},
        snapshot_digest=snapshot_digest,
        delta=nodes.packed(),
        account=account_of(context, split.skeleton.marks),
    )
    return int(connection.execute(ASSEMBLIES.insert().values(**values).returning(ASSEMBLIES.c.assembly)).scalar_one())


def _plain(value: Any) -> Any:
    return str(value.value) if isinstance(value, Enum) else value


def _read_nodes(connection: Connection, head: Row[Any]) -> Nodes:
    wanted = added(select(ASSEMBLIES.c.delta), head.session_id, head.nodes_since, head.turn)
    return join_nodes(list(connection.execute(wanted).scalars()))


def _rebuild(connection: Connection, head: Row[Any]) -> AssembledContext:
    """Put an assembly together from its lists and texts, and check it against the recorded digest."""
    nodes, account = _read_nodes(connection, head), unpack(head.account)
    skeleton = Skeleton(
        tuple(map(Digest, nodes.tools)),
        tuple(map(Digest, nodes.system)),
        tuple(map(Digest, nodes.messages)),
        tuple(Mark(*mark) for mark in account["marks"]),
    )
    what = f"The assembly {head.manifest_id}"
    stored = read_texts(connection, {*skeleton.tools, *skeleton.system, *skeleton.messages}, what=what)
    texts = stored | read_texts(connection, needed_texts(stored.values()), what=what)
    request = join_request(skeleton, texts)
    if sha256_bytes(canonical_json(request)) != head.digest:
        raise StoreError(
            f"{what} does not give the recorded digest.",
            hint="The database is damaged; restore a backup.",
            code="store.damaged",
        )
    manifest = _manifest(connection, head, nodes, account)
    omissions, conflicts, refs = account["omissions"], account["context_conflicts"], account["context_refs"]
    return AssembledContext(
        tools=tuple(request["tools"]),
        system=tuple(request["system"]),
        messages=tuple(request["messages"]),
        token_estimate=TokenEstimate(low=head.tokens_low, expected=head.tokens_expected, high=head.tokens_high),
        omissions=derived_omissions(manifest.outcomes)
        if omissions is None
        else decode(tuple[OutcomeRecord, ...], omissions, what=what),
        conflicts=manifest.conflicts if conflicts is None else decode(tuple[Conflict, ...], conflicts, what=what),
        refs=manifest.refs if refs is None else decode(tuple[Ref, ...], refs, what=what),
        manifest_id=manifest.manifest_id,
        digest=manifest.digest,
        manifest=manifest,
        canonical_format=account["canonical_format"],
    )


def _manifest(connection: Connection, head: Row[Any], nodes: Nodes, account: Mapping[str, Any]) -> Manifest:
    session, turn, what = head.session_id, head.turn, f"The manifest {head.manifest_id}"
    values = {
        **{name: getattr(head, name) for name in _HEAD},
        **{name: account[name] for name in ("versions", "cache", "budget", "refs")},
        "segments": (),
        "outcomes": (),
        "conflicts": (),
        "layout": [{"block": block, "start": start, "end": end} for block, start, end in nodes.layout],
    }
    return replace(
        decode(Manifest, values, what=what),
        segments=read_segments(connection, session, head.segments_since, turn),
        outcomes=read_outcomes(connection, session, head.outcomes_since, turn),
        conflicts=read_conflicts(connection, session, head.conflicts_since, turn),
    )


def _no_such_manifest(manifest_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no assembly {manifest_id} on record.", hint="`aircoding context list` shows what is there."
    )
