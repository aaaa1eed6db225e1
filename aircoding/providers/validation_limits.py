"""Rules that depend on the model: sizes, thinking, forced tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.providers.validation_request import Fault, Request

__all__ = ["LIMIT_RULES"]

_MIN_BUDGET_TOKENS = 1024


def _output_limit(request: Request) -> Iterator[Fault]:
    asked, most = request.body["max_tokens"], request.row.max_output_tokens
    if asked < 0 or (asked == 0 and request.body.get("stream")):  # 0 fills the cache and answers nothing
        yield Fault("/max_tokens", "max_tokens", "max_tokens: must be greater than or equal to 1")
    if asked > most:
        allowed = f"which is the maximum allowed number of output tokens for {request.row.model}"
        text = f"max_tokens: {asked} > {most}, {allowed}"
        yield Fault("/max_tokens", "max_tokens", text, "Reserve less output, or choose a model with a larger one.")


def _window(request: Request) -> Iterator[Fault]:
    tokens, most = request.prompt_tokens, request.row.window_tokens
    if tokens is not None and tokens > most:
        text = f"prompt is too long: {tokens} tokens > {most} maximum"
        yield Fault("/messages", "too_long", text, "Compact the session, or choose a model with a larger window.")


def _thinking(request: Request) -> Iterator[Fault]:
    config = request.body.get("thinking")
    if not isinstance(config, Mapping):
        return
    kind, offered = config.get("type"), request.row.thinking
    if kind == "disabled" and offered == "always":
        yield _unsupported("disabled")
    if kind == "adaptive" and offered in {"none", "manual"}:
        yield Fault("/thinking", "thinking", "adaptive thinking is not supported on this model")  # (u)
    if kind == "enabled":
        if offered != "manual":
            yield _unsupported("enabled")
        yield from _budget(config, request.body["max_tokens"])


def _budget(config: Mapping[str, Any], max_tokens: int) -> Iterator[Fault]:
    budget = config.get("budget_tokens")
    if not isinstance(budget, int) or budget < _MIN_BUDGET_TOKENS:  # (u)
        text = f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_MIN_BUDGET_TOKENS}"
        yield Fault("/thinking/budget_tokens", "thinking", text)
    elif budget >= max_tokens:  # (u)
        text = "`max_tokens` must be greater than `thinking.budget_tokens`."
        yield Fault("/thinking/budget_tokens", "thinking", text)


def _unsupported(kind: str) -> Fault:
    text = (
        f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.'
    )
    return Fault("/thinking", "thinking", text)


def _forced_tools(request: Request) -> Iterator[Fault]:
    choice = request.body.get("tool_choice")
    if not isinstance(choice, Mapping):
        return
    kind = choice.get("type")
    if not request.tools and kind != "none":  # (u)
        yield Fault("/tool_choice", "tool_choice", "tool_choice may only be specified while providing tools")
    if kind in {"any", "tool"}:
        thinking = request.body.get("thinking")
        thinks = isinstance(thinking, Mapping) and thinking.get("type") == "enabled"
        if thinks or not request.row.forced_tools:  # (u)
            yield Fault("/tool_choice", "tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")


LIMIT_RULES = (_output_limit, _window, _thinking, _forced_tools)
