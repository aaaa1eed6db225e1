"""Which tool call a recorded part of a conversation is, or is the result of, without its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from aircoding.audit.origins import Call, call_of
from aircoding.records.layers import SegmentKind
from aircoding.records.seen import SeenSegment

if TYPE_CHECKING:
    from aircoding.store import Store

__all__ = ["calls_of"]

_PLACE = re.compile(r"air:session/(.+)/message/(\d+)/block/(\d+)")
"""What `context.conversation` calls a block: session, message, block."""


def calls_of(store: Store, seen: Collection[SeenSegment]) -> dict[str, Call]:
    """Return the calls by segment id; none of what is no call or result, nor where a message is not kept."""
    made, brought = (
        [one for one in seen if one.record.kind is kind] for kind in (SegmentKind.TOOL_CALL, SegmentKind.TOOL_RESULT)
    )
    texts = {one.record.segment_id: store.texts.get(one.record.source.text_digest) for one in made}
    calls = {name: call_of(json.loads(text)) for name, text in texts.items() if text is not None}
    uses = _uses(store, brought)
    given = store.tools.given(set(uses.values()))
    return calls | {name: call_of(given[use]) for name, use in uses.items() if use in given}


def _uses(store: Store, brought: Iterable[SeenSegment]) -> dict[str, tuple[str, str]]:
    """Return session and tool use id of each result, by segment id."""
    places = {one.record.segment_id: _PLACE.fullmatch(one.record.source.uri) for one in brought}
    asked = {name: (found[1], int(found[2]), int(found[3])) for name, found in places.items() if found is not None}
    shapes = store.sessions.message_shapes({place[:2] for place in asked.values()})
    return {
        name: (session, str(shapes[session, number]["content"][block]["tool_use_id"]))
        for name, (session, number, block) in asked.items()
        if (session, number) in shapes
    }
