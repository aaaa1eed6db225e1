"""The switch against paid calls, and what is this machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aircoding.errors import ProviderError
from aircoding.providers.paid_calls import is_loopback, refuse_paid_call


@pytest.mark.parametrize("url", ["http://127.0.0.1:80", "http://127.8.9.1", "http://localhost:1/x", "http://[::1]:8"])
def test_this_machine(url: str) -> None:
    assert is_loopback(url)
    refuse_paid_call(url, {})


@pytest.mark.parametrize(
    "url",
    [
        "https://api.anthropic.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://localhost@example.com",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "127.0.0.1:80",
        "",
    ],
)
def test_any_other_is_refused_under_the_suite_s_own_switch(url: str) -> None:
    assert not is_loopback(url)
    with pytest.raises(ProviderError, match="AIR_NO_PAID_CALLS") as caught:
        refuse_paid_call(url, {"AIR_NO_PAID_CALLS": "0"})
    assert caught.value.action == "stop"


def test_without_the_switch_calls_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIR_NO_PAID_CALLS")
    refuse_paid_call("https://api.anthropic.com", {})
    with pytest.raises(ProviderError):
        refuse_paid_call("https://api.anthropic.com", {"AIR_NO_PAID_CALLS": "1"})


def test_the_module_of_the_sdk_does_not_load_the_sdk() -> None:
    code = (
        "import sys, aircoding.providers.anthropic_messages, aircoding.providers.scripted\n"
        "print([name for name in ('anthropic', 'httpx2', 'genai_prices', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
