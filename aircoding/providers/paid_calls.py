"""A switch that keeps a process from reaching a paid model, and what counts as this machine."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from aircoding.errors import ProviderError

__all__ = ["NO_PAID_CALLS", "is_loopback", "refuse_paid_call"]

NO_PAID_CALLS = "AIR_NO_PAID_CALLS"
"""Set to 1, no call leaves this machine. The test suite sets it for every test."""

_OFF = frozenset({"", "0", "false", "no"})


def is_loopback(base_url: str) -> bool:
    """Whether a URL names this machine: `localhost` or a loopback address."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_paid_call(base_url: str, environ: Mapping[str, str]) -> None:
    """Let a call to this machine pass; refuse any other while the switch is on.

    The environment of the process counts too, so that an `environ` made up by a caller cannot lift it.

    Raises:
        ProviderError: the call would leave this machine.
    """
    if is_loopback(base_url):
        return
    if any(values.get(NO_PAID_CALLS, "").lower() not in _OFF for values in (environ, os.environ)):
        raise ProviderError(
            f"A call to {urlsplit(base_url).hostname or base_url} was refused: {NO_PAID_CALLS} is set.",
            kind="refused",
            action="stop",
            hint=f"Unset {NO_PAID_CALLS} to let paid models be called, or use the emulator or a scripted model.",
        )
