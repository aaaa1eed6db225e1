"""Requests and manifests: committed before anything is sent, rebuilt byte for byte from the store alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, bindparam, select

from aircoding.errors import NotFoundError, StoreError
from aircoding.records.conflicts import Conflict
from aircoding.records.ids import Digest, ManifestId
from aircoding.records.manifest import AssembledContext, Manifest, OutcomeRecord, SegmentRecord
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
from aircoding.store.rebuilding import (
    HEAD,
    REDACTIONS,
    masked_digest,
    read_account,
    read_nodes,
    read_snapshot_index,
    rebuild,
)
from aircoding.store.skeleton import Place, Skeleton, SplitRequest, split_request
from aircoding.store.snapshots import StoredSnapshot, join_snapshot, split_snapshot
from aircoding.store.statements import insert_new
from aircoding.store.tables.assemblies import AssemblyRow, RedactionRow
from aircoding.store.texts import name_texts, put_texts, read_texts

__all__ = ["AssemblyStore"]

Item = TypeVar("Item")

_OF_SESSION = ASSEMBLIES.c.session_id == bindparam("session")
_INSERT = ASSEMBLIES.insert().returning(ASSEMBLIES.c.assembly)
_LATEST = select(ASSEMBLIES).where(_OF_SESSION).order_by(ASSEMBLIES.c.turn.desc()).limit(1)
REMEMBERED_SESSIONS = 64
"""Sessions whose last assembly a store keeps in memory, so that the next turn need not read it back."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What this store itself recorded last for a session; rows never change, so it holds as long as it is the last."""

    context: AssembledContext
    split: SplitRequest
    nodes: Nodes
    snapshot: StoredSnapshot | None
    """None: only the account is there; the digest of the request stands where that of the snapshot would."""
    account: bytes
    """The account of the turn from which its nodes count, like which those of later turns are packed."""

    @property
    def snapshot_digest(self) -> Digest:
        """The digest of the index of the snapshot."""
        return self.context.digest if self.snapshot is None else self.snapshot.digest

    def is_of(self, head: Row[Any]) -> bool:
        """Whether this is what stands in a row."""
        own = (self.context.manifest_id, self.context.manifest.created_at, self.snapshot_digest)
        return own == (head.manifest_id, head.created_at, head.snapshot_digest)


class AssemblyStore:
    """The log of assemblies (`ports.AssemblyLog`)."""

    def __init__(self, database: Database, fences: Fences, now: Callable[[], str]) -> None:
        self._database = database
        self._fences = fences
        self._now = now
        self._recorded: dict[str, _Recorded] = {}

    def record(self, context: AssembledContext, *, snapshot: Snapshot) -> None:
        """Commit request and manifest, durably; the same session and turn again changes nothing.

        The snapshot is kept with it, the texts of candidates that were left out included.

        Raises:
            FencedError: another process owns the run.
            StoreError: a later turn of the session is on record.
        """
        manifest, now = context.manifest, self._now()
        last = self._recorded.get(manifest.session_id)

        def body(connection: Connection) -> _Recorded | None:
            self._fences.check(connection, manifest.run_id)
            latest = _latest(connection, manifest.session_id)
            if latest is not None and latest.turn >= manifest.turn:
                _require_recorded(connection, manifest.session_id, manifest.turn)
                return None
            before = latest if latest is not None and latest.epoch == manifest.epoch else None
            known = last if last is not None and before is not None and last.is_of(before) else None
            lists = _Lists.of(connection, before, known.context.manifest if known is not None else None, manifest)
            split = split_request(
                context.request, _places(context), before=known.split if known and lists.go_on else None
            )
            whole = nodes_of(split.skeleton, manifest.layout)
            nodes, since = _new_nodes(connection, before, known, whole, manifest.turn)
            base = known.snapshot if known is not None and since != manifest.turn else None
            stored, texts = split_snapshot(snapshot, base)
            put_texts(connection, {**texts, **split.texts}, now)
            lists.since["nodes_since"] = since
            like = known.account if known is not None else _account_like(connection, before, since)
            like = like if since != manifest.turn else None
            account = account_of(context, split.skeleton.marks, like)
            recorded = _Recorded(context, split, whole, stored, like or account)
            _insert(connection, recorded, lists, nodes, account, now)
            return recorded

        recorded = self._database.write(body, durable=True)
        if recorded is not None:
            self._remember(manifest.session_id, recorded)

    def _remember(self, session_id: str, recorded: _Recorded) -> None:
        self._recorded.pop(session_id, None)
        self._recorded[session_id] = recorded
        if len(self._recorded) > REMEMBERED_SESSIONS:
            self._recorded.pop(next(iter(self._recorded)), None)

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
            before = latest if latest is not None and latest.epoch == manifest.epoch else None
            lists = _Lists.of(connection, before, None, manifest)
            whole = nodes_of(unkept, manifest.layout)
            lists.since["nodes_since"] = manifest.turn
            name_texts(connection, [manifest.digest], now)
            account = account_of(context, unkept.marks)
            recorded = _Recorded(context, SplitRequest(unkept, {}, {}, {}), whole, None, account)
            _insert(connection, recorded, lists, whole, account, now)

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
            head = connection.execute(select(ASSEMBLIES).where(ASSEMBLIES.c.manifest_id == manifest_id)).first()
            if head is None:
                raise _no_such_manifest(manifest_id)

            def read(digests: frozenset[Digest]) -> Mapping[Digest, str]:
                return read_texts(connection, digests, what=f"The snapshot of {manifest_id}")

            index = read_snapshot_index(connection, head, read)
            return join_snapshot(index, read, lambda each: self.get(ManifestId(each)))

    def _read(self, which: Any) -> AssembledContext | None:
        with self._database.read() as connection:
            head = connection.execute(select(ASSEMBLIES).where(which)).first()
            return None if head is None else rebuild(connection, head)


def _places(context: AssembledContext) -> list[Place]:
    segments = [(span.block, span.start, span.end) for record in context.manifest.segments for span in record.spans]
    return [*segments, *((span.block, span.start, span.end) for span in context.manifest.layout)]


def _latest(connection: Connection, session_id: str) -> Row[Any] | None:
    return connection.execute(_LATEST, {"session": session_id}).first()


def _require_recorded(connection: Connection, session_id: str, turn: int) -> None:
    """Check that a turn is on record: the lists of later turns would take in one that comes late."""
    wanted = select(ASSEMBLIES.c.turn).where(ASSEMBLIES.c.session_id == session_id, ASSEMBLIES.c.turn == turn)
    if connection.execute(wanted).first() is None:
        raise StoreError(
            f"Turn {turn} of {session_id} comes after a later turn was recorded.",
            hint="Turns are recorded in order; please report this.",
            code="store.order",
        )


@dataclass(frozen=True, slots=True)
class _Lists:
    """What of a manifest's lists is to be stored with its turn, and since which turn each list counts."""

    segments: tuple[SegmentRecord, ...]
    outcomes: tuple[OutcomeRecord, ...]
    conflicts: tuple[Conflict, ...]
    since: dict[str, int]
    go_on: bool
    """Whether only new segments are stored."""

    @classmethod
    def of(cls, connection: Connection, before: Row[Any] | None, known: Manifest | None, manifest: Manifest) -> _Lists:
        """Compare a manifest with the one before it: `known`, or what the rows say."""

        def new(
            name: str, read: Callable[[Connection, str, int, int], tuple[Item, ...]], whole: tuple[Item, ...]
        ) -> tuple[tuple[Item, ...], int]:
            if before is not None:
                since = int(getattr(before, f"{name}_since"))
                if manifest.turn - since < KEYFRAME_TURNS:
                    had = read(connection, before.session_id, since, before.turn) if known is None else None
                    rest = rest_after(getattr(known, name) if had is None else had, whole)
                    if rest is not None:
                        return rest, since
            return whole, manifest.turn

        segments, segments_since = new("segments", read_segments, manifest.segments)
        outcomes, outcomes_since = new("outcomes", read_outcomes, manifest.outcomes)
        conflicts, conflicts_since = new("conflicts", read_conflicts, manifest.conflicts)
        since = {
            "segments_since": segments_since,
            "outcomes_since": outcomes_since,
            "conflicts_since": conflicts_since,
        }
        return cls(segments, outcomes, conflicts, since, segments_since != manifest.turn)


def _new_nodes(
    connection: Connection, before: Row[Any] | None, known: _Recorded | None, whole: Nodes, turn: int
) -> tuple[Nodes, int]:
    """The same for the nodes of the request, which are no rows."""
    if before is not None and turn - before.nodes_since < KEYFRAME_TURNS:
        rest = whole.after(read_nodes(connection, before) if known is None else known.nodes)
        if rest is not None:
            return rest, before.nodes_since
    return whole, turn


def _account_like(connection: Connection, before: Row[Any] | None, since: int) -> bytes | None:
    """Return the account of an earlier turn from which the nodes count; None where there is none."""
    if before is None or since > before.turn:
        return None
    if before.turn == since:
        return bytes(before.account)
    first = (ASSEMBLIES.c.session_id == before.session_id) & (ASSEMBLIES.c.turn == since)
    return bytes(connection.execute(select(ASSEMBLIES.c.account).where(first)).scalar_one())


def _insert(connection: Connection, recorded: _Recorded, lists: _Lists, nodes: Nodes, account: bytes, now: str) -> None:
    """Insert the head and what the turn added to the lists of the turn before."""
    context, split, snapshot = recorded.context, recorded.split, recorded.snapshot
    manifest = context.manifest
    values = row(
        AssemblyRow,
        **{name: _column(getattr(manifest, name)) for name in HEAD},
        recorded_at=now,
        tokens_low=context.token_estimate.low,
        tokens_expected=context.token_estimate.expected,
        tokens_high=context.token_estimate.high,
        window_tokens=manifest.budget.window,
        **lists.since,
        snapshot_digest=recorded.snapshot_digest,
        delta=nodes.packed(snapshot.added if snapshot is not None else None),
        account=account,
    )
    assembly = int(connection.execute(_INSERT, values).scalar_one())
    write_segments(connection, assembly, lists.segments, split)
    write_outcomes(connection, assembly, lists.outcomes, snapshot.snapshot.segments if snapshot is not None else ())
    write_conflicts(connection, assembly, lists.conflicts)


def _column(value: Any) -> Any:
    return str(value.value) if isinstance(value, Enum) else value


def _no_such_manifest(manifest_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no assembly {manifest_id} on record.", hint="`aircoding context list` shows what is there."
    )
