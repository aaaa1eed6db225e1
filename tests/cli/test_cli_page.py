"""`context show` and `build --html`: a page in a file that its owner alone can read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fleet.worlds import done, make_fleet, script
from support.demo_runs import AIR
from support.projects import make_commit, make_project

from aircoding.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "share-a-prompt-page.md"
BUILD = ["context", "build", "--role", "executor", "--path", "src/a.py"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"AGENTS.md": "Use tabs.\n", "src/a.py": "x = 1\n"}
    return make_commit(make_project(tmp_path_factory.mktemp("project") / "p", files))


def called(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[int, str]:
    """Call the command line in this process; what it said is all that it printed."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsysbinary.readouterr()
    return int(ended.value.code or 0), (out + err).decode("utf-8")


def test_a_recorded_assembly_becomes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    fleet = make_fleet(tmp_path / "project", [{"id": "T1", "title": "One"}], [script("executor", "T1", done())])
    fleet.drive()
    monkeypatch.chdir(fleet.root)
    ((manifest, *_),) = [re.findall(r"m-[0-9a-f]{20}", called(capsysbinary, "context", "list")[1])]

    code, said = called(capsysbinary, "context", "show", manifest, "--html", "page.html")

    assert (code, said) == (0, f"the page of {manifest} is in page.html\n")
    page = (fleet.root / "page.html").read_text()
    assert f"<title>Prompt {manifest}: executor, task T1, turn 1</title>" in page
    assert (fleet.root / "page.html").stat().st_mode & 0o777 == 0o600
    assert called(capsysbinary, "context", "show", manifest, "--html", "-")[1] == page
    assert called(capsysbinary, "context", "show", manifest, "--html", "x.html", "--prompt")[0] == 2


def test_what_a_worker_would_see_now_becomes_a_page(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(project)

    code, said = called(capsysbinary, *BUILD, "--html", "page.html", "--json")

    assert code == 0
    page = project / "page.html"
    assert f'"file": "page.html", "size_bytes": {page.stat().st_size}' in said
    assert "Use tabs." in page.read_text()
    page.chmod(0o644)
    assert called(capsysbinary, *BUILD, "--html", "page.html")[0] == 0
    assert page.stat().st_mode & 0o777 == 0o644, "the rights of a file that was there are its owner's"


def test_a_folder_a_link_and_a_missing_folder_are_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(project)
    kept = project / "kept.txt"
    kept.write_text("mine")
    (project / "link.html").symlink_to(kept)

    for name, words in (("src", "is a folder"), ("link.html", "is a link"), ("no/page.html", "cannot be written")):
        code, said = called(capsysbinary, *BUILD, "--html", name)
        assert code == 2
        assert words in said
    assert kept.read_text() == "mine"
    assert sorted(path.name for path in project.glob(".*html*")) == []


def test_the_commands_of_the_how_to_work(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(project)
    commands = [
        line for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL) for line in block.splitlines()
    ]
    (build,) = [line.partition("#")[0].split() for line in commands if " build " in line]

    assert [line.split()[1:3] for line in commands] == [["context", "list"], ["context", "show"], ["context", "build"]]
    assert called(capsysbinary, *build[1:])[0] == 0
    assert (project / "prompt.html").is_file()


def test_to_stdout_goes_the_page_alone(project: Path) -> None:
    ended = subprocess.run([*AIR, *BUILD, "--html", "-"], cwd=project, capture_output=True, check=True)

    assert ended.stdout.startswith(b"<!doctype html>")
    assert ended.stdout.endswith(b"</html>\n")
    refused = subprocess.run([*AIR, *BUILD, "--html", "-", "--json"], cwd=project, capture_output=True, check=False)
    assert refused.returncode == 2


def test_templates_are_loaded_for_a_page_only(project: Path) -> None:
    code = "import sys; sys.argv = ['aircoding', 'context', '--help']\n"
    code += "import aircoding.cli.context.show, aircoding.cli.context.build\n"
    code += "print(sorted({'jinja2', 'markupsafe', 'aircoding.pages'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
