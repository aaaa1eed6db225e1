"""A request always comes back byte for byte, and its texts are stored under the digests of its spans."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aircoding.records.digests import canonical_json, sha256_text
from aircoding.store.skeleton import join_node, join_request, needed_texts, split_message, split_request

words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-5, 5) | words
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)


@st.composite
def marked(draw: st.DrawFn, block: dict[str, Any]) -> dict[str, Any]:
    """Sometimes put a cache mark into a block, at any place among its keys."""
    if draw(st.integers(0, 3)):
        return block
    items = list(block.items())
    items.insert(draw(st.integers(0, len(items))), ("cache_control", {"type": "ephemeral", "ttl": draw(words)}))
    return dict(items)


texts = words.map(lambda text: {"type": "text", "text": text})
tool_uses = st.builds(lambda i, v: {"type": "tool_use", "id": i, "name": "fs_read", "input": v}, words, values)
tool_results = st.builds(
    lambda i, parts: {"type": "tool_result", "tool_use_id": i, "content": parts}, words, st.lists(texts, max_size=2)
)
odd = st.dictionaries(words, values, max_size=3)
blocks = (texts | tool_uses | tool_results | odd).flatmap(marked)
messages = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(blocks, max_size=4),
)
requests = st.builds(
    lambda tools, system, messages: {"tools": tools, "system": system, "messages": messages},
    st.lists(st.dictionaries(words, values, max_size=3).flatmap(marked), max_size=2),
    st.lists(texts.flatmap(marked), max_size=3),
    st.lists(messages, max_size=4),
)


def pointers(value: Any, at: str = "") -> list[str]:
    """Every pointer into a request, escaped."""
    found = [at]
    if isinstance(value, dict):
        for key, item in value.items():
            found += pointers(item, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            found += pointers(item, f"{at}/{number}")
    return found


@st.composite
def requests_with_places(draw: st.DrawFn) -> tuple[dict[str, Any], list[tuple[str, int | None, int | None]]]:
    """A request and spans that may be right, wrong, overlapping, or point nowhere."""
    request = draw(requests)
    deep = [pointer for pointer in pointers(request) if pointer.count("/") >= 2] or ["/system/7/text"]
    place = st.tuples(st.sampled_from([*deep, "/messages/9/content/0/text"]), st.none() | st.integers(0, 30))
    drawn = draw(st.lists(place, max_size=12))
    return request, [(at, start, None if start is None else start + draw(st.integers(0, 9))) for at, start in drawn]


@given(requests_with_places())
def test_whatever_the_spans_say_the_request_comes_back_byte_for_byte(
    drawn: tuple[dict[str, Any], list[tuple[str, int | None, int | None]]],
) -> None:
    """E58: the keys of an input or a schema come back in the order in which they were written, in every turn."""
    request, places = drawn
    before = copy.deepcopy(request)
    split = split_request(request, places)
    assert canonical_json(join_request(split.skeleton, split.texts)) == canonical_json(before)
    assert request == before, "the request was not changed"
    assert all(sha256_text(text) == digest for digest, text in split.texts.items())


@given(requests_with_places())
def test_only_the_named_texts_are_needed(
    drawn: tuple[dict[str, Any], list[tuple[str, int | None, int | None]]],
) -> None:
    request, places = drawn
    split = split_request(request, places)
    nodes = {*split.skeleton.tools, *split.skeleton.system, *split.skeleton.messages}
    needed = needed_texts(split.texts[node] for node in nodes)
    kept = {digest: split.texts[digest] for digest in needed | nodes}
    assert join_request(split.skeleton, kept) == request


@given(requests)
def test_marks_do_not_touch_the_skeletons(request_: dict[str, Any]) -> None:
    bare = split_request(join_unmarked(request_), ())
    assert bare.skeleton.marks == ()
    marked_split = split_request(request_, ())
    assert marked_split.skeleton.tools == bare.skeleton.tools
    assert marked_split.skeleton.messages == bare.skeleton.messages


def join_unmarked(request: dict[str, Any]) -> dict[str, Any]:
    """The request without marks on its nodes and content blocks."""
    bare = copy.deepcopy(request)
    for name in ("tools", "system", "messages"):
        for node in bare[name]:
            node.pop("cache_control", None)
            for block in node.get("content", []) if name == "messages" else []:
                block.pop("cache_control", None)
    return bare


def test_a_text_is_stored_in_the_pieces_of_its_spans() -> None:
    text = "# Rules\nüse tabs\nend"
    cut = len("# Rules\n")
    end = cut + len("üse tabs".encode())
    request = {"tools": [], "system": [{"type": "text", "text": text}], "messages": []}
    at = "/system/0/text"
    split = split_request(request, [(at, 0, cut), (at, cut, end), (at, end, len(text.encode()))])
    assert split.shown((at, cut, end)) == sha256_text("üse tabs")
    assert split.texts[sha256_text("üse tabs")] == "üse tabs"
    assert split.shown((at, 1, 3)) is None


def test_a_tool_use_is_whole_and_a_tool_result_keeps_its_text_readable() -> None:
    use = {"type": "tool_use", "id": "t", "name": "fs_read", "input": {"path": "a"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "line 1\nline 2"}]}
    request = {
        "tools": [],
        "system": [],
        "messages": [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}],
    }
    inner = "/messages/1/content/0/content/0/text"
    places = [("/messages/0/content/0", None, None), ("/messages/1/content/0", None, None), (inner, 0, 13)]
    split = split_request(request, places)
    assert split.shown(("/messages/0/content/0", None, None)) == sha256_text(canonical_json(use).decode())
    assert split.shown(("/messages/1/content/0", None, None)) is None
    assert split.shown((inner, 0, 13)) == sha256_text("line 1\nline 2")


def test_a_recorded_message_shares_its_skeleton_with_the_request_that_carries_it() -> None:
    content = [
        {"type": "text", "text": "hello"},
        {"type": "tool_use", "id": "t", "name": "shell", "input": {"command": "ls"}},
    ]
    node, texts_of_message = split_message("assistant", content)
    request = {"tools": [], "system": [], "messages": [{"role": "assistant", "content": content}]}
    split = split_request(request, [("/messages/0/content/0/text", 0, 5), ("/messages/0/content/1", None, None)])
    assert split.skeleton.messages == (node,)
    assert join_node(texts_of_message[node], texts_of_message) == {"role": "assistant", "content": content}


@given(st.lists(blocks, max_size=4))
def test_a_message_comes_back(content: list[dict[str, Any]]) -> None:
    node, parts = split_message("user", content)
    assert canonical_json(join_node(parts[node], parts)) == canonical_json({"role": "user", "content": content})
