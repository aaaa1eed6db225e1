"""Provider conflicts: the request needs what the model lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aircoding.context.conflicts.naming import conflict_id
from aircoding.records.conflicts import Conflict, ConflictKind, Route
from aircoding.records.snapshot import Snapshot

__all__ = ["provider_conflicts"]


def provider_conflicts(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return what the request needs and the model lacks: tools, images, room for a prompt beside the answer."""
    return tuple(
        Conflict(
            conflict_id=conflict_id(ConflictKind.PROVIDER, snapshot.limits.model, snapshot.request.role, subject),
            kind=ConflictKind.PROVIDER,
            parties=(f"role:{snapshot.request.role}", f"model:{snapshot.limits.model}"),
            subject=subject,
            detail=detail,
            ruling="nobody wins: choose another model for this role",
            winner=None,
            route=Route.PROVIDER_ROUTING,
            blocking=True,
            state="open",
        )
        for subject, detail in _lacking(snapshot)
    )


def _lacking(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    limits, role = snapshot.limits, snapshot.request.role
    if snapshot.tools and not limits.tools:
        yield "tools", f"the {role} needs {len(snapshot.tools)} tools, and {limits.model} takes none"
    if not limits.images:
        holding = next((one for one in snapshot.messages if _has_image(one.content)), None)
        if holding is not None:
            yield "images", f"message {holding.index} of the session holds an image, and {limits.model} takes none"
    if limits.max_output_tokens >= limits.window_tokens:
        reserved = f"{limits.max_output_tokens} tokens are reserved for the answer"
        yield "output", f"{reserved}, and the window of {limits.model} has {limits.window_tokens}"


def _has_image(content: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a block, or a block within a tool result, is an image."""
    return any(
        block.get("type") == "image"
        or (isinstance(block.get("content"), list | tuple) and _has_image(block["content"]))
        for block in content
    )
