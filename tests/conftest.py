"""What holds for every test: no paid model can be reached, and no file of the person who runs them is read."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def guarded_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Set AIR_NO_PAID_CALLS, take away keys and addresses of providers, and point AIR_HOME to an empty folder."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AIR_NO_PAID_CALLS", "1")
    home = tmp_path_factory.mktemp("air-home")
    monkeypatch.setenv("AIR_HOME", str(home))
    return home
