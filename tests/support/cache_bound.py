"""The best that the rules of the prompt cache allow for given contents, whatever the marks, the order and the leader.

It shares no code with the product's two accounts. Requests are lists of blocks (a label for the bytes, and tokens);
marks are removed. Blocks are laid into a tree: a node is a block together with all that stands before it.

**Reads.** A node that N requests pass through can be read by at most N - 1 of them: the first request that has this
prefix has nothing to read it from. So no order, no choice of leader and no placement of marks reads more than the
sum over the nodes of tokens x (N - 1). This is an upper bound for any number of requests.

**Cost.** Of the N requests through a node each pays its tokens as read (r), written (w) or plain input (1), with
r < 1 < w. If none reads the node, they pay at least N. If one reads it, an entry that covers it was written before; the
first request that wrote such an entry cannot have read the node, so it paid w, and the others pay at least r each.
So the cost is at least the sum over the nodes of tokens x min(N, w + (N - 1) r). This is a lower bound.

**Small cases.** `best_by_search` tries every order that keeps each session's requests in turn and every set of at
most `marks` marks on each request, by an account of its own in a few lines, and returns the most that is read and the
least that is paid. The tests hold it against both bounds.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Blocks = tuple[tuple[str, int], ...]
"""A request: for each block in prompt order a label that stands for its bytes, and its tokens."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices of one token."""

    read: float
    write: float
    plain: float


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What no placement of marks and no order can beat."""

    prompt_tokens: int
    most_read_tokens: int
    least_cost: float

    @property
    def best_share(self) -> float:
        """The largest share of the prompts that can be read from the cache."""
        return self.most_read_tokens / self.prompt_tokens


def bound(requests: Sequence[Blocks], prices: Prices) -> Bound:
    """Return the bounds for requests whose contents are given."""
    passing: Counter[int] = Counter()
    tokens_of: dict[int, int] = {}
    ids: dict[tuple[int, str], int] = {}
    for blocks in requests:
        node = 0
        for label, tokens in blocks:
            node = ids.setdefault((node, label), len(ids) + 1)
            passing[node] += 1
            tokens_of[node] = tokens
    read = sum(tokens_of[node] * (count - 1) for node, count in passing.items())
    plain, write = prices.plain, prices.write
    cost = sum(
        tokens_of[node] * min(count * plain, write + (count - 1) * prices.read) for node, count in passing.items()
    )
    total = sum(tokens for blocks in requests for _, tokens in blocks)
    return Bound(prompt_tokens=total, most_read_tokens=read, least_cost=cost)


def best_by_search(
    sessions: Sequence[Sequence[Blocks]], prices: Prices, *, marks: int = 4, look_back: int = 20
) -> tuple[int, float]:
    """Return the most tokens that are read and the least that is paid, over all orders and placements."""
    most, least = 0, float("inf")
    for order in set(itertools.permutations([n for n, session in enumerate(sessions) for _ in session])):
        queues = [iter(session) for session in sessions]
        requests = [next(queues[n]) for n in order]
        for placement in itertools.product(*(_placements(len(blocks), marks) for blocks in requests)):
            read, cost = _account(requests, placement, prices, look_back)
            most, least = max(most, read), min(least, cost)
    return most, least


def _placements(blocks: int, marks: int) -> list[tuple[int, ...]]:
    return [some for size in range(marks + 1) for some in itertools.combinations(range(blocks), size)]


def _account(
    requests: Sequence[Blocks], placement: Sequence[tuple[int, ...]], prices: Prices, look_back: int
) -> tuple[int, float]:
    """Send the requests one after the other, each after the answer before it, within a minute."""
    written: set[Blocks] = set()
    read_all, cost = 0, 0.0
    for blocks, marks in zip(requests, placement, strict=True):
        seen = [end for mark in marks for end in range(mark, max(mark - look_back, -1), -1)]
        hits = [end for end in seen if blocks[: end + 1] in written]
        read = sum(tokens for _, tokens in blocks[: max(hits) + 1]) if hits else 0
        cached = max(read, sum(tokens for _, tokens in blocks[: max(marks) + 1]) if marks else 0)
        total = sum(tokens for _, tokens in blocks)
        cost += read * prices.read + (cached - read) * prices.write + (total - cached) * prices.plain
        read_all += read
        written |= {blocks[: mark + 1] for mark in marks}
    return read_all, cost


def blocks_of(body: Mapping[str, Any]) -> Blocks:
    """Return a request as the bound takes it: marks removed, 4 bytes of JSON a token, rounded up, as simulated."""
    return tuple(_labelled(body))


def _labelled(body: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for part in ("tools", "system"):
        for block in body.get(part) or ():
            yield _label(part, block)
    for message in body["messages"]:
        for block in message["content"]:
            yield _label(str(message["role"]), block)


def _label(place: str, block: Mapping[str, Any]) -> tuple[str, int]:
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return f"{place} {text}", -(-len(text.encode("utf-8")) // 4)
