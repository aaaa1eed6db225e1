"""JSON files of any shape are read or named, never a crash."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aircoding.errors import ConfigError
from aircoding.sources.agent_entries import read_agent_entries
from aircoding.sources.confirmations import confirmed_rules
from aircoding.sources.files import MAX_FILE_BYTES
from aircoding.sources.import_approvals import approved_imports
from aircoding.sources.installation import approved
from aircoding.sources.json_files import read_json_file
from aircoding.sources.trust import is_trusted, trust_project

DAMAGED = {
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "large": b" " * (MAX_FILE_BYTES + 1),
    "digits": b"1" * 10_000,
    "no UTF-8": b'{"a": "\xff"}',
    "binary": b"\0",
    "empty": b"",
}
READERS: dict[str, Callable[[Path], object]] = {
    "trust.json": lambda home: is_trusted(home, home),
    "confirmed.json": lambda home: confirmed_rules(home, home),
    "imports.json": lambda home: approved_imports(home, home),
    "approvals.json": lambda home: approved(home, home),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_has_a_problem(kind: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(DAMAGED[kind])
    read = read_json_file(tmp_path, "x.json", inside=True)
    assert read.problem
    assert not read.absent


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_of_the_user_is_named(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(DAMAGED[kind])
    with pytest.raises(ConfigError, match=name.replace(".", r"\.")) as refused:
        READERS[name](tmp_path)
    assert "delete it" in refused.value.hint


@pytest.mark.parametrize("name", READERS)
def test_a_device_or_a_pipe_is_refused_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="no regular file"):
        READERS[name](tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(ConfigError, match="no regular file"):
        READERS[name](tmp_path)


def test_a_damaged_file_of_trust_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_bytes(DAMAGED["deep"])
    with pytest.raises(ConfigError):
        trust_project(tmp_path, tmp_path)
    assert (tmp_path / "trust.json").read_bytes() == DAMAGED["deep"]


@pytest.mark.parametrize("kind", DAMAGED)
def test_with_a_damaged_list_of_writers_every_entry_may_be_an_agent_s(kind: str, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.agents.json").write_bytes(DAMAGED[kind])
    known = read_agent_entries(tmp_path, "MEMORY.md", inside=True)
    assert known.problem
    assert known.wrote("anything")
