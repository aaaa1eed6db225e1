"""Put an assembly together from its head, its lists and its texts, and check it against its digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select

from aircoding.errors import StoreError
from aircoding.records.conflicts import Conflict
from aircoding.records.digests import canonical_json, sha256_bytes
from aircoding.records.ids import Digest, SessionId, call_key
from aircoding.records.manifest import AssembledContext, CacheMark, Manifest, OutcomeRecord, Ref
from aircoding.records.usage import TokenEstimate
from aircoding.store.accounts import ASSEMBLIES, added, read_conflicts, read_outcomes, read_segments
from aircoding.store.cache_marks import measured_marks
from aircoding.store.calls import committed_usage
from aircoding.store.columns import table_of
from aircoding.store.decode import decode
from aircoding.store.deltas import Nodes, added_snapshot, derived_omissions, join_nodes, unpack
from aircoding.store.skeleton import Mark, Skeleton, join_request, needed_texts
from aircoding.store.snapshots import Texts, index_after
from aircoding.store.tables.assemblies import RedactionRow
from aircoding.store.texts import read_texts

__all__ = ["HEAD", "REDACTIONS", "masked_digest", "read_account", "read_nodes", "read_snapshot_index", "rebuild"]

REDACTIONS = table_of(RedactionRow)

HEAD = (
    "manifest_id",
    "digest",
    "provenance",
    "run_id",
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
)
"""The fields of a manifest that are columns."""
_IN_ACCOUNT = ("run_revision", "policy_digest", "versions", "cache", "budget", "refs")


def read_nodes(connection: Connection, head: Row[Any]) -> Nodes:
    """Return the nodes of an assembly's request, put together from what each turn added."""
    wanted = added(select(ASSEMBLIES.c.delta), head.session_id, head.nodes_since, head.turn)
    return join_nodes(list(connection.execute(wanted).scalars()))


def _account(connection: Connection, head: Row[Any]) -> Any:
    """Return what of an assembly stands in no column and no list."""
    like = None
    if head.turn != head.nodes_since:
        first = (ASSEMBLIES.c.session_id == head.session_id) & (ASSEMBLIES.c.turn == head.nodes_since)
        like = connection.execute(select(ASSEMBLIES.c.account).where(first)).scalar_one()
    return unpack(head.account, like)


def read_snapshot_index(connection: Connection, head: Row[Any], read: Texts) -> dict[str, Any]:
    """Return the whole index of an assembly's snapshot.

    Raises:
        NotFoundError: the one that was stored whole is not kept.
    """
    columns = select(ASSEMBLIES.c.snapshot_digest, ASSEMBLIES.c.delta)
    found = connection.execute(added(columns, head.session_id, head.nodes_since, head.turn)).all()
    parts = [added_snapshot(each.delta) for each in found]
    first = max(number for number, part in enumerate(parts) if part is None)
    digest = Digest(found[first].snapshot_digest)
    return index_after(json.loads(read(frozenset({digest}))[digest]), [part for part in parts[first + 1 :] if part])


def rebuild(connection: Connection, head: Row[Any]) -> AssembledContext:
    """Return an assembly, put together from its lists and texts.

    One that came with secrets masked (`provenance` is `redacted`) is checked against the digest of its masked form.

    Raises:
        NotFoundError: a text is not kept.
        StoreError: it does not give the recorded digest.
    """
    nodes, account = read_nodes(connection, head), _account(connection, head)
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
    if sha256_bytes(canonical_json(request)) not in (head.digest, masked_digest(connection, head)):
        raise StoreError(
            f"{what} does not give the recorded digest.",
            hint="The database is damaged; restore a backup.",
            code="store.damaged",
        )
    return _context(connection, head, nodes, account, request)


def masked_digest(connection: Connection, head: Row[Any]) -> Digest | None:
    """Return the digest of an assembly's request with secrets masked; None: it is on record as it was sent."""
    if head.provenance != "redacted":
        return None
    found = connection.execute(select(REDACTIONS.c.digest).where(REDACTIONS.c.manifest_id == head.manifest_id)).scalar()
    return None if found is None else Digest(found)


def read_account(connection: Connection, head: Row[Any]) -> AssembledContext:
    """Return an assembly without its request: what is known of it where its texts are not kept."""
    nothing: Mapping[str, Any] = {"tools": (), "system": (), "messages": ()}
    return _context(connection, head, read_nodes(connection, head), _account(connection, head), nothing)


def _context(
    connection: Connection, head: Row[Any], nodes: Nodes, account: Mapping[str, Any], request: Mapping[str, Any]
) -> AssembledContext:
    what = f"The assembly {head.manifest_id}"
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
        **{name: getattr(head, name) for name in HEAD},
        **{name: account[name] for name in _IN_ACCOUNT},
        "segments": (),
        "outcomes": (),
        "conflicts": (),
        "layout": [{"block": block, "start": start, "end": end} for block, start, end in nodes.layout],
    }
    plain = decode(Manifest, values, what=what)
    return replace(
        plain,
        cache=_measured(connection, session, turn, plain.cache),
        segments=read_segments(connection, session, head.segments_since, turn),
        outcomes=read_outcomes(connection, session, head.outcomes_since, turn),
        conflicts=read_conflicts(connection, session, head.conflicts_since, turn),
    )


def _measured(connection: Connection, session: str, turn: int, marks: tuple[CacheMark, ...]) -> tuple[CacheMark, ...]:
    """Return the marks with what the usage of the answered call says of them; as they are while there is no answer."""
    usage = committed_usage(connection, call_key(SessionId(session), turn))
    return marks if usage is None else measured_marks(marks, usage)
