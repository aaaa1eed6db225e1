"""The command line at start-up: what it loads, what it costs, how it fails."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import sqlite3
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from support.demo_runs import AIR, air
from support.projects import write_tree

from aircoding.cli.main import main
from aircoding.settings import PriceSettings, Settings
from aircoding.sources.resources import read_resource
from aircoding.store import open_store

HEAVY = {
    "litellm",
    "anthropic",
    "dbos",
    "sqlmodel",
    "sqlalchemy",
    "networkx",
    "fastapi",
    "httpx",
    "httpx2",
    "pydantic",
    "rich",
}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom aircoding.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print(sorted(set({sorted(HEAVY)!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_command_that_is_there() -> None:
    done = subprocess.run([*AIR, "--help"], capture_output=True, text=True, check=True)

    from aircoding.cli.main import cli

    for name in cli.list_commands(None):  # type: ignore[arg-type]
        assert f"  {name} " in done.stdout
        assert subprocess.run([*AIR, name, "--help"], capture_output=True, check=False).returncode == 0


def _repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "T"],
        ["config", "user.email", "t@localhost"],
        ["commit", "-q", "--allow-empty", "-m", "Start"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder


def _plan(root: Path, text: str) -> None:
    path = root / ".air/shared/plan/tasks.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


GOOD = "version: 1\ngoal: g\ntasks:\n- {id: T1, title: One, write_area: [a.txt]}\n"


@pytest.mark.parametrize(
    ("plan", "arguments", "code", "said"),
    [
        ("version: 1\ngoal: g\ntasks: [", ["plan", "check"], 2, "line 4: it is no YAML"),
        (GOOD.replace("title", "titel"), ["plan", "check"], 2, "title"),
        (GOOD.replace("title: One", "title: One, role: wizard"), ["plan", "check"], 2, "wizard"),
        (GOOD.replace("a.txt]", "a.txt], depends_on: [T9]"), ["plan", "check"], 2, "T9"),
        (GOOD.replace("a.txt]", "a.txt], depends_on: [T1]"), ["plan", "check"], 2, "T1"),
        (GOOD, ["run"], 2, "--provider"),
        (GOOD, ["run", "--provider", "litellm:x"], 2, "litellm is not there yet"),
        (GOOD, ["run", "--provider", "anthropic:claude-sonnet-5"], 4, "ANTHROPIC_API_KEY"),
        (GOOD, ["run", "--provider", "scripted:none.yaml"], 2, "none.yaml"),
        (GOOD, ["context", "build", "--role", "wizard", "--task", "T1"], 2, "wizard"),
        (GOOD, ["context", "build", "--role", "executor", "--task", "T7"], 2, "T7"),
        (GOOD, ["context", "why", "x"], 2, "aircoding run"),
        (GOOD, ["status", "nope"], 2, "aircoding run"),
        (GOOD, ["resume"], 2, "aircoding run"),
    ],
)
def test_wrong_input_gets_one_clear_message(
    tmp_path: Path, plan: str, arguments: list[str], code: int, said: str
) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, plan)

    ended = air(root, *arguments)

    assert ended.code == code, ended.output
    assert said in ended.output
    assert "Traceback" not in ended.output
    assert not (root / ".air/local/air.db").exists()
    if "--json" not in arguments:
        as_json = air(root, *arguments, "--json")
        assert as_json.code == code
        assert set(as_json.result["error"]) == {"code", "message", "hint"}  # type: ignore[call-overload]


def test_a_plan_outside_a_repository_is_refused(tmp_path: Path) -> None:
    ended = air(tmp_path, "plan", "check")

    assert ended.code == 2
    assert "git init" in ended.output


def test_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    ended = air(tmp_path, "plan", "check")

    assert ended.code == 2
    assert "no commit yet" in ended.output


def test_a_dirty_tree_is_named_and_left_alone(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD)
    (root / "mine.txt").write_text("unsaved work")

    ended = air(root, "run", "--provider", "scripted:none.yaml")

    assert ended.code == 2
    assert "mine.txt" in ended.output
    assert (root / "mine.txt").read_text() == "unsaved work"


def test_a_policy_that_cannot_be_read_stops_everything_and_names_its_line(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD)
    (root / ".air/shared/permissions.yaml").write_text("version: 1\ncommands:\n  alow: [ls]\n")

    ended = air(root, "plan", "check")

    assert ended.code == 2
    assert ".air/shared/permissions.yaml:3" in ended.output
    assert "allow" in ended.output


def test_a_file_that_is_no_text_does_not_stop_a_build(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    (root / "AGENTS.md").write_bytes(b"# Rules\n\nUse caf\xe9.\n")
    (root / "big.py").write_text("x = 1\n" * 400_000)
    (root / "blob.bin").write_bytes(bytes(range(256)) * 100)
    _plan(root, GOOD.replace("a.txt]", "a.txt], reads: [big.py, blob.bin, AGENTS.md]"))

    ended = air(root, "context", "build", "--role", "executor", "--task", "T1", "--json")

    assert ended.code == 0, ended.output
    context = ended.result["context"]
    uris = {note["uri"] for note in context["manifest"]["outcomes"]}  # type: ignore[index]
    assert {"project:AGENTS.md", "project:big.py", "project:blob.bin"} <= uris


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_project_says_so(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    root.chmod(stat.S_IRUSR | stat.S_IXUSR)

    ended = air(root, "init")

    assert ended.code != 0
    assert "cannot be written" in ended.output


def test_init_is_idempotent_and_keeps_what_is_there(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    first = air(root, "init", "--json")
    (root / ".air/config.toml").write_text("# mine\n")

    second = air(root, "init", "--json")

    assert all(made for _, made in first.result["init"]["files"])  # type: ignore[index]
    assert not any(made for _, made in second.result["init"]["files"])  # type: ignore[index]
    checked = air(root, "context", "check")
    assert (checked.code, "ok      who works on the README" in checked.output) == (0, True), checked.output
    assert (root / ".air/config.toml").read_text() == "# mine\n"
    assert air(root, "plan", "check").code == 0


def test_trust_names_what_it_lets_instruct_and_asks_on_a_terminal_only(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    write_tree(root, {"AGENTS.md": "Be brief.\n", ".claude/rules/a.md": "Use tabs.\n"})
    assert "`aircoding permissions trust` trusts it" in air(root, "init").output
    assert air(root, "permissions", "trust", "--plan", "p.yaml", "--yes").code == 2

    def answered(word: bytes) -> tuple[int, str]:
        ours, theirs = os.openpty()
        os.write(ours, word + b"\n")
        done = subprocess.run([*AIR, "permissions", "trust"], cwd=root, stdin=theirs, capture_output=True, text=True)
        os.close(ours), os.close(theirs)
        return done.returncode, done.stdout + done.stderr

    code, said = answered(b"n")
    assert (code, "nothing was trusted" in said) == (2, True), said
    assert ", 0 skills, plan (.air/shared/plan/tasks.yaml), policy (.air/shared/permissions.yaml) of project" in said
    assert "not trusted" in air(root, "init").output
    assert answered(b"y")[0] == 0
    assert "not trusted" not in air(root, "init").output
    for more in ([], ["--yes"]):
        assert "rule files, 0 skills, plan" in air(root, "permissions", "trust", *more).output


def test_doctor_finds_and_fixes_without_showing_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _repository(tmp_path / "project")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-to-be-shown")

    ended = air(root, "doctor", "--json")

    subjects = {finding["subject"]: finding for finding in ended.result["findings"]}  # type: ignore[attr-defined]
    assert {"git", "worktrees", "sandbox", "disk", "database", "trust"} <= subjects.keys()
    assert subjects["secret scanner"]["state"] == "ok"
    assert subjects["secret scanner"]["detail"].startswith("kingfisher-secret-scanner 1.")
    assert subjects["set-up"]["fix"] == "aircoding init"
    assert "sk-ant" not in ended.output


def test_doctor_says_what_is_slower_without_an_index_of_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _repository(tmp_path / "project")
    database = root / ".air/local/air.db"
    database.parent.mkdir(parents=True)
    with open_store(database):
        pass

    def said() -> str:
        monkeypatch.chdir(root)
        with pytest.raises(SystemExit):
            main(["doctor"])
        return capsys.readouterr().out

    assert "ok    text index: `why TEXT --run all` looks in all texts" in said()
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("DROP TABLE text_words")
        connection.execute("DROP TABLE text_index")

    assert "note  text index: this database has no index of words" in said()


def test_build_gives_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD)

    first, second = (
        subprocess.run(
            [*AIR, "context", "build", "--role", "executor", "--task", "T1", "--json"],
            cwd=root,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C.UTF-8"},
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    )

    assert first == second
    assert json.loads(first)["context"]["canonical_format"] == "anthropic"


@pytest.mark.bench
def test_help_takes_less_than_150_ms_of_cpu() -> None:
    """The smallest of several runs, since other work on the machine only adds to it."""
    figures = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*AIR, "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"aircoding --help: {min(figures) * 1000:.0f} ms of CPU")

    assert min(figures) < 0.150


def test_a_task_that_would_change_a_decided_interface_is_blocked_before_a_word_is_sent(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD)
    (root / ".air/shared/plan/adr").mkdir()
    record = "---\nid: ADR-1\nstatus: accepted\ninterfaces: [a.txt]\n---\n# A is an interface\n"
    (root / ".air/shared/plan/adr/0001.md").write_text(record)
    (root / ".air/script.yaml").write_text("scripts:\n- match: {}\n  turns:\n  - text: never said\n")

    checked = air(root, "plan", "check")
    ended = air(root, "run", "--provider", "scripted:.air/script.yaml", "--json")

    assert checked.code == 1
    assert "ADR-1" in checked.output
    assert ended.code == 1, ended.output
    (task,) = ended.result["tasks"]  # type: ignore[misc]
    assert task["state"] == "blocked"  # type: ignore[index]
    assert "adr: [ADR-1]" in task["reason"]  # type: ignore[index]
    assert ended.result["calls"] == 0
    assert '"conflict.opened"' in ended.output


def test_a_run_that_could_move_no_branch_says_why_and_what_to_type(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD)
    result = {"status": "done", "summary": "Written.", "changed_files": ["a.txt"], "verification": []}
    tools = [
        {"name": "fs_write", "input": {"path": "a.txt", "content": "a\n"}},
        {"name": "finish", "input": result},
    ]
    turns = [{"text": "Now.", "tools": [tool]} for tool in tools]
    (root / ".air/script.yaml").write_text(json.dumps({"scripts": [{"match": {"role": "executor"}, "turns": turns}]}))
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=root, check=True)

    ended = air(root, "run", "--allow-dirty", "--provider", "scripted:.air/script.yaml")

    assert ended.code == 0, ended.output
    (line,) = [line for line in ended.output.splitlines() if line.startswith("no branch was moved: ")]
    why, _, command = line.partition("; take the work with: ")
    assert why.endswith("no branch was checked out when the run started")
    subprocess.run(command.split(), cwd=root, check=True, capture_output=True)
    assert (root / "a.txt").read_text() == "a\n"


def test_what_a_run_would_refuse_is_refused_by_the_check(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD.replace("a.txt]", "a.txt], retry: {escalate: [architecture_designer]}"))

    ended = air(root, "plan", "check")

    assert ended.code == 2
    assert "architecture_designer" in ended.output


def test_a_check_names_what_cannot_pass_and_what_is_not_there(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    plan = GOOD.replace("a.txt]", "a.txt], reads: [gone.md], verify: ['sudo make']")
    _plan(root, plan + "- {id: T2, title: Two, depends_on: [T1], write_area: [b.txt], reads: [a.txt]}\n")

    ended = air(root, "plan", "check")

    assert ended.code == 1
    assert "task T1 reads gone.md, which is not there" in ended.output
    assert "task T1 cannot pass as it stands" in ended.output
    assert "T2" not in ended.output


def test_a_plan_that_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    root = _repository(tmp_path / "project")
    _plan(root, GOOD)
    path = root / ".air/shared/plan/tasks.yaml"
    path.unlink()
    os.mkfifo(path)

    ended = air(root, "plan", "check", timeout_seconds=20)

    assert ended.code == 2
    assert "cannot be read" in ended.output
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert "leaves the project" in air(root, "plan", "check").output


@pytest.mark.parametrize("group", ["conflicts", "context", "permissions", "plan"])
def test_the_list_of_commands_names_what_a_group_holds(group: str) -> None:
    from aircoding.cli.main import cli

    found = cli.get_command(None, group)  # type: ignore[arg-type]
    assert isinstance(found, click.Group)
    shown = subprocess.run([*AIR, "--help"], capture_output=True, text=True, check=True).stdout
    told = re.search(rf"^  {group} .*?(?=^  \S|\Z)", shown, re.MULTILINE | re.DOTALL)
    assert told is not None
    words = set(re.findall(r"[a-z-]+", told.group().lower()))
    assert set(found.commands) <= words


def test_the_settings_that_init_writes_name_every_key_of_a_project() -> None:
    text = read_resource("init/config.toml")
    sections = {name: field.annotation for name, field in Settings.model_fields.items() if name != "sandbox"}
    models = {**sections, "prices": PriceSettings}
    for section, model in models.items():
        assert f"[{section}" in text
        for key, field in model.model_fields.items():  # type: ignore[union-attr]
            name = field.alias or key
            assert re.search(rf"^# (\[{section}\.{name}\]|{name} = )", text, re.MULTILINE), f"[{section}] {name}"
    tomllib.loads(
        "\n".join(line.removeprefix("# ") for line in text.splitlines() if re.match(r"# [a-z_0-9]+ =|#? ?\[", line))
    )
