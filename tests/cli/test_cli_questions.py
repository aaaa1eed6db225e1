"""`why`, `why-not` and `who-saw` over a recorded project, without a run: every path has an answer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.projects import Desk, make_commit, make_project
from support.recorded_runs import record_run
from support.records import run

from aircoding.app.bundles.reading import import_run
from aircoding.app.bundles.writing import export_run
from aircoding.app.questions.asking import Asked, Page
from aircoding.app.questions.why import WhyNot, why_not_subject
from aircoding.cli.main import cli, main
from aircoding.context.assembler import assemble
from aircoding.errors import AirError
from aircoding.records.ids import SessionId, TaskId
from aircoding.records.manifest import AssembledContext
from aircoding.records.tasks import TaskSpec
from aircoding.store import open_store
from aircoding.workspace.git import git

TREES = Path(__file__).resolve().parents[3] / "shared" / "data" / "rule-trees"
RULE = ".air/shared/rules/licence.md"
FILES = {
    RULE: "---\nkind: project\npaths: [stock/**]\nid: licence\n---\nBegin each file with a licence line.\n",
    ".air/shared/rules/size.md": "---\nkind: project\n---\nKeep functions small.\n",
    ".air/shared/plan/tasks.yaml": "version: 1\ngoal: g\ntasks:\n  - id: T1\n    title: t\n"
    "    reads: [docs/late.md:1-2]\n  - id: T2\n    title: t\n",
    ".air/shared/plan/sketch.md": "A sketch.\n",
    ".air/config.toml": "",
    ".gitignore": "*.log\n.air/local/\n",
    "AGENTS.md": "Be kind.\n",
    "web/AGENTS.md": "Use tabs in web.\n",
    "CLAUDE.md": "Run the tests.\n@docs/style.md\n",
    "docs/style.md": "Write short sentences.\n",
    "docs/other.md": "Nobody reads this.\n",
    "docs/late.md": "Read this first.\n",
    "stock/items.py": "A = 1\n",
    ".cursor/rules/py.mdc": "---\ndescription: Python\n---\nUse types.\n",
    ".windsurfrules": "Wind.\n",
    "tools/SKILL.md": "No skill.\n",
}


def _record(root: Path, home: Path, *runs: str) -> None:
    """Record two workers of each run: one whose task is in `stock`, and one whose task is in `tools`."""
    desk = Desk(root=root, home=home)
    head = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (root / ".air/local").mkdir(parents=True, exist_ok=True)
    with open_store(root / ".air/local/air.db") as store:
        for number, run_id in enumerate(runs, start=1):
            store.runs.create(run(run_id, base_commit=head, created_at=f"2026-11-{number:02}T12:00:00Z"))
            for task, area in (("T1", "stock/**"), ("T2", "tools/**")):
                spec = TaskSpec(id=TaskId(task), title="t", write_area=(area,))
                brief = desk.brief(task=spec, session_id=SessionId(f"{run_id}:{task}:1:executor:1"))
                given = desk.snapshot(brief)
                given = replace(given, request=replace(given.request, run_id=run_id))
                context = assemble(given)
                assert isinstance(context, AssembledContext)
                store.assemblies.record(context, snapshot=given)


def record_role(root: Path, home: Path, run_id: str, role: str) -> None:
    """Record a worker of another role on the first task of a run."""
    desk = Desk(root=root, home=home)
    with open_store(root / ".air/local/air.db") as store:
        spec = TaskSpec(id=TaskId("T1"), title="t", write_area=("stock/**",))
        brief = desk.brief(task=spec, role=role, session_id=SessionId(f"{run_id}:T1:1:{role}:1"))
        given = desk.snapshot(brief)
        given = replace(given, request=replace(given.request, run_id=run_id))
        context = assemble(given)
        assert isinstance(context, AssembledContext)
        store.assemblies.record(context, snapshot=given)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two runs on record; a rule and a file changed between them and a log that git ignores."""
    base = tmp_path_factory.mktemp("asked")
    root = make_commit(make_project(base / "p", FILES))
    _record(root, base / "home", "r1")
    (root / "AGENTS.md").write_text("Be kind, and brief.\n")
    make_commit(root)
    _record(root, base / "home", "r1", "r2")
    (root / "out.log").write_text("noise\n")
    return root


def ask(root: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(root)
    done = CliRunner().invoke(cli, ["context", *arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def ask_json(root: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask(root, *arguments, "--json", monkeypatch=monkeypatch))
    return found


def _answer(root: Path, path: str) -> WhyNot:
    return why_not_subject(root, path, Asked(), manifest_id=None, page=Page())


def _has_answer(root: Path, path: str) -> bool:
    """Whether there are outcomes, each with a reason unless it was included, or else a reason with a concrete place."""
    found = _answer(root, path)
    if found.considerations:
        return all(
            one.outcome.outcome.value == "included" or (one.outcome.detail and one.remedy)
            for one in found.considerations
        )
    absence = found.absence
    assert absence is not None, path
    place = absence.place.rpartition(":")[0] if absence.place.rpartition(":")[2].isdigit() else absence.place
    ours = place.startswith(".air/")  # also where it is still to be written
    return bool(absence.why and absence.remedy) and (ours or (root / place).exists())


def test_every_path_of_a_tree_has_an_answer(project: Path) -> None:
    paths = sorted(path.relative_to(project).as_posix() for path in project.rglob("*"))
    asked = [path for path in paths if not path.startswith((".git/", ".air/local/"))]

    assert len(asked) > 20
    assert [path for path in asked if not _has_answer(project, path)] == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (RULE, "it was included"),
        ("AGENTS.md", "it was included"),
        ("docs/style.md", "it was included"),
        ("web/AGENTS.md", "path_not_matched"),
        ("docs/other.md", "import it in CLAUDE.md (`@docs/other.md`)"),
        ("out.log", "git ignores it (.gitignore:1)"),
        ("license", "named almost so: licence"),
        ("../elsewhere.md", "outside of this project"),
        ("Nobody has this text", "no text like it"),
        ("each file with a licence", "is no name that is on record; these candidates hold it as text"),
    ],
)
def test_why_not_says_what_decided(project: Path, path: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said in ask(project, "why-not", path, monkeypatch=monkeypatch)


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("licence", "path_not_matched"),
        ("AGENTS.md", "it was included"),
        ("docs/other.md", "import it in CLAUDE.md (`@docs/other.md`)"),
        ("docs/late.md", "task T2 does not name it in `reads` (T1 does)"),
        ("license", "named almost so: licence"),
        ("Nobody has this text", "no text like it"),
        ("each file with a licence", "is no name that is on record; these candidates hold it as text"),
        ("and brief", "no text like it"),
    ],
)
def test_why_not_of_one_assembly_has_every_answer_of_its_own(
    project: Path, subject: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of these stands in a prompt of the later run alone."""
    assert said in ask(project, "why-not", subject, "--manifest", "r1/T2@1", monkeypatch=monkeypatch)


@pytest.mark.shared
def test_every_path_of_a_real_tree_has_an_answer(tmp_path: Path) -> None:
    if not TREES.exists():
        pytest.skip("no rule trees beside the checkout")
    shutil.copytree(TREES / "task-master", tmp_path / "p", symlinks=True)
    root = make_commit(make_project(tmp_path / "p", {}))
    _record(root, tmp_path / "home", "r1")
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], check=True, capture_output=True, text=True)
    paths = listed.stdout.splitlines()

    assert len(paths) > 30
    assert [path for path in paths if not _has_answer(root, path)] == []


def test_who_saw_counts_the_fleet_and_says_who_holds_an_old_version(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = ask(project, "who-saw", "AGENTS.md", "--run", "all", monkeypatch=monkeypatch)
    stale = ask_json(project, "who-saw", "AGENTS.md", "--run", "all", "--stale", monkeypatch=monkeypatch)
    one_run = ask(project, "who-saw", "licence", monkeypatch=monkeypatch)
    page = ask_json(project, "who-saw", "licence", "--since", "2026-11-01", "--limit", "1", monkeypatch=monkeypatch)

    assert "2 hold a text that is not the file's now" in everyone
    assert [(one["run_id"], one["task_id"]) for one in stale["witnesses"]] == [("r1", "T1"), ("r1", "T2")]
    assert (stale["total"], stale["summary"]["workers"]) == (2, 4)
    assert "seen by 1 of 2; not by 1 (path_not_matched 1)" in one_run
    assert (len(page["witnesses"]), page["total"], page["summary"]["missed"]) == (1, 4, 2)


def test_what_a_source_is_now_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_commit(make_project(tmp_path / "p", FILES))
    _record(root, tmp_path / "home", "r1")
    rule, size = root / RULE, root / ".air/shared/rules/size.md"

    def told(name: str, *more: str) -> tuple[str, list[str]]:
        found = ask_json(root, "who-saw", name, *more, monkeypatch=monkeypatch)
        return ask(root, "who-saw", name, monkeypatch=monkeypatch), [one["now"] for one in found["witnesses"]]

    assert told("licence")[1] == ["same", "unknown"]
    rule.write_text(rule.read_text().replace("stock/**", "stock/**, lib/**"))
    text, now = told("licence")
    assert now == ["around", "unknown"]
    assert "its file was changed, this text was not" in text
    assert "stale" not in text
    assert told("licence", "--stale")[1] == []
    rule.write_text(rule.read_text().replace("licence line", "header"))
    text, now = told("licence")
    assert (now[0], "1 hold a text that is not the file's now" in text, "yes, stale" in text) == ("changed", True, True)
    size.unlink()
    text, now = told("size.md")
    assert (now, "2 hold a text whose file is gone" in text, "yes, file gone" in text) == (["gone"] * 2, True, True)


def test_files_say_nothing_of_a_run_that_began_in_another_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_commit(make_project(tmp_path / "p", {"0.py": "A = 1\n"}))
    head = git(root, "rev-parse", "HEAD")
    (root / ".air/local").mkdir(parents=True, exist_ok=True)
    with open_store(root / ".air/local/air.db") as store:
        record_run(store, "r1", ["A = 1\n"], base_commit=head)
    export_run(root, "r1", tmp_path / "bundle", texts=True, mask_paths=False)
    other, mine = make_commit(make_project(tmp_path / "q", {"0.py": "A = 2\n"})), tmp_path / "mine"
    git(tmp_path, "clone", "--quiet", str(root), str(mine))
    (mine / "0.py").write_text("A = 2\n")
    for folder in (other, mine):
        import_run(folder, tmp_path / "bundle")

    elsewhere = ask(other, "who-saw", "0.py", monkeypatch=monkeypatch)
    clone = ask(mine, "who-saw", "0.py", monkeypatch=monkeypatch)

    assert "1 not compared with the files here: their runs are from elsewhere" in elsewhere
    assert "stale" not in elsewhere
    assert "1 hold a text that is not the file's now" in clone


def test_who_saw_counts_each_role(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = shutil.copytree(project, tmp_path / "copy")
    record_role(root, tmp_path / "home", "r2", "debugger")

    said = ask(root, "who-saw", "licence", monkeypatch=monkeypatch)

    assert "seen by 1 of 3 (debugger 0 of 1, executor 1 of 2)" in said


def test_an_outcome_of_many_workers_is_one_line_with_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask_json(project, "why-not", "licence", "--run", "all", monkeypatch=monkeypatch)
    said = ask(project, "why-not", "licence", "--run", "all", monkeypatch=monkeypatch)

    assert [(one["outcome"]["outcome"], one["sessions"], one["runs"]) for one in found["considerations"]] == [
        ("omitted", 2, 2),
        ("included", 2, 2),
    ]
    assert "so in 2 sessions of 2 runs" in said


def test_why_is_exact_in_one_run_and_asks_the_index_over_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = ask(project, "why", "Keep functions small", monkeypatch=monkeypatch)
    every = ask(project, "why", "Keep functions small", "--run", "all", "--limit", "1", monkeypatch=monkeypatch)
    heading = ask(project, "why", "# Rules and preferences", monkeypatch=monkeypatch)

    assert "| Keep functions small." in one
    assert "from .air/shared/rules/size.md" in every
    assert "4 places in 4 sessions" in every
    assert "1 of 4 shown; go on with --offset 1" in every
    assert "layout: a heading or separator of the prompt itself" in heading


def test_what_stands_in_many_prompts_is_told_once_with_its_chain(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded = ask(project, "why", "Write short sentences", monkeypatch=monkeypatch)
    each = ask(project, "why", "Write short sentences", "--all", "--limit", "1", monkeypatch=monkeypatch)
    as_json = ask_json(project, "why", "Write short sentences", monkeypatch=monkeypatch)

    assert "2 places in 2 sessions, told as 1; --all tells each" in folded
    assert "let in by profile executor, imported by CLAUDE.md" in folded
    assert "in 2 prompts of executor T1, T2" in folded
    assert "1 of 2 shown; go on with --offset 1" in each
    assert [one["importers"] for one in as_json["places"]] == [["project:CLAUDE.md"]] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--run", "r9"), "There is no run r9"),
        (("--task", "T9"), "run r2 has no task T9"),
        (("--since", "yesterday"), "--since yesterday is no time"),
        (("--role", "nope"), "run r2 has no prompt of role nope"),
        (("--run", "all", "--session", "nope"), "no run has session nope"),
    ],
)
def test_what_is_not_there_is_said(
    project: Path, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    done = CliRunner().invoke(cli, ["context", "why-not", "licence", *arguments])
    assert isinstance(done.exception, AirError)
    assert done.exception.exit_code == 2
    assert said in done.exception.message


def test_a_file_that_the_plan_names_is_told_from_one_that_it_does_not(project: Path) -> None:
    def absence(path: str, task_id: str | None) -> str:
        asked = Asked(run_id="all", task_id=task_id)
        found = why_not_subject(project, path, asked, manifest_id=None, page=Page())
        assert found.absence is not None
        return found.absence.why

    assert "names it in `reads` of T1, but no prompt" in absence("docs/late.md", None)
    assert "task T2 does not name it in `reads` (T1 does)" in absence("docs/late.md", "T2")
    assert "no task names it in `reads`" in absence("docs/other.md", None)


def test_a_question_loads_nothing_heavy(project: Path) -> None:
    heavy = (
        "networkx",
        "dbos",
        "anthropic",
        "alembic",
        "aircoding.agents",
        "aircoding.fleet",
        "aircoding.app.contexts",
        "aircoding.app.run_results",
        "aircoding.workspace.repository",
        "jsonschema",
        "pydantic_settings",
        "yaml",
    )
    head = "r1/T1"
    asked = (
        *(("why-not", "licence"), ("who-saw", "licence"), ("why", "kind", "--run", "all"), ("why", "kind")),
        *(("blame", head), ("show", head), ("diff", head, head), ("replay", head)),
        *(("costs",), ("omissions",), ("conflicts",), ("list",)),
    )
    code = f"""
import sys
from aircoding.cli.main import main
for arguments in {asked!r}:
    try:
        main(["context", *arguments])
    except SystemExit as ended:
        loaded = [name for name in {heavy!r} if name in sys.modules]
        if ended.code or loaded:
            sys.exit(f"{{arguments}} ended with {{ended.code}} and loaded {{loaded}}")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["why", "x", "--since", "99999999w"],
        ["who-saw", "x", "--since", "9999999999999d"],
        ["who-saw", "x", "--offset", "999999999999999999999"],
        ["list", "--offset", "99999999999999999999999"],
        ["blame", "m-" + "f" * 100_000],
    ],
)
def test_numbers_and_names_without_bounds_are_refused(
    project: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)

    with pytest.raises(SystemExit) as ended:
        main(["context", *arguments])

    assert ended.value.code == 2, capsys.readouterr()
