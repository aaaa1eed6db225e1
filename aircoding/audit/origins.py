"""What stands behind the source of a segment: the tool call that made or brought it, the files that import it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aircoding.records.manifest import AssembledContext, Manifest, SegmentRecord
from aircoding.records.selections import read_selection

__all__ = ["Call", "Origins", "call_of"]

_NAMING = ("path", "command", "pattern", "text", "artifact", "name", "url", "uri", "query")
"""Inputs of tools that say what a call is about, the first that is there counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call as a person tells it from others: the tool, and the path, command or words that it was given."""

    tool: str
    about: str = ""


class Origins:
    """What one request says of where its texts came from; made once for many questions."""

    def __init__(self, context: AssembledContext) -> None:
        self._context = context

    @property
    def manifest(self) -> Manifest:
        """The account of the request."""
        return self._context.manifest

    def call_at(self, block: str) -> Call | None:
        """Return the call that a block (a JSON pointer) is, or is the result of; None: it is neither."""
        node = _node_at(self._context, block)
        if node.get("type") == "tool_use":
            return call_of(node)
        return self._calls.get(str(node.get("tool_use_id"))) if node.get("type") == "tool_result" else None

    def importers_of(self, record: SegmentRecord) -> tuple[str, ...]:
        """Return the files that lead to a segment's file, the nearest first; none where it is read by itself."""
        found: list[str] = []
        importer = read_selection(record.selected_by).importer
        while importer is not None and importer not in found:
            found.append(importer)
            importer = self._importers.get(importer)
        return tuple(found)

    @cached_property
    def _calls(self) -> Mapping[str, Call]:
        return {str(node["id"]): call_of(node) for node in _nodes(self._context) if node.get("type") == "tool_use"}

    @cached_property
    def _importers(self) -> Mapping[str, str | None]:
        return {one.source.uri: read_selection(one.selected_by).importer for one in self.manifest.segments}


def call_of(node: Mapping[str, Any]) -> Call:
    """Return a `tool_use` block as a call."""
    given = node.get("input")
    values = given if isinstance(given, Mapping) else {}
    about = next((values[name] for name in _NAMING if isinstance(values.get(name), str)), "")
    return Call(tool=str(node.get("name")), about=str(about))


def _nodes(context: AssembledContext) -> Iterator[Mapping[str, Any]]:
    return (node for message in context.messages for node in message["content"])


def _node_at(context: AssembledContext, block: str) -> Mapping[str, Any]:
    """Return the block of a message at or around a pointer; what is in no message has none."""
    kind, _, rest = block.removeprefix("/").partition("/")
    if kind != "messages":
        return {}
    position, _, number, *_ = rest.split("/")
    node: Mapping[str, Any] = context.messages[int(position)]["content"][int(number)]
    return node
