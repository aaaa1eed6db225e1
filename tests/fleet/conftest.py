"""Fixtures of the fleet's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fleet.worlds import Fleet, make_fleet

from aircoding.ports import Sandbox
from aircoding.workspace.sandbox import choose_sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """What confines commands on this machine."""
    return choose_sandbox("auto")


@pytest.fixture
def fleet(tmp_path: Path, sandbox: Sandbox) -> Iterator[Callable[..., Fleet]]:
    """Makes the run of a test; its record is closed at the end."""
    made: list[Fleet] = []

    def make(*arguments: Any, root: str = "project", **more: Any) -> Fleet:
        made.append(make_fleet(tmp_path / root, *arguments, sandbox=sandbox, **more))
        return made[-1]

    yield make
    for one in made:
        one.store.close()
