"""Rules that depend on the model: sizes and thinking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aircoding.providers.validation_request import Fault, Request

__all__ = ["LIMIT_RULES", "THINKING_FIELDS"]

_MIN_BUDGET_TOKENS = 1024

THINKING_FIELDS: Mapping[str, tuple[str, ...]] = {
    "adaptive": ("type", "display", "block_binding"),
    "between_tools": ("type",),
    "disabled": ("type",),
    "enabled": ("type", "budget_tokens", "display", "block_binding"),
}
"""Fields of the parameter `thinking` by its type (SDK 2.14.0)."""


def _output_limit(request: Request) -> Iterator[Fault]:
    asked, most = request.body["max_tokens"], request.row.max_output_tokens
    if asked < 0:  # 0 fills the cache and answers nothing
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
    kind, offered = str(config.get("type")), request.row.thinking
    if kind not in THINKING_FIELDS:
        tags = ", ".join(f"'{name}'" for name in THINKING_FIELDS)
        text = f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        yield Fault("/thinking/type", "thinking", text)
        return
    for name in config:
        if name not in THINKING_FIELDS[kind]:  # (u)
            yield Fault(f"/thinking/{name}", "thinking", f"thinking.{kind}.{name}: Extra inputs are not permitted")
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


LIMIT_RULES = (_output_limit, _window, _thinking)
