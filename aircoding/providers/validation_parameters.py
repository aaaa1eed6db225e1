"""Rules on the parameters of a request: sampling, stop sequences, the one that asks for no answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aircoding.providers.validation_request import Fault, Request

__all__ = ["PARAMETER_RULES"]

_SAMPLING = ("temperature", "top_p", "top_k")


def _no_sampling(request: Request) -> Iterator[Fault]:
    """Version 2026-10-21 refuses even the defaults, models from Opus 4.7 on do so in every version."""
    for name in _SAMPLING:
        if name not in request.body:
            continue
        if request.is_current:
            text = f"{name}: sampling parameters are not supported in API version {request.api_version}"  # (u)
            yield Fault(f"/{name}", "sampling", text)
        elif not request.row.sampling and request.body[name] is not None:
            yield Fault(f"/{name}", "sampling", f"`{name}` is deprecated for this model.")


def _sampling_in_range(request: Request) -> Iterator[Fault]:
    if request.is_current or not request.row.sampling:
        return
    body = request.body
    temperature = body.get("temperature")
    if temperature is not None and not (_is_number(temperature) and 0 <= temperature <= 1):
        yield Fault("/temperature", "sampling", "temperature: range: 0..1")
    if temperature is not None and body.get("top_p") is not None:
        text = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        yield Fault("/top_p", "sampling", text)
    if _thinks(request) and temperature not in (None, 1):  # (u)
        text = "`temperature` may only be set to 1 when thinking is enabled."
        yield Fault("/temperature", "sampling", text)


def _stop_sequences(request: Request) -> Iterator[Fault]:
    sequences = request.body.get("stop_sequences")
    if sequences is None:
        return
    if isinstance(sequences, str) or not isinstance(sequences, Sequence):
        yield Fault("/stop_sequences", "shape", "stop_sequences: Input should be a valid array")  # (u)
        return
    for number, words in enumerate(sequences):
        if not isinstance(words, str) or not words.strip():  # (u)
            text = "stop_sequences: each stop sequence must contain non-whitespace"
            yield Fault(f"/stop_sequences/{number}", "stop_sequence", text)


def _warm_up(request: Request) -> Iterator[Fault]:
    """`max_tokens: 0` fills the cache and answers nothing, so that nothing may ask for a certain answer."""
    if request.body["max_tokens"] != 0:
        return
    output, choice = request.body.get("output_config"), request.body.get("tool_choice")
    asks = {
        "stream": bool(request.body.get("stream")),
        "output_config.format": isinstance(output, Mapping) and output.get("format") is not None,
        "tool_choice": isinstance(choice, Mapping) and choice.get("type") in ("any", "tool"),
        "thinking": _thinks(request),
    }
    for name, is_asked in asks.items():
        if is_asked:  # (u)
            yield Fault("/max_tokens", "max_tokens", f"max_tokens: 0 cannot be combined with `{name}`")


def _thinks(request: Request) -> bool:
    config = request.body.get("thinking")
    return isinstance(config, Mapping) and config.get("type") == "enabled"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


PARAMETER_RULES = (_no_sampling, _sampling_in_range, _stop_sequences, _warm_up)
