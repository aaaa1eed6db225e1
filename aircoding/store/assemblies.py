"""Requests and manifests: committed before anything is sent, rebuilt byte for byte from the store alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, select

from aircoding.errors import NotFoundError, StoreError
from aircoding.records.ids import Digest, ManifestId
from aircoding.records.manifest import AssembledContext
from aircoding.records.snapshot import Snapshot
from aircoding.store.accounts import (
    ASSEMBLIES,
    read_conflicts,
    read_outcomes,
    read_segments,
    write_conflicts,
    write_outcomes,
    write_segments,
)
from aircoding.store.columns import row
from aircoding.store.database import Database
from aircoding.store.deltas import KEYFRAME_TURNS, Nodes, account_of, nodes_of, rest_after
from aircoding.store.fences import Fences
from aircoding.store.rebuilding import HEAD, REDACTIONS, masked_digest, read_account, read_nodes, rebuild
from aircoding.store.skeleton import Place, Skeleton, SplitRequest, split_request
from aircoding.store.snapshots import join_snapshot, split_snapshot
from aircoding.store.statements import insert_new
from aircoding.store.tables.assemblies import AssemblyRow, RedactionRow
from aircoding.store.texts import name_texts, put_texts, read_texts

__all__ = ["AssemblyStore"]

Item = TypeVar("Item")


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

    def mark_masked(self, manifest_id: ManifestId, digest: Digest) -> None:
        """Say of a request that secrets were masked in it after it was sent; `digest` is of it as it is on record."""
        values = row(RedactionRow, manifest_id=manifest_id, digest=digest)
        self._database.write(lambda connection: insert_new(connection, REDACTIONS, [values]), durable=True)

    def record_account(self, context: AssembledContext) -> None:
        """Commit a manifest whose texts are not at hand; the same session and turn again changes nothing.

        Raises:
            FencedError: another process owns the run.
            StoreError: a later turn of the session is on record.
        """
        manifest, now = context.manifest, self._now()
        unkept = Skeleton(tools=(), system=(manifest.digest,), messages=())  # the request itself: a text that is named

        def body(connection: Connection) -> None:
            self._fences.check(connection, manifest.run_id)
            latest = _latest(connection, manifest.session_id)
            if latest is not None and latest.turn >= manifest.turn:
                _require_recorded(connection, manifest.session_id, manifest.turn)
                return
            name_texts(connection, [manifest.digest], now)
            _insert(connection, context, SplitRequest(unkept, {}, {}, {}), latest, manifest.digest, now)

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

    def account(self, manifest_id: ManifestId) -> AssembledContext:
        """Return an assembly without its request (`tools`, `system` and `messages` are empty); no text is read.

        Raises:
            NotFoundError: no such manifest.
        """
        with self._database.read() as connection:
            head = connection.execute(select(ASSEMBLIES).where(ASSEMBLIES.c.manifest_id == manifest_id)).first()
            if head is None:
                raise _no_such_manifest(manifest_id)
            return read_account(connection, head)

    def masked_digest(self, manifest_id: ManifestId) -> Digest | None:
        """Return the digest of a request as it is on record with secrets masked; None: as it was sent."""
        with self._database.read() as connection:
            head = connection.execute(select(ASSEMBLIES).where(ASSEMBLIES.c.manifest_id == manifest_id)).first()
            return None if head is None else masked_digest(connection, head)

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
            return None if head is None else rebuild(connection, head)


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
    before = latest if latest is not None and latest.epoch == manifest.epoch else None
    nodes, nodes_since = _new_nodes(connection, before, nodes_of(split.skeleton, manifest.layout), manifest.turn)
    segments, segments_since = _new(connection, before, "segments", read_segments, manifest.segments, manifest.turn)
    outcomes, outcomes_since = _new(connection, before, "outcomes", read_outcomes, manifest.outcomes, manifest.turn)
    conflicts, conflicts_since = _new(
        connection, before, "conflicts", read_conflicts, manifest.conflicts, manifest.turn
    )
    since = {
        "nodes_since": nodes_since,
        "segments_since": segments_since,
        "outcomes_since": outcomes_since,
        "conflicts_since": conflicts_since,
    }
    assembly = _insert_head(connection, context, split, nodes, since, snapshot_digest, now)
    write_segments(connection, assembly, segments, split)
    write_outcomes(connection, assembly, outcomes)
    write_conflicts(connection, assembly, conflicts)


def _new(
    connection: Connection,
    before: Row[Any] | None,
    name: str,
    read: Callable[[Connection, str, int, int], tuple[Item, ...]],
    whole: tuple[Item, ...],
    turn: int,
) -> tuple[tuple[Item, ...], int]:
    """Return what of a list is to be stored with this turn, and since which turn the list counts."""
    if before is not None:
        since = int(getattr(before, f"{name}_since"))
        if turn - since < KEYFRAME_TURNS:
            rest = rest_after(read(connection, before.session_id, since, before.turn), whole)
            if rest is not None:
                return rest, since
    return whole, turn


def _new_nodes(connection: Connection, before: Row[Any] | None, whole: Nodes, turn: int) -> tuple[Nodes, int]:
    """The same for the nodes of the request, which are no rows."""
    if before is not None and turn - before.nodes_since < KEYFRAME_TURNS:
        rest = whole.after(read_nodes(connection, before))
        if rest is not None:
            return rest, before.nodes_since
    return whole, turn


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
        **{name: _column(getattr(manifest, name)) for name in HEAD},
        recorded_at=now,
        tokens_low=context.token_estimate.low,
        tokens_expected=context.token_estimate.expected,
        tokens_high=context.token_estimate.high,
        window_tokens=manifest.budget.window,
        **since,
        snapshot_digest=snapshot_digest,
        delta=nodes.packed(),
        account=account_of(context, split.skeleton.marks),
    )
    return int(connection.execute(ASSEMBLIES.insert().values(**values).returning(ASSEMBLIES.c.assembly)).scalar_one())


def _column(value: Any) -> Any:
    return str(value.value) if isinstance(value, Enum) else value


def _no_such_manifest(manifest_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no assembly {manifest_id} on record.", hint="`aircoding context list` shows what is there."
    )
