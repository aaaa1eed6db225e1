"""What holds for every test: no paid model can be reached, no file of the person who runs them is read, and the
requests of a session extend one another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.prefixes import PrefixWatch
from support.rule_cache import RULE_CACHE

from aircoding.store.assemblies import AssemblyStore


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for the homes of tests, one after the other, in one place: pytest counts its own anew for each."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def guarded_environment(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]) -> Path:
    """Set AIR_NO_PAID_CALLS, take away keys and addresses of providers, and make all homes empty folders."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AIR_NO_PAID_CALLS", "1")
    folder = next(homes)
    for name, place in (("AIR_HOME", "air"), ("HOME", "user")):
        (folder / place).mkdir(parents=True)
        monkeypatch.setenv(name, str(folder / place))
    monkeypatch.setenv("KF_RULE_CACHE_DIR", str(RULE_CACHE))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return folder / "air"


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
