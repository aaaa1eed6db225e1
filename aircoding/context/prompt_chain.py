"""A request as the prompt cache sees it: blocks in prompt order, each with the digest of everything up to its end.

Pure. The digests of a prefix that was sent before are reused, so that a turn costs a comparison of what it repeats
(no hashing) and the hashing of what it adds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aircoding.records.caching import CacheRules
from aircoding.records.digests import canonical_json, sorted_json

__all__ = ["Chain", "Link", "TokensOf", "chain_of"]

TokensOf = Callable[[str, Mapping[str, Any]], int]
"""Given a block's pointer and the block: its tokens (an estimate before the call)."""

TIERS = ("tools", "system", "messages")
"""The order of a prompt; a change in one invalidates it and those after it."""

_UNMARKABLE = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Link:
    """One block: where it stands, what it is, and the prefix that ends with it.

    `position` counts as a lookup counts: a run of tool calls or of tool results is one.
    """

    pointer: str
    tier: str
    place: str
    block: Mapping[str, Any]
    digest: bytes
    tokens: int
    prefix_tokens: int
    position: int
    ttl: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A request's blocks in prompt order; `settings` are what else is part of each tier's key."""

    model: str
    settings: Mapping[str, bytes]
    links: tuple[Link, ...]

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the request."""
        return self.links[-1].prefix_tokens if self.links else 0


def chain_of(
    body: Mapping[str, Any], rules: CacheRules, *, model: str, tokens_of: TokensOf, before: Chain | None = None
) -> Chain:
    """Return the chain of a request (`tools`, `system`, `messages`, and settings such as `tool_choice`).

    `before` is a chain whose digests may be reused: that of the session's last request. Only blocks that are equal
    to the byte are taken from it.
    """
    settings = _settings(body, rules)
    known = before.links if before is not None and before.model == model else ()
    links: list[Link] = []
    digest, tokens, position, last_kind, tier = model.encode("utf-8"), 0, 0, "", ""
    for number, (pointer, own_tier, place, block) in enumerate(_blocks(body, rules)):
        if known and (number >= len(known) or not _repeats(known[number], place, block)):
            known = ()
        while tier != own_tier:
            tier = TIERS[TIERS.index(tier) + 1] if tier else TIERS[0]
            if before is not None and settings[tier] != before.settings[tier]:
                known = ()
            digest = hashlib.sha256(digest + settings[tier]).digest()
        kind = str(block.get("type") or "")
        position += not (kind in rules.one_position_kinds and kind == last_kind)
        last_kind = kind
        if known:
            link = _placed(known[number], pointer, block, position)
        else:
            data = canonical_json({key: value for key, value in block.items() if key != "cache_control"})
            own = hashlib.sha256(digest + place.encode("utf-8") + data).digest()
            size = tokens_of(pointer, block)
            link = Link(pointer, tier, place, block, own, size, tokens + size, position, _ttl(block))
        links.append(link)
        digest, tokens = link.digest, link.prefix_tokens
    return Chain(model=model, settings=settings, links=_with_automatic_mark(body, links))


def _placed(old: Link, pointer: str, block: Mapping[str, Any], position: int) -> Link:
    """Return a link that was known before as it stands now: the same one, unless its mark has moved."""
    ttl = _ttl(block)
    if (old.pointer, old.position, old.ttl) == (pointer, position, ttl):
        return old
    return Link(pointer, old.tier, old.place, block, old.digest, old.tokens, old.prefix_tokens, position, ttl)


def _blocks(body: Mapping[str, Any], rules: CacheRules) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Yield pointer, tier, place and block in prompt order.

    The place tells blocks apart whose bytes are equal: who speaks. Where one message of a role ends and the next begins
    does not count, since the API combines them. A web search tool is rendered into the system prompt.
    """
    tools = [(f"/tools/{number}", tool) for number, tool in enumerate(body.get("tools") or ())]
    yield from ((pointer, "tools", "tool", tool) for pointer, tool in tools if not _is_web_search(tool))
    yield from ((pointer, "system", "tool", tool) for pointer, tool in tools if _is_web_search(tool))
    for number, block in enumerate(_as_blocks(body.get("system"))):
        yield f"/system/{number}", "system", "system", block
    messages = body.get("messages") or ()
    stripped_before = 0 if rules.keeps_thinking else _last_words_of_a_person(messages)
    for index, message in enumerate(messages):
        for number, block in enumerate(_as_blocks(message["content"])):
            if index < stripped_before and block.get("type") in _UNMARKABLE:
                continue
            yield f"/messages/{index}/content/{number}", "messages", str(message["role"]), block


def _last_words_of_a_person(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return the index of the last user message that holds more than tool results, or 0."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "user" and any(
            block.get("type") != "tool_result" for block in _as_blocks(message["content"])
        ):
            return index
    return 0


def _settings(body: Mapping[str, Any], rules: CacheRules) -> Mapping[str, bytes]:
    """Return what else invalidates each tier when it changes."""
    effort = (body.get("output_config") or {}).get("effort")
    thinking = [body.get("thinking"), None if effort == rules.default_effort else effort]
    system = [body.get("speed"), _any_block(body, _has_citations)]
    messages = [body.get("tool_choice"), _any_block(body, _is_image)]
    early = rules.thinking_invalidates == "all"
    return {
        "tools": sorted_json([thinking if early else None]),
        "system": sorted_json(system),
        "messages": sorted_json([*messages, None if early else thinking]),
    }


def _any_block(body: Mapping[str, Any], test: Callable[[Mapping[str, Any]], bool]) -> bool:
    for message in body.get("messages") or ():
        for block in _as_blocks(message["content"]):
            inner = block.get("content")
            if test(block) or (isinstance(inner, list) and any(test(part) for part in inner)):
                return True
    return False


def _is_image(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "image"


def _has_citations(block: Mapping[str, Any]) -> bool:
    return bool((block.get("citations") or {}).get("enabled")) if block.get("type") == "document" else False


def _is_web_search(tool: Mapping[str, Any]) -> bool:
    return str(tool.get("type") or "").startswith("web_search")


def _as_blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or ()


def _ttl(block: Mapping[str, Any]) -> str | None:
    mark = block.get("cache_control")
    if not isinstance(mark, Mapping) or not _takes_mark(block):
        return None
    return str(mark.get("ttl") or "5m")


def _takes_mark(block: Mapping[str, Any]) -> bool:
    if block.get("defer_loading"):
        return False
    return block.get("type") not in _UNMARKABLE and not (block.get("type") == "text" and not block.get("text"))


def _with_automatic_mark(body: Mapping[str, Any], links: list[Link]) -> tuple[Link, ...]:
    """Set the mark that a top-level `cache_control` asks for: on the last block that may carry one."""
    automatic = body.get("cache_control")
    if isinstance(automatic, Mapping):
        for index in range(len(links) - 1, -1, -1):
            if _takes_mark(links[index].block):
                ttl = links[index].ttl or str(automatic.get("ttl") or "5m")
                links[index] = replace(links[index], ttl=ttl)
                break
    return tuple(links)


def _repeats(link: Link, place: str, block: Mapping[str, Any]) -> bool:
    return link.place == place and _same_object(link.block, block)


def _same_object(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two blocks have the same bytes, their marks apart: key order and kinds of numbers count."""
    ours = [key for key in old if key != "cache_control"]
    theirs = [key for key in new if key != "cache_control"]
    return ours == theirs and all(_same(old[key], new[key]) for key in ours)


def _same(old: Any, new: Any) -> bool:
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        return list(old) == list(new) and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return bool(old == new)
