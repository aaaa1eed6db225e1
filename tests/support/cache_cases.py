"""Golden cases of the prompt cache, worked out by hand from the documentation; no number was taken from a program.

Every block is built to be an exact number of tokens by the rule of 4 bytes a token, so the sums can be done in the
head. `DOC` is https://platform.claude.com/docs/en/build-with-claude/prompt-caching (copy of September 2026); each
case cites the sentence that it tests. A send is (read, written for 5 minutes, written for 1 hour, paid in full).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

MINIMUM = 100
"""The shortest prefix that is kept in these cases, unless one says otherwise."""

M5 = {"type": "ephemeral"}
M1 = {"type": "ephemeral", "ttl": "1h"}


@dataclass(frozen=True, kw_only=True)
class Send:
    """One request: when it starts, when its answer begins (None: never), and what the documentation says it uses."""

    at: float
    body: dict[str, Any]
    uses: tuple[int, int, int, int]
    begins: float | None = -1.0
    model: str = "claude-sonnet-5-5"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A sequence of requests; `says` is the sentence of the documentation."""

    name: str
    says: str
    sends: list[Send]
    minimum: int = MINIMUM


def _sized(block: dict[str, Any], key: str, tokens: int) -> dict[str, Any]:
    """Fill the text at `key` until the block's JSON is 4 bytes for each token."""
    room = 4 * tokens - len(json.dumps(block, separators=(",", ":"), ensure_ascii=False).encode())
    assert room >= 0, f"{block} does not fit {tokens} tokens"
    return {**block, key: block[key] + "." * room}


def t(name: str, tokens: int, mark: dict[str, str] | None = None) -> dict[str, Any]:
    """A text block of exactly that many tokens; the mark does not count."""
    block = _sized({"type": "text", "text": name}, "text", tokens)
    return {**block, "cache_control": mark} if mark else block


def tool(name: str, tokens: int, mark: dict[str, str] | None = None) -> dict[str, Any]:
    block = _sized({"name": name, "description": "", "input_schema": {"type": "object"}}, "description", tokens)
    return {**block, "cache_control": mark} if mark else block


def thinking(name: str, tokens: int) -> dict[str, Any]:
    return _sized({"type": "thinking", "thinking": name, "signature": "s"}, "thinking", tokens)


def use(name: str, tokens: int = 25) -> dict[str, Any]:
    return _sized({"type": "tool_use", "id": name, "name": "f", "input": {}}, "id", tokens)


def call_with(given: dict[str, Any]) -> dict[str, Any]:
    """A call of 50 tokens with that input."""
    return _sized({"type": "tool_use", "id": "1", "name": "f", "input": given}, "id", 50)


def result(name: str, tokens: int = 25, mark: dict[str, str] | None = None) -> dict[str, Any]:
    block = _sized({"type": "tool_result", "tool_use_id": name, "content": ""}, "content", tokens)
    return {**block, "cache_control": mark} if mark else block


def image(tokens: int = 50) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": ""}
    room = 4 * tokens - len(json.dumps({"type": "image", "source": source}, separators=(",", ":")))
    return {"type": "image", "source": {**source, "data": "A" * room}}


def user(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def said(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


@dataclass(frozen=True)
class Body:
    """Shorthand for a request."""

    tools: list[dict[str, Any]] = field(default_factory=list)
    system: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, **settings: Any) -> dict[str, Any]:
        return {"tools": self.tools, "system": self.system, "messages": self.messages, **settings}


def texts(count: int, first: int = 1, *, last_mark: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Blocks number `first` and on, 50 tokens each, the last one marked."""
    return [t(f"b{n}", 50, last_mark if n == first + count - 1 else None) for n in range(first, first + count)]


TOOLS = [tool("a", 100), tool("b", 100, M5)]
"""200 tokens, marked at their end."""
SYSTEM = [t("system", 300, M5)]
"""300 tokens, marked."""


def layered(words: str = "hello", *, system: str = "system", tools: list[dict[str, Any]] | None = None) -> Any:
    """Tools 200, system 300, one message 100, a mark at the end of each: 600 tokens in all."""
    return Body(tools or TOOLS, [t(system, 300, M5)], [user(t(words, 100, M5))])


def one(tokens: int = 1_000, mark: dict[str, str] | None = M5, name: str = "x") -> dict[str, Any]:
    """One message of one marked block."""
    return Body(messages=[user(t(name, tokens, mark))])()


CASES = [
    Case(
        name="a prefix is written once and read after",
        says="If found, it uses the cached version; otherwise it processes the full prompt and caches the prefix",
        # 1,000 tokens up to the mark: written the first time, read the second; 50 after the mark are paid both times.
        sends=[
            Send(at=0, body=Body(messages=[user(t("x", 1_000, M5), t("q1", 50))])(), uses=(0, 1_000, 0, 50)),
            Send(at=1, body=Body(messages=[user(t("x", 1_000, M5), t("q2", 50))])(), uses=(1_000, 0, 0, 50)),
        ],
    ),
    Case(
        name="without a mark nothing is cached",
        says="Cache writes happen only at your breakpoint",
        sends=[
            Send(at=0, body=one(mark=None), uses=(0, 0, 0, 1_000)),
            Send(at=1, body=one(mark=None), uses=(0, 0, 0, 1_000)),
        ],
    ),
    Case(
        name="the documentation's growing conversation: 10 blocks, then 15, then 35",
        says="Turn 2 finds the entry at block 10; turn 3 checks blocks 35 through 16 and finds nothing",
        # 50 tokens a block. Turn 2: reads 10 x 50, writes 5 x 50. Turn 3: 35 x 50 written again.
        sends=[
            Send(at=0, body=Body(messages=[user(*texts(10, last_mark=M5))])(), uses=(0, 500, 0, 0)),
            Send(at=1, body=Body(messages=[user(*texts(15, last_mark=M5))])(), uses=(500, 250, 0, 0)),
            Send(at=2, body=Body(messages=[user(*texts(35, last_mark=M5))])(), uses=(0, 1_750, 0, 0)),
        ],
    ),
    Case(
        name="the same with a second mark at block 15",
        says="Adding a second breakpoint at block 15 starts a second lookback window there, which finds the entry",
        # Turn 3 reads 15 x 50 and writes the 20 blocks after it.
        sends=[
            Send(at=0, body=Body(messages=[user(*texts(15, last_mark=M5))])(), uses=(0, 750, 0, 0)),
            Send(
                at=1,
                body=Body(messages=[user(*texts(15, last_mark=M5), *texts(20, 16, last_mark=M5))])(),
                uses=(750, 1_000, 0, 0),
            ),
        ],
    ),
    Case(
        name="the twentieth position is still checked",
        says="The system checks at most 20 positions per breakpoint, counting the breakpoint itself as the first",
        # Entry at block 1 (100 tokens, so that it is kept); mark at block 20: positions 20 down to 1 are twenty.
        # 100 read, 19 x 50 written.
        sends=[
            Send(at=0, body=Body(messages=[user(t("b", 100, M5))])(), uses=(0, 100, 0, 0)),
            Send(at=1, body=Body(messages=[user(t("b", 100), *texts(19, 2, last_mark=M5))])(), uses=(100, 950, 0, 0)),
        ],
    ),
    Case(
        name="the twenty-first is not",
        says="The system checks at most 20 positions per breakpoint, counting the breakpoint itself as the first",
        # Mark at block 21: positions 21 down to 2; the entry at 1 is not found: 100 + 20 x 50 written.
        sends=[
            Send(at=0, body=Body(messages=[user(t("b", 100, M5))])(), uses=(0, 100, 0, 0)),
            Send(at=1, body=Body(messages=[user(t("b", 100), *texts(20, 2, last_mark=M5))])(), uses=(0, 1_100, 0, 0)),
        ],
    ),
    Case(
        name="thirty parallel tool calls and their results are two positions",
        says="a run of consecutive tool_use blocks counts as one position, and so does a run of tool_result blocks",
        # After the entry (200) come 30 calls and 30 results of 25 tokens: 1,500 written, 200 read.
        sends=[
            Send(at=0, body=Body(messages=[user(t("task", 200, M5))])(), uses=(0, 200, 0, 0)),
            Send(
                at=1,
                body=Body(
                    messages=[
                        user(t("task", 200)),
                        said(*(use(f"u{n}") for n in range(30))),
                        user(*(result(f"u{n}", 25, M5 if n == 29 else None) for n in range(30))),
                    ]
                )(),
                uses=(200, 1_500, 0, 0),
            ),
        ],
    ),
    Case(
        name="ten turns of one call each with a text between are thirty positions",
        says="a run of consecutive tool_use blocks counts as one position (a run: nothing stands between)",
        # Per turn: a text 50, a call 25, a result 25: three positions. After 7 turns the entry is 21 positions back:
        # 1 + 7 x 3 = 22 positions, 22 - 20 = 2: positions 3 to 22 are checked. All is written: 200 + 7 x 100.
        sends=[
            Send(at=0, body=Body(messages=[user(t("task", 200, M5))])(), uses=(0, 200, 0, 0)),
            Send(
                at=1,
                body=Body(
                    messages=[
                        user(t("task", 200)),
                        *(
                            one_message
                            for n in range(7)
                            for one_message in (
                                said(t(f"s{n}", 50), use(f"u{n}")),
                                user(result(f"u{n}", 25, M5 if n == 6 else None)),
                            )
                        ),
                    ]
                )(),
                uses=(0, 900, 0, 0),
            ),
        ],
    ),
    Case(
        name="six such turns are found",
        says="the same: 1 + 6 x 3 = 19 positions, all of which are checked",
        sends=[
            Send(at=0, body=Body(messages=[user(t("task", 200, M5))])(), uses=(0, 200, 0, 0)),
            Send(
                at=1,
                body=Body(
                    messages=[
                        user(t("task", 200)),
                        *(
                            one_message
                            for n in range(6)
                            for one_message in (
                                said(t(f"s{n}", 50), use(f"u{n}")),
                                user(result(f"u{n}", 25, M5 if n == 5 else None)),
                            )
                        ),
                    ]
                )(),
                uses=(200, 600, 0, 0),
            ),
        ],
    ),
    Case(
        name="a mark on what changes every time never reads",
        says="The lookback does not find stable content behind your breakpoint; it finds entries of prior requests",
        # System 500 without a mark, then a marked block that differs: 550 written each time.
        sends=[
            Send(at=0, body=Body([], [t("s", 500)], [user(t("10:00", 50, M5))])(), uses=(0, 550, 0, 0)),
            Send(at=1, body=Body([], [t("s", 500)], [user(t("10:01", 50, M5))])(), uses=(0, 550, 0, 0)),
        ],
    ),
    Case(
        name="the longest of several entries is read",
        says="The system automatically finds the longest prefix that a prior request already wrote",
        # Tools 200, system 300, message 100, each marked. The second request repeats tools and system only.
        sends=[
            Send(at=0, body=layered("one")(), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered("two")(), uses=(500, 100, 0, 0)),
            Send(at=2, body=layered("one")(), uses=(600, 0, 0, 0)),
        ],
    ),
    Case(
        name="another system prompt leaves the tools",
        says="Changes at each level invalidate that level and all subsequent levels",
        # Tools 200 read; system 300 and message 100 written.
        sends=[
            Send(at=0, body=layered()(), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered(system="other")(), uses=(200, 400, 0, 0)),
        ],
    ),
    Case(
        name="another tool invalidates everything",
        says="Modifying tool definitions (names, descriptions, parameters) invalidates the entire cache",
        sends=[
            Send(at=0, body=layered()(), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered(tools=[tool("c", 100), tool("b", 100, M5)])(), uses=(0, 600, 0, 0)),
        ],
    ),
    Case(
        name="a change of tool_choice invalidates the messages only",
        says="Changes to tool_choice parameter only affect message blocks",
        # Tools and system 500 read, the message 100 written.
        sends=[
            Send(at=0, body=layered()(), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered()(tool_choice={"type": "any"}), uses=(500, 100, 0, 0)),
            Send(at=2, body=layered()(), uses=(600, 0, 0, 0)),
        ],
    ),
    Case(
        name="an image anywhere invalidates the messages only",
        says="Adding/removing images anywhere in the prompt affects message blocks",
        # First message 100 marked, a second 100 marked. With an image of 50 behind, even the first is written again.
        sends=[
            Send(at=0, body=layered()(), uses=(0, 600, 0, 0)),
            Send(
                at=1,
                body=Body(TOOLS, SYSTEM, [user(t("hello", 100, M5)), said(t("a", 50)), user(image(50))])(),
                uses=(500, 100, 0, 100),
            ),
        ],
    ),
    Case(
        name="a change of thinking invalidates the messages",
        says="The thinking configuration is rendered into the prompt, so changing it always invalidates message blocks",
        sends=[
            Send(at=0, body=layered()(thinking={"type": "adaptive"}), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered()(), uses=(500, 100, 0, 0)),
            Send(at=2, body=layered()(thinking={"type": "adaptive"}), uses=(600, 0, 0, 0)),
        ],
    ),
    Case(
        name="a change of effort does too, its default does not",
        says="Setting effort explicitly to the model's default is equivalent to omitting it and does not invalidate",
        sends=[
            Send(at=0, body=layered()(), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered()(output_config={"effort": "high"}), uses=(600, 0, 0, 0)),
            Send(at=2, body=layered()(output_config={"effort": "low"}), uses=(500, 100, 0, 0)),
        ],
    ),
    Case(
        name="another speed leaves only the tools",
        says="Switching between speed fast and standard invalidates system and message caches",
        sends=[
            Send(at=0, body=layered()(), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered()(speed="fast"), uses=(200, 400, 0, 0)),
        ],
    ),
    Case(
        name="max_tokens, stream and metadata change nothing",
        says="The table of what invalidates the cache does not name them",
        sends=[
            Send(at=0, body=layered()(max_tokens=10), uses=(0, 600, 0, 0)),
            Send(at=1, body=layered()(max_tokens=20, stream=True, metadata={"user_id": "u"}), uses=(600, 0, 0, 0)),
        ],
    ),
    Case(
        name="another model has a cache of its own",
        says="Cache hits require 100% identical prompt segments; a model reads no other model's entries",
        sends=[
            Send(at=0, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=1, body=one(), uses=(0, 1_000, 0, 0), model="claude-opus-5"),
            Send(at=2, body=one(), uses=(1_000, 0, 0, 0)),
        ],
    ),
    Case(
        name="a prefix below the minimum is not cached",
        says="Shorter prompts cannot be cached, even if marked; no error is returned",
        # 99 tokens with a minimum of 100: paid in full, both times.
        sends=[
            Send(at=0, body=one(99), uses=(0, 0, 0, 99)),
            Send(at=1, body=one(99), uses=(0, 0, 0, 99)),
        ],
    ),
    Case(
        name="the minimum itself is cached",
        says="the minimum cacheable prompt length is N tokens",
        sends=[
            Send(at=0, body=one(100), uses=(0, 100, 0, 0)),
            Send(at=1, body=one(100), uses=(100, 0, 0, 0)),
        ],
    ),
    Case(
        name="the length that counts is that of the whole prefix",
        says="Prompt caching references the entire prompt - tools, system, and messages - up to the marked block",
        # A block of 60 after a block of 60: its prefix has 120. The first mark, at 60, is ignored.
        sends=[
            Send(at=0, body=Body([], [t("s", 60, M5)], [user(t("m", 60, M5))])(), uses=(0, 120, 0, 0)),
            Send(at=1, body=Body([], [t("s", 60, M5)], [user(t("n", 60, M5))])(), uses=(0, 120, 0, 0)),
            Send(at=2, body=Body([], [t("s", 60, M5)], [user(t("m", 60, M5))])(), uses=(120, 0, 0, 0)),
        ],
    ),
    Case(
        name="an entry lives five minutes and no longer",
        says="By default, the cache has a 5-minute lifetime",
        sends=[
            Send(at=0, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=300, body=one(), uses=(0, 1_000, 0, 0)),
        ],
    ),
    Case(
        name="a read gives it five more",
        says="The cache is refreshed for no additional cost each time the cached content is used",
        # Read at 299 s, so alive until 599 s: read at 598; that gives until 898: gone at 898.
        sends=[
            Send(at=0, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=299, body=one(), uses=(1_000, 0, 0, 0)),
            Send(at=598, body=one(), uses=(1_000, 0, 0, 0)),
            Send(at=898, body=one(), uses=(0, 1_000, 0, 0)),
        ],
    ),
    Case(
        name="the life counts from the start of the request, not from its answer",
        says="The lifetime is measured from the start of the request; if a response takes 4 minutes, 1 is left",
        # Starts at 0, begins to answer at 240: at 299 it is there, a fresh one at 600 (301 s after 299) is not.
        sends=[
            Send(at=0, begins=240, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=299, begins=None, body=one(), uses=(1_000, 0, 0, 0)),
            Send(at=301, body=one(), uses=(0, 1_000, 0, 0)),
        ],
    ),
    Case(
        name="an hour's entry lives an hour",
        says="include ttl in the cache_control definition: 1h",
        sends=[
            Send(at=0, body=one(mark=M1), uses=(0, 0, 1_000, 0)),
            Send(at=3_599, body=one(mark=M1), uses=(1_000, 0, 0, 0)),
            Send(at=7_199, body=one(mark=M1), uses=(0, 0, 1_000, 0)),
        ],
    ),
    Case(
        name="a read gives an entry its own life again, whatever the mark says",
        says="The cache is refreshed each time the cached content is used; B is the highest 1-hour mark AFTER A",
        # An hour's entry, read at 3,000 s through a mark of five minutes, lives until 6,600 s. One of five minutes,
        # read at 7,100 s through a mark of an hour, is not written for an hour (no mark after A): gone at 7,400 s.
        sends=[
            Send(at=0, body=one(mark=M1), uses=(0, 0, 1_000, 0)),
            Send(at=3_000, body=one(), uses=(1_000, 0, 0, 0)),
            Send(at=6_599, begins=None, body=one(), uses=(1_000, 0, 0, 0)),
            Send(at=7_000, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=7_100, body=one(mark=M1), uses=(1_000, 0, 0, 0)),
            Send(at=7_400, body=one(), uses=(0, 1_000, 0, 0)),
        ],
    ),
    Case(
        name="mixed lives are billed by the positions A, B and C",
        says="read tokens for A; 1-hour write for (B - A); 5-minute write for (C - B)",
        # System 300 for an hour, message 200 for five minutes. Cold: A 0, B 300, C 500. With the system warm and
        # another message: A 300, no 1-hour mark after A so B 300, C 500.
        sends=[
            Send(at=0, body=Body([], [t("s", 300, M1)], [user(t("m", 200, M5))])(), uses=(0, 200, 300, 0)),
            Send(at=1, body=Body([], [t("s", 300, M1)], [user(t("n", 200, M5))])(), uses=(300, 200, 0, 0)),
            # After ten minutes the hour's entry is there, the five minutes' is not.
            Send(at=600, body=Body([], [t("s", 300, M1)], [user(t("m", 200, M5))])(), uses=(300, 200, 0, 0)),
        ],
    ),
    Case(
        name="two marks of an hour: the highest one after the hit is B",
        says="Position B: the highest 1-hour cache_control block after A",
        # Tools 200 (1h), system 300 (1h), message 100 (5m). Other system: A 200, B 500, C 600.
        sends=[
            Send(
                at=0,
                body=Body([tool("a", 200, M1)], [t("s", 300, M1)], [user(t("m", 100, M5))])(),
                uses=(0, 100, 500, 0),
            ),
            Send(
                at=1,
                body=Body([tool("a", 200, M1)], [t("r", 300, M1)], [user(t("m", 100, M5))])(),
                uses=(200, 100, 300, 0),
            ),
        ],
    ),
    Case(
        name="requests at the same time all pay",
        says="a cache entry only becomes available after the first response begins",
        # Three start before any answer begins; the fourth, after the first began, reads.
        sends=[
            Send(at=0, begins=3, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=1, begins=4, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=2, begins=5, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=3, begins=6, body=one(), uses=(1_000, 0, 0, 0)),
        ],
    ),
    Case(
        name="a request that gets no answer leaves nothing",
        says="caches the prefix once the response begins",
        sends=[
            Send(at=0, begins=None, body=one(), uses=(0, 1_000, 0, 0)),
            Send(at=9, body=one(), uses=(0, 1_000, 0, 0)),
        ],
    ),
    Case(
        name="the automatic mark goes to the last block and moves on",
        says="System through User(2) read from cache; Asst(2) + User(3) written to cache",
        # 300 + 100 written; then 400 read, 50 + 100 written.
        sends=[
            Send(at=0, body=Body([], [t("s", 300)], [user(t("u1", 100))])(cache_control=M5), uses=(0, 400, 0, 0)),
            Send(
                at=1,
                body=Body([], [t("s", 300)], [user(t("u1", 100)), said(t("a1", 50)), user(t("u2", 100))])(
                    cache_control=M5
                ),
                uses=(400, 150, 0, 0),
            ),
        ],
    ),
    Case(
        name="the automatic mark on a block that is marked already changes nothing",
        says="If the last block already has an explicit cache_control with the same TTL, automatic caching is a no-op",
        sends=[
            Send(at=0, body={**one(), "cache_control": M5}, uses=(0, 1_000, 0, 0)),
            Send(at=1, body=one(), uses=(1_000, 0, 0, 0)),
        ],
    ),
    Case(
        name="the automatic mark walks back from what cannot carry one",
        says="If the last block is not eligible, the system silently walks backwards to the nearest eligible block",
        # User 200, then an assistant turn that ends with thinking of 50: the mark goes to the user's block.
        sends=[
            Send(
                at=0,
                body=Body([], [], [user(t("u", 200)), said(thinking("h", 50))])(cache_control=M5),
                uses=(0, 200, 0, 50),
            ),
            Send(at=1, body=one(200, name="u"), uses=(200, 0, 0, 0)),
        ],
    ),
    Case(
        name="thinking of earlier turns is cached with what stands around it",
        says="thinking blocks CAN be cached alongside other content when they appear in previous assistant turns",
        # 200; then + thinking 100, call 25, result 25 written; then all 350 read.
        sends=[
            Send(at=0, body=one(200, name="u"), uses=(0, 200, 0, 0)),
            Send(
                at=1,
                body=Body(
                    [], [], [user(t("u", 200)), said(thinking("h", 100), use("u1")), user(result("u1", 25, M5))]
                )(),
                uses=(200, 150, 0, 0),
            ),
            Send(
                at=2,
                body=Body(
                    [],
                    [],
                    [
                        user(t("u", 200)),
                        said(thinking("h", 100), use("u1")),
                        user(result("u1")),
                        said(t("ok", 50)),
                        user(t("more", 50, M5)),
                    ],
                )(),
                uses=(350, 100, 0, 0),
            ),
        ],
    ),
    Case(
        name="a model that forgets its thinking loses what follows it",
        says="all Haiku models: previously-cached thinking blocks are stripped, what follows them leaves the cache",
        # The third request holds user text, so the thinking (100) is dropped: 200 are read; call 25, result 25,
        # text 50 and text 50 are written: 150. The thinking is not paid for.
        sends=[
            Send(at=0, body=one(200, name="u"), uses=(0, 200, 0, 0), model="claude-haiku-4-5"),
            Send(
                at=1,
                body=Body(
                    [], [], [user(t("u", 200)), said(thinking("h", 100), use("u1")), user(result("u1", 25, M5))]
                )(),
                uses=(200, 150, 0, 0),
                model="claude-haiku-4-5",
            ),
            Send(
                at=2,
                body=Body(
                    [],
                    [],
                    [
                        user(t("u", 200)),
                        said(thinking("h", 100), use("u1")),
                        user(result("u1")),
                        said(t("ok", 50)),
                        user(t("more", 50, M5)),
                    ],
                )(),
                uses=(200, 150, 0, 0),
                model="claude-haiku-4-5",
            ),
        ],
    ),
    Case(
        name="a mark that moved away does not change the prefix",
        says="(marks are not part of what is hashed: the growing conversation of the documentation moves its mark)",
        # 300 written with the mark on the first block; with it on the second, 300 are read by looking back.
        sends=[
            Send(at=0, body=Body([], [t("s", 300, M5)], [user(t("m", 100))])(), uses=(0, 300, 0, 100)),
            Send(at=1, body=Body([], [t("s", 300)], [user(t("m", 100, M5))])(), uses=(300, 100, 0, 0)),
        ],
    ),
    Case(
        name="the order of keys is part of the bytes",
        says="Verify that the keys in your tool_use content blocks have stable ordering",
        # The call's input has its keys the other way round: 200 read, 50 + 25 written instead of all read.
        sends=[
            Send(
                at=0,
                body=Body(
                    [],
                    [],
                    [
                        user(t("u", 200, M5)),
                        said(call_with({"a": 1, "b": "x"})),
                        user(result("1", 25, M5)),
                    ],
                )(),
                uses=(0, 275, 0, 0),
            ),
            Send(
                at=1,
                body=Body(
                    [],
                    [],
                    [
                        user(t("u", 200, M5)),
                        said(call_with({"b": "x", "a": 1})),
                        user(result("1", 25, M5)),
                    ],
                )(),
                uses=(200, 75, 0, 0),
            ),
        ],
    ),
    Case(
        name="messages of one role in a row are one message",
        says="(Messages API: consecutive user or assistant turns are combined into a single turn)",
        # 300 written; the same blocks in two messages: 300 read.
        sends=[
            Send(at=0, body=Body([], [], [user(t("a", 100), t("b", 200, M5))])(), uses=(0, 300, 0, 0)),
            Send(at=1, body=Body([], [], [user(t("a", 100)), user(t("b", 200, M5))])(), uses=(300, 0, 0, 0)),
        ],
    ),
    Case(
        name="a text and a list of one text block are the same",
        says="(Messages API: a string is shorthand for an array of one content block of type text)",
        sends=[
            Send(at=0, body=Body([], [t("s", 300, M5)], [user(t("m", 100))])(), uses=(0, 300, 0, 100)),
            Send(
                at=1,
                body={"system": t("s", 300)["text"], "messages": [user(t("m", 100, M5))]},
                uses=(300, 100, 0, 0),
            ),
        ],
    ),
]
