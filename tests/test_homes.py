"""Where the user's files lie: never in a folder that the repository at hand can fill."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import make_commit, make_project

from aircoding.app.doctor import examine
from aircoding.app.project import open_project
from aircoding.app.rule_sources import rule_homes
from aircoding.errors import ConfigError
from aircoding.homes import air_home


@pytest.mark.parametrize("given", [".", ".air", "x/y", "../air"])
@pytest.mark.parametrize("variable", ["AIR_HOME", "HOME"])
def test_a_relative_home_is_refused_with_the_way_out(
    variable: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_commit(make_project(tmp_path / "project", {"a.py": ""}))
    if variable == "HOME":
        monkeypatch.delenv("AIR_HOME")
    monkeypatch.setenv(variable, given)
    monkeypatch.chdir(root)
    with pytest.raises(ConfigError, match=f"{variable} is the relative path") as refused:
        open_project(root)
    assert (refused.value.code, refused.value.exit_code) == ("home.relative", 2)
    assert variable in refused.value.hint
    if variable == "HOME":
        with pytest.raises(ConfigError, match="HOME"):
            rule_homes()
    found = next(one for one in examine(root) if one.subject == "home")
    assert (found.state, found.fix) == ("error", refused.value.hint)


def test_a_tilde_is_the_user_s_home_and_no_folder_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AIR_HOME", "~/x")
    assert air_home() == tmp_path / "x"


@pytest.mark.parametrize("inner", ["", ".air", "deep/air"])
def test_a_home_inside_the_project_is_refused(inner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_commit(make_project(tmp_path / "project", {"a.py": ""}))
    (tmp_path / "link").symlink_to(root)
    monkeypatch.setenv("AIR_HOME", str(tmp_path / "link" / inner))
    with pytest.raises(ConfigError, match="lies inside the project") as refused:
        open_project(root)
    assert (refused.value.code, refused.value.hint) == ("home.inside", "set AIR_HOME to a folder outside of it")
    (tmp_path / "other").mkdir()
    assert air_home(tmp_path / "other") == tmp_path / "link" / inner


def test_a_home_that_is_a_repository_as_a_whole_is_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_commit(make_project(tmp_path / "project", {"a.py": ""}))
    monkeypatch.delenv("AIR_HOME")
    monkeypatch.setenv("HOME", str(root))
    assert open_project(root).home == root / ".air"


def test_a_relative_home_of_codex_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", "codex")
    with pytest.raises(ConfigError, match="CODEX_HOME"):
        rule_homes()
