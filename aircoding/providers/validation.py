"""The rules that the Messages API has for a request, checked before anything is sent; pure.

Sources of rules and texts: public issues and documentation as gathered in 2026-11; texts that nobody has published
are marked (u), for unverified. Signatures of thinking blocks are looked into where the scripted model or the emulator
made them; those of the real API are opaque. Every rule is a function from a request to its faults; the order of RULES
is that in which they are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aircoding.errors import ProviderError
from aircoding.providers.capabilities import ModelRow
from aircoding.providers.validation_limits import LIMIT_RULES
from aircoding.providers.validation_marks import MARK_RULES
from aircoding.providers.validation_messages import MESSAGE_RULES
from aircoding.providers.validation_pairing import PAIRING_RULES
from aircoding.providers.validation_parameters import PARAMETER_RULES
from aircoding.providers.validation_request import Fault, Request
from aircoding.providers.validation_shape import SHAPE_RULES, shape_faults
from aircoding.providers.validation_thinking import THINKING_RULES
from aircoding.providers.validation_tools import TOOL_RULES
from aircoding.records.diagnostics import Diagnostic

__all__ = ["API_VERSIONS", "RULES", "refuse_invalid", "validate_request"]

API_VERSIONS = ("2023-06-01", "2026-10-21")
"""The versions whose rules are known here, oldest first."""

RULES: tuple[Callable[[Request], Iterator[Fault]], ...] = (
    *SHAPE_RULES,
    *PARAMETER_RULES,
    *TOOL_RULES,
    *LIMIT_RULES,
    *PAIRING_RULES,
    *MESSAGE_RULES,
    *MARK_RULES,
    *THINKING_RULES,
)


def validate_request(
    body: Mapping[str, Any],
    *,
    row: ModelRow,
    api_version: str | None = None,
    prompt_tokens: int | None = None,
    betas: frozenset[str] | None = None,
    own_signatures: bool = False,
) -> tuple[Diagnostic, ...]:
    """Return every rule that a request body breaks, in the order in which the API would tell them.

    Args:
        body: what would be sent, without `stream`.
        row: what the model can take.
        api_version: whose rules hold; the row's own where None.
        prompt_tokens: the size of the prompt where it is known, for the rule on the window.
        betas: values of the header `anthropic-beta`; None where they are not known.
        own_signatures: whether thinking that was not signed here is refused (the emulator's case).
    """
    version = api_version or row.api_version
    # Rules read the request without looking twice, so a body of the wrong shape goes no further.
    faults = list(shape_faults(body))
    if not faults:
        request = Request(
            body=body,
            row=row,
            api_version=version,
            prompt_tokens=prompt_tokens,
            betas=betas,
            own_signatures=own_signatures,
        )
        faults = [fault for rule in RULES for fault in rule(request)]
    return tuple(
        Diagnostic(
            severity="error",
            code=f"request.{fault.code}",
            message=fault.text,
            uri=f"air:request#{fault.pointer}",
            hint=fault.hint,
        )
        for fault in faults
    )


def refuse_invalid(body: Mapping[str, Any], *, row: ModelRow, prompt_tokens: int | None = None) -> None:
    """Do nothing for a request that the API would take.

    Raises:
        ProviderError: it breaks a rule; nothing was sent. The kind is `too_long` where only the size is wrong.
    """
    diagnostics = validate_request(body, row=row, prompt_tokens=prompt_tokens)
    if not diagnostics:
        return
    too_long = all(diagnostic.code == "request.too_long" for diagnostic in diagnostics)
    raise ProviderError(
        "The request was not sent, since the API would refuse it: " + "; ".join(d.message for d in diagnostics[:3]),
        kind="too_long" if too_long else "invalid_request",
        action="stop",
        hint=diagnostics[0].hint or f"The first fault is at {diagnostics[0].uri}.",
    )
