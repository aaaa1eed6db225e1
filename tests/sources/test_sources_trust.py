"""Which projects may instruct."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from aircoding.errors import ConfigError
from aircoding.sources.trust import is_trusted, trust_project


def test_a_project_is_trusted_by_its_real_path_once_the_user_says_so(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    assert not is_trusted(home, project)
    trust_project(home, tmp_path / "link")
    assert is_trusted(home, project)
    assert not is_trusted(home, tmp_path)
    assert os.stat(home / "trust.json").st_mode & 0o077 == 0


def test_other_keys_of_the_file_stay(tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_text('{"version": 1, "policies": {"/a": ["d"]}}')
    trust_project(tmp_path, tmp_path)
    assert json.loads((tmp_path / "trust.json").read_text())["policies"] == {"/a": ["d"]}


@pytest.mark.parametrize("text", ["{", "[]", '{"projects": []}', "\udcff"])
def test_a_damaged_file_is_named_and_nothing_is_trusted(tmp_path: Path, text: str) -> None:
    (tmp_path / "trust.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=r"trust\.json") as refused:
        is_trusted(tmp_path, tmp_path)
    assert "to trust anew" in refused.value.hint


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    projects = [tmp_path / f"p{number}" for number in range(8)]
    threads = [threading.Thread(target=trust_project, args=(tmp_path / "home", project)) for project in projects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(is_trusted(tmp_path / "home", project) for project in projects)
