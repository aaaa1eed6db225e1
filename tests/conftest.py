"""What holds for every test: no paid model can be reached, no file of the person who runs them is read, and the
requests of a session extend one another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.prefixes import PrefixWatch

from aircoding.store.assemblies import AssemblyStore


@pytest.fixture(autouse=True)
def guarded_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Set AIR_NO_PAID_CALLS, take away keys and addresses of providers, and make all homes empty folders."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AIR_NO_PAID_CALLS", "1")
    home = tmp_path_factory.mktemp("air-home")
    monkeypatch.setenv("AIR_HOME", str(home))
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("user-home")))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return home


@pytest.fixture(autouse=True)
def steady_prefixes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[PrefixWatch]:
    """Fail a test in which a session's request does not extend the one before, unless it says why it may.

    `@pytest.mark.moves_cache_prefix("reason")` says so; then one must move, or the mark is of no use.
    """
    watch, record = PrefixWatch(), AssemblyStore.record

    def watched(self: AssemblyStore, context: Any, *, snapshot: Any) -> None:
        watch.see(self, context)
        record(self, context, snapshot=snapshot)

    monkeypatch.setattr(AssemblyStore, "record", watched)
    yield watch
    allowed = request.node.get_closest_marker("moves_cache_prefix")
    if allowed is None:
        assert not watch.moves, f"the cached prefix moved: {'; '.join(watch.moves)}"
    else:
        assert [reason for reason in allowed.args if reason], "moves_cache_prefix needs a reason"
        assert watch.moves, "no prefix moved: the mark moves_cache_prefix is of no use here"
