"""Take a canonical request apart into texts that are stored once, and put it together again; pure.

A request is three lists of nodes (tools, system blocks, messages). Each node is kept as a
*skeleton*: canonical JSON of `[shape, texts, wholes]`, where `shape` is the node with cache marks
removed, attributed texts emptied and whole blocks nulled, `texts` says of which pieces each text
consists (digests, in order), and `wholes` names each whole block by the digest of its canonical
JSON. Skeletons are texts themselves, so a system block or a tool that a whole fleet shares is
stored once, and a turn adds only its new nodes. Cache marks are kept apart, because they move.

Nothing here trusts the manifest: text that no span covers stays a piece of its own, and a span that points
nowhere is ignored. So a request always comes back byte for byte, however poor its account is.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aircoding.records.digests import canonical_json, sha256_text
from aircoding.records.ids import Digest
from aircoding.store.pointers import absolute, relative, replace_at, resolve, tokens

__all__ = [
    "Mark",
    "Piece",
    "Skeleton",
    "SplitNode",
    "SplitRequest",
    "join_node",
    "join_request",
    "needed_texts",
    "split_message",
    "split_request",
]

MARK_KEY = "cache_control"
_LISTS = ("tools", "system", "messages")

Place = tuple[str, int | None, int | None]
"""A JSON pointer with UTF-8 byte offsets, or without for a whole node."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A cache mark: the node that carries it, the place of its key among the node's keys, its value."""

    pointer: str
    position: int
    value: Any


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one text (UTF-8 byte offsets) and the digest under which it is stored."""

    start: int
    end: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A request without its texts: the skeleton digest of each node, in order."""

    tools: tuple[Digest, ...]
    system: tuple[Digest, ...]
    messages: tuple[Digest, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitNode:
    """A node of a request without its marks, the places along which it was cut, and the digest of its skeleton."""

    bare: Any
    places: tuple[Place, ...]
    digest: Digest


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """A request taken apart. `pieces` and `wholes` tell, by JSON pointer, where the texts went, `nodes` what each node
    was. Of nodes that are as they were in a request before there is no text, piece or whole.
    """

    skeleton: Skeleton
    texts: Mapping[Digest, str]
    pieces: Mapping[str, tuple[Piece, ...]]
    wholes: Mapping[str, Digest]
    nodes: Mapping[str, SplitNode] = field(default_factory=dict)

    def shown(self, place: Place) -> Digest | None:
        """Return the digest of the text that a span shows; None where it is not stored as one text."""
        pointer, start, end = place
        if start is None:
            return self.wholes.get(pointer)
        found = (piece.digest for piece in self.pieces.get(pointer, ()) if (piece.start, piece.end) == (start, end))
        return next(found, None)


@dataclass(slots=True)
class _Cutter:
    """Collects what one split finds; one per call."""

    texts: dict[Digest, str] = field(default_factory=dict)
    pieces: dict[str, tuple[Piece, ...]] = field(default_factory=dict)
    wholes: dict[str, Digest] = field(default_factory=dict)

    def keep(self, text: str) -> Digest:
        digest = sha256_text(text)
        self.texts[digest] = text
        return digest

    def cut(self, pointer: str, text: str, offsets: Iterable[int]) -> list[Digest]:
        data = text.encode("utf-8")
        inside = {at for at in offsets if 0 < at < len(data) and not 0x80 <= data[at] < 0xC0}
        cuts = [0, *sorted(inside), len(data)] if data else [0, 0]
        pieces = tuple(
            Piece(start, end, self.keep(data[start:end].decode("utf-8"))) for start, end in itertools.pairwise(cuts)
        )
        self.pieces[pointer] = pieces
        return [piece.digest for piece in pieces]


def split_request(
    request: Mapping[str, Any], places: Iterable[Place], *, before: SplitRequest | None = None
) -> SplitRequest:
    """Take a request apart along the spans of its manifest.

    Args:
        request: `{tools, system, messages}`.
        places: every span of every segment and every layout span, in any order.
        before: a request whose texts are stored; nodes that are as they were in it are not taken apart again.

    Raises:
        UnicodeEncodeError: a text holds a lone surrogate (such a request has no digest either).
    """
    by_node: defaultdict[str, list[Place]] = defaultdict(list)
    for pointer, start, end in places:
        node, rest = relative(pointer)
        by_node[node].append((rest, start, end))
    cutter = _Cutter()
    marks: list[Mark] = []
    lists: dict[str, tuple[Digest, ...]] = {}
    nodes: dict[str, SplitNode] = {}
    for name in _LISTS:
        digests = []
        for number, node in enumerate(request[name]):
            pointer = f"/{name}/{number}"
            own = tuple(by_node.get(pointer, ()))
            known = before.nodes.get(pointer) if before is not None else None
            if known is None or known.places != own or known.bare != node:
                bare = _without_marks(node, pointer, marks)
                if known is None or known.places != own or known.bare != bare:
                    known = SplitNode(bare, own, _split_node(_plain(bare), pointer, own, cutter))
            nodes[pointer] = known
            digests.append(known.digest)
        lists[name] = tuple(digests)
    skeleton = Skeleton(lists["tools"], lists["system"], lists["messages"], tuple(marks))
    return SplitRequest(skeleton, cutter.texts, cutter.pieces, cutter.wholes, nodes)


def split_message(role: str, content: Sequence[Mapping[str, Any]]) -> tuple[Digest, Mapping[Digest, str]]:
    """Take one recorded message apart so that it shares its texts, and mostly its skeleton, with the
    requests that carry it. Return the digest of its skeleton and all texts.
    """
    places: list[Place] = []
    for number, block in enumerate(content):
        pointer = f"/content/{number}"
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            places.append((f"{pointer}/text", 0, 0))
            continue
        places.append((pointer, None, None))
        inner = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(inner, (list, tuple)):
            places.extend(
                (f"{pointer}/content/{part}/text", 0, 0)
                for part, each in enumerate(inner)
                if isinstance(each, Mapping) and each.get("type") == "text"
            )
    cutter = _Cutter()
    node = _plain({"role": role, "content": list(content)})
    return _split_node(node, "", places, cutter), cutter.texts


def _split_node(node: Any, base: str, places: Sequence[Place], cutter: _Cutter) -> Digest:
    """Store one node (a plain copy, which this changes) and return the digest of its skeleton."""
    offsets: defaultdict[str, set[int]] = defaultdict(set)
    for rest, start, end in places:
        if start is not None and end is not None:
            offsets[rest] |= {start, end}
    # A block with attributed texts inside (a tool result) is not whole: its texts are stored as they are.
    wholes = sorted({rest for rest, start, _ in places if start is None and not _holds(rest, offsets)})
    texts: list[tuple[str, list[Digest]]] = []
    for rest in sorted(offsets):
        text = _find(node, rest)
        if isinstance(text, str):
            texts.append((rest, cutter.cut(absolute(base, rest), text, offsets[rest])))
            node = replace_at(node, rest, "")
    kept: list[tuple[str, Digest]] = []
    for rest in wholes:
        block = _find(node, rest)
        if isinstance(block, (dict, list)) and not any(_inside(rest, outer) for outer, _ in kept):
            digest = cutter.keep(canonical_json(block).decode("utf-8"))
            kept.append((rest, digest))
            cutter.wholes[absolute(base, rest)] = digest
            node = replace_at(node, rest, None)
    return cutter.keep(canonical_json([node, texts, kept]).decode("utf-8"))


def _holds(pointer: str, offsets: Iterable[str]) -> bool:
    return any(_inside(inner, pointer) for inner in offsets)


def _inside(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer + "/")


def _find(node: Any, pointer: str) -> Any:
    try:
        return resolve(node, pointer)
    except KeyError:
        return None


def _plain(value: Any) -> Any:
    """Return a deep copy in dicts and lists, key order kept."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _without_marks(node: Any, pointer: str, marks: list[Mark]) -> Any:
    """Return a plain copy of a node without its marks and those of its content blocks; note them."""
    copy = _plain(node)
    blocks = [(pointer, copy)]
    if isinstance(copy, dict) and isinstance(copy.get("content"), list):
        blocks += [(f"{pointer}/content/{number}", block) for number, block in enumerate(copy["content"])]
    for place, block in blocks:
        if isinstance(block, dict) and MARK_KEY in block:
            marks.append(Mark(place, list(block).index(MARK_KEY), block.pop(MARK_KEY)))
    return copy


def needed_texts(skeletons: Iterable[str]) -> frozenset[Digest]:
    """Return the digests of all texts that these node skeletons (as stored) name."""
    needed: set[Digest] = set()
    for stored in skeletons:
        _, texts, wholes = json.loads(stored)
        needed.update(digest for _, pieces in texts for digest in pieces)
        needed.update(digest for _, digest in wholes)
    return frozenset(needed)


def join_request(skeleton: Skeleton, texts: Mapping[Digest, str]) -> dict[str, Any]:
    """Return the request that `split_request` took apart.

    Args:
        skeleton: its skeleton, marks included.
        texts: at least every node skeleton and every text that those name.

    Raises:
        KeyError: a text is missing; the key is its digest.
    """
    request: dict[str, Any] = {
        name: [join_node(texts[digest], texts) for digest in getattr(skeleton, name)] for name in _LISTS
    }
    for mark in skeleton.marks:
        block = resolve(request, mark.pointer)
        items = list(block.items())
        items.insert(mark.position, (MARK_KEY, mark.value))
        block.clear()
        block.update(items)
    return request


def join_node(stored: str, texts: Mapping[Digest, str]) -> Any:
    """Return one node from its skeleton as stored.

    Raises:
        KeyError: a text is missing; the key is its digest.
    """
    node, pieces, wholes = json.loads(stored)
    for rest, digest in wholes:
        node = replace_at(node, rest, json.loads(texts[digest]))
    for rest, digests in sorted(pieces, key=lambda entry: len(tokens(entry[0]))):
        node = replace_at(node, rest, "".join(texts[digest] for digest in digests))
    return node
