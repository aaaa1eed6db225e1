"""What a page says of an assembly: every line once, with its owner; what is out, with the way in."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.contexts import message, segment
from support.inspected import context_of, hostile_context, ordinary_context, rule

from aircoding.audit.inspection import inspect
from aircoding.audit.prompt_pieces import PromptBlock, prompt_blocks
from aircoding.audit.texts import request_texts
from aircoding.records.layers import Layer, Reason
from aircoding.records.manifest import AssembledContext

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def joined(block: PromptBlock) -> str:
    text = ""
    for place, piece in enumerate(block.pieces):
        text += ("" if piece.continues or not place else "\n") + piece.text
    return text


def assert_complete(context: AssembledContext) -> None:
    blocks = [block for block in prompt_blocks(context) if block.pointer]
    texts = {pointer: text.removesuffix("\n") for pointer, text in request_texts(context) if text}
    assert {block.pointer: joined(block) for block in blocks} == texts
    first = [piece.number for block in prompt_blocks(context) for piece in block.pieces if piece.first]
    assert sorted(number or 0 for number in first) == list(range(1, len(context.manifest.segments) + 1))
    for block in blocks:
        for piece in block.pieces:
            assert len(piece.source_lines) == piece.text.count("\n") + 1


def test_the_pieces_of_a_block_are_its_text() -> None:
    assert_complete(ordinary_context())
    assert_complete(hostile_context())


@settings(max_examples=60, deadline=None)
@given(st.lists(_TEXTS, max_size=6), _TEXTS)
def test_the_pieces_of_any_block_are_its_text(texts: list[str], said: str) -> None:
    files = (segment(text, uri=f"project:{n}.md") for n, text in enumerate(texts) if text.strip())
    rules = (rule(f"r{n}", text) for n, text in enumerate(texts) if text.strip())
    assert_complete(context_of(*files, *rules, messages=(message(0, "assistant", {"type": "text", "text": said}),)))


def test_what_is_out_is_counted_by_reason_and_tells_the_way_in() -> None:
    found = inspect(ordinary_context())

    assert dict(found.reasons)[Reason.PATH_NOT_MATCHED] == 2
    (row,) = [row for row in found.omissions if row.note.rule_id == "docs"]
    assert row.segment is None
    assert row.remedy.startswith("add a glob")
    assert len(found.omissions) == sum(count for _, count in found.reasons)


def test_a_layer_has_its_tokens_and_its_first_segment() -> None:
    found = inspect(ordinary_context())

    rules = next(row for row in found.layers if row.layer is Layer.L3)
    assert rules.segments == 1
    assert rules.first_segment is not None
    assert found.segments[rules.first_segment - 1].rule_id == "tabs"
    assert rules.used_tokens == found.manifest.budget.per_layer[Layer.L3].used
    assert rules.omitted_tokens > 0
    empty = next(row for row in found.layers if row.layer is Layer.L4)
    assert (empty.segments, empty.first_segment, empty.used_tokens) == (0, None, 0)


def test_each_cache_mark_stands_after_one_block() -> None:
    found = inspect(ordinary_context())

    assert found.marks
    assert [block.mark for block in found.blocks if block.mark] == list(found.marks)
    for block in found.blocks:
        assert block.mark is None or block.pointer.startswith(block.mark.mark)


def test_blocks_are_named_in_words() -> None:
    titles = [block.title for block in inspect(hostile_context()).blocks]

    assert titles[0] == "Tool fs_read"
    assert "System, block 1" in titles
    assert "Message 2 (assistant), block 2: tool use" in titles
    assert "Message 3 (user), block 1: tool result" in titles
