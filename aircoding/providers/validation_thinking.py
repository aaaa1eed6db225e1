"""Rules on thinking that is sent back: whole, and in its own conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aircoding.providers.thinking import CheckedBlock, check_thinking
from aircoding.providers.validation_request import Fault, Request

__all__ = ["BINDING_BETA", "THINKING_RULES", "dropped_blocks"]

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""The value of the header `anthropic-beta` that allows `thinking.block_binding` and reports dropped blocks."""

_INVALID = "Invalid `signature` in `thinking` block"
_BEHAVIOURS = ("error", "drop_block")
_WHAT_DIFFERS = {
    "system": "The `system` prompt differs from the one this block was created with.",
    "tools": "The `tools` list differs from the one this block was created with.",
    "messages": "The messages before this block differ from those it was created with.",  # (u)
    "chain": "The `thinking` block that preceded this one when it was created is missing from this request.",
}


def dropped_blocks(request: Request) -> tuple[CheckedBlock, ...]:
    """Return the thinking blocks that the API leaves out of the prompt because the request asks for `drop_block`."""
    if not request.row.bound_thinking or _behaviour(request) != "drop_block":
        return ()
    return tuple(block for block in check_thinking(request.body) if block.is_unbound)


def _behaviour(request: Request) -> object:
    config = request.body.get("thinking")
    binding = config.get("block_binding") if isinstance(config, Mapping) else None
    asked = binding.get("prefix_mismatch_behavior") if isinstance(binding, Mapping) else None
    return "error" if asked is None else asked


def _binding_control(request: Request) -> Iterator[Fault]:
    config = request.body.get("thinking")
    if not isinstance(config, Mapping) or "block_binding" not in config:
        return
    where = f"thinking.{config.get('type')}.block_binding"
    if request.betas is not None and BINDING_BETA not in request.betas:
        yield Fault("/thinking/block_binding", "thinking", f"{where}: Extra inputs are not permitted")
    if _behaviour(request) not in _BEHAVIOURS:  # (u)
        text = f"{where}.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'"
        yield Fault("/thinking/block_binding", "thinking", text)


def _thinking_sent_back(request: Request) -> Iterator[Fault]:
    if not any(place.value["type"] == "thinking" for place in request.places):
        return
    latest = max((n for n, message in enumerate(request.messages) if message["role"] == "assistant"), default=-1)
    must_fit = request.row.bound_thinking and _behaviour(request) != "drop_block"
    for block in check_thinking(request.body):
        pointer = "/" + block.path.replace(".", "/")
        if block.fault == "changed" and block.message == latest:
            text = (
                f"{block.path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
                "modified. These blocks must remain as they were in the original response."
            )
            yield Fault(pointer, "thinking_changed", text)
        elif block.fault == "changed" or (block.fault == "foreign" and request.own_signatures):
            yield Fault(pointer, "thinking_changed", f"{block.path}: {_INVALID}")
        elif block.is_unbound and must_fit:
            yield Fault(pointer, "thinking_unbound", _unbound(request, block))


def _unbound(request: Request, block: CheckedBlock) -> str:
    text = (
        f"{block.path}: {_INVALID}. The block is bound to a different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
    )
    if request.betas is not None and BINDING_BETA not in request.betas:
        text += f" That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."
    return f"{text} {_WHAT_DIFFERS[block.fault]}" if block.fault in _WHAT_DIFFERS else text


THINKING_RULES = (_binding_control, _thinking_sent_back)
