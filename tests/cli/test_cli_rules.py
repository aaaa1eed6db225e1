"""`aircoding rules` as a process: everywhere, with any input, and the same as a prompt that is built."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import air
from support.every_tool import EVERY_TOOL, PATH
from support.projects import make_commit, make_project, write_tree
from support.texts import assert_file_equals

from aircoding.rules.tools.explain import FOREIGN_TOOLS

SNAPSHOTS = Path(__file__).parents[1] / "snapshots" / "rules"
ROOT = Path(__file__).parents[2]
TOOLS = [tool.value for tool in FOREIGN_TOOLS]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Other tools' own files come from HOME; nobody's are read here."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return home


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_commit(make_project(tmp_path / "project", EVERY_TOOL))


def said(root: Path, *arguments: str) -> str:
    ended = air(root, "rules", *arguments)
    assert ended.code == 0, ended.output
    return ended.output


def account(root: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(said(root, "explain", *arguments, "--json"))["account"]


def by_path(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    entries = {one["path"]: one for one in found["entries"]}
    assert len(entries) == len(found["entries"])
    return entries


@pytest.mark.parametrize("name", [*TOOLS, "worker", "compare", "list"])
def test_what_people_read(root: Path, name: str) -> None:
    arguments = {"worker": ["explain", PATH], "compare": ["compare", PATH], "list": ["list"]}
    shown = said(root, *arguments.get(name, ["explain", PATH, "--as", name]))
    assert_file_equals(SNAPSHOTS / f"{name}.txt", shown)
    assert name in {"compare", "list"} or max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("tool", TOOLS)
def test_every_rule_file_is_in_every_account(root: Path, tool: str) -> None:
    listed = {one["path"] for one in json.loads(said(root, "list", "--json"))["files"]}
    assert listed >= {"AGENTS.md", ".claude/rules/api.md", ".cursor/rules/plain.md", "web/AGENTS.md"}
    assert listed <= set(by_path(account(root, PATH, "--as", tool)))


def test_the_plain_form_accounts_for_every_rule_file_too(root: Path) -> None:
    listed = {one["path"] for one in json.loads(said(root, "list", "--json"))["files"]}
    found = account(root, PATH)
    assert listed <= set(by_path(found["files"]))
    assert (found["role"], found["trusted"]) == ("executor", False)


def test_the_plain_form_is_what_context_build_puts_into_the_prompt(root: Path) -> None:
    """With `.air/` all stages run; the manifest of the built prompt names the same rules in the same order."""
    assert_same_as_built(root, PATH)


def test_without_air_the_short_way_gives_what_context_build_gives(tmp_path: Path) -> None:
    files = {path: text for path, text in EVERY_TOOL.items() if not path.startswith(".air/")}
    root = make_commit(make_project(tmp_path / "plain", files))
    for path in (PATH, "new/file.txt", "web/x.js"):
        assert_same_as_built(root, path)
    assert not (root / ".air").exists()


def assert_same_as_built(root: Path, path: str) -> None:
    for role in ("executor", "reviewer", "debugger"):
        found = account(root, path, "--role", role)
        built = air(root, "context", "build", "--role", role, "--path", path, "--json").result["context"]
        manifest = built["manifest"]  # type: ignore[index]
        placed = [
            one["source"]
            for one in manifest["segments"]
            if one["layer"] == "L3" and one["kind"] in {"rule", "guidance"}
        ]
        ours = [one for one in found["rules"] if one["position"] is not None]
        assert [(one["uri"], one["start_line"]) for one in ours] == [(one["uri"], one["start_line"]) for one in placed]
        reasons = {(one["uri"], one["outcome"], one["detail"]) for one in manifest["outcomes"] if one["reason"]}
        left_out = {(one["uri"], one["outcome"], one["why"]) for one in found["rules"] if one["position"] is None}
        assert left_out <= reasons


@pytest.mark.parametrize("form", [["--as", "claude-code"], []], ids=["other", "ours"])
def test_nothing_heavy_is_loaded_for_an_answer(tmp_path: Path, form: list[str]) -> None:
    root = make_project(tmp_path / "plain", {"AGENTS.md": "a\n"})
    code = (
        "import sys\nfrom aircoding.cli.main import main\n"
        f"try:\n    main({['rules', 'explain', 'x.py', *form]!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        "print([name for name in ('pydantic', 'sqlmodel', 'networkx', 'litellm', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_a_rule_of_ours_overrides_is_told(root: Path) -> None:
    write_tree(root, {".air/shared/rules/a.md": "---\nid: same\n---\nOne.\n", "AGENTS.md": "x\n"})
    (Path(os.environ["AIR_HOME"]) / "rules").mkdir()
    (Path(os.environ["AIR_HOME"]) / "rules/mine.md").write_text("---\nid: same\n---\nTwo.\n")
    air(root, "init", "--yes")
    shown = said(root, "explain", PATH)
    assert "overrides" in shown
    assert {"a.md", "mine.md"} <= {word.rsplit("/", 1)[-1].rstrip("),") for word in shown.split()}


def test_tags_and_roles_select_as_for_a_task(root: Path) -> None:
    write_tree(root, {".air/shared/rules/tagged.md": "---\ntags: [perf]\n---\nMeasure.\n"})
    rule = ".air/shared/rules/tagged.md"
    assert by_path(account(root, PATH)["files"])[rule]["verdict"] == "not_loaded"
    assert by_path(account(root, PATH, "--tag", "perf")["files"])[rule]["verdict"] == "loaded"


@pytest.mark.parametrize("form", [["--as", tool] for tool in TOOLS] + [[]], ids=[*TOOLS, "ours"])
def test_no_repository_no_key_no_database_no_such_path(tmp_path: Path, form: list[str]) -> None:
    folder = tmp_path / "plain"
    write_tree(folder, {"AGENTS.md": "a\n", "CLAUDE.md": "c\n", "GEMINI.md": "g\n", ".cursorrules": "r\n"})
    before = sorted(folder.rglob("*"))
    shown = said(folder, "explain", "not/there/yet.py", *form)
    assert "Loaded: " in shown
    assert sorted(folder.rglob("*")) == before
    assert not any(Path(os.environ["AIR_HOME"]).iterdir())
    if not form:
        assert "no git repository" in shown
        assert "not trusted yet" in shown


@pytest.mark.parametrize("given", ["config", "folder", "environment"])
def test_settings_and_air_need_no_repository_either(
    tmp_path: Path, home: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plain"
    write_tree(folder, {"AGENTS.md": "# House\n\nUse tabs.\n"})
    if given == "config":
        write_tree(home, {".air/config.toml": "[run]\nconcurrency = 2\n"})
        monkeypatch.setenv("AIR_HOME", str(home / ".air"))
    elif given == "folder":
        (folder / ".air").mkdir()
    else:
        monkeypatch.setenv("AIR_RUN__CONCURRENCY", "2")
    for form in (["explain", "a.py"], ["compare", "a.py"], ["list"]):
        assert "AGENTS.md" in said(folder, *form)
    assert said(folder, "lint") == "1 rule file in order\n"


def test_from_any_folder_the_root_is_that_of_the_path(root: Path, tmp_path: Path) -> None:
    at_root = account(root, PATH, "--as", "cursor")
    below = account(root / "src", "api/users.py", "--as", "cursor")
    outside = account(tmp_path, str(root / PATH), "--as", "cursor")
    assert at_root == below == outside


def test_e36_a_git_file_marks_a_root(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", {".git": "gitdir: nowhere\n", "AGENTS.md": "r\n", "a/AGENTS.md": "a\n"})
    found = account(tmp_path / "tree" / "a", "x.py", "--as", "codex", "--cwd", ".")
    assert [one["path"] for one in found["entries"] if one["position"]] == ["AGENTS.md", "a/AGENTS.md"]
    assert "tree.no_git" in [one["code"] for one in found["warnings"]]


def test_cwd_moves_codex_down_the_tree(root: Path) -> None:
    found = by_path(account(root, PATH, "--as", "codex", "--cwd", "src/api"))
    assert [path for path, one in found.items() if one["position"]] == [
        "AGENTS.md",
        "src/AGENTS.md",
        "src/api/AGENTS.md",
    ]
    small = account(root, PATH, "--as", "codex", "--cwd", "src/api", "--max-bytes", "30")
    assert small["lost"] == ["src/AGENTS.md", "src/api/AGENTS.md"]


def test_settings_of_the_tools_are_given_as_options(root: Path) -> None:
    write_tree(root, {"TEAM.md": "team\n", "src/TEAM.md": "nested\n"})
    assert by_path(account(root, PATH, "--as", "gemini", "--context-file", "TEAM.md"))["src/TEAM.md"]["when"] == "touch"
    (root / "AGENTS.md").unlink()
    assert by_path(account(root, PATH, "--as", "codex", "--fallback", "TEAM.md"))["TEAM.md"]["position"] == 1
    both = account(root, PATH, "--as", "claude-code", "--agents-md", "claude-md-and-agents-md")
    assert by_path(both)["src/api/AGENTS.md"]["when"] == "touch"
    less = account(root, PATH, "--as", "claude-code", "--exclude", f"{root}/src/**")
    assert "src/api/CLAUDE.md" in less["lost"]


def test_the_users_own_files_count_and_an_import_needs_a_yes(root: Path, home: Path) -> None:
    write_tree(home, {".claude/CLAUDE.md": "mine\n", ".codex/AGENTS.md": "mine\n", "private.md": "secret\n"})
    refused = by_path(account(root, PATH, "--as", "claude-code"))
    assert refused["~/.claude/CLAUDE.md"]["position"] == 1
    assert refused["~/private.md"]["verdict"] == "refused"
    approved = account(root, PATH, "--as", "claude-code", "--approved", "~/private.md")
    assert by_path(approved)["~/private.md"]["verdict"] == "loaded"
    assert by_path(account(root, PATH, "--as", "codex"))["~/.codex/AGENTS.md"]["position"] == 1


def test_e37_e38_a_home_is_not_searched_and_the_folders_of_the_path_are(home: Path) -> None:
    write_tree(home, {"AGENTS.md": "h\n", "a/AGENTS.md": "a\n", "b/AGENTS.md": "b\n", ".claude/CLAUDE.md": "u\n"})
    found = account(home, "a/x.py", "--as", "claude-code", "--agents-md", "claude-md-and-agents-md")
    assert "tree.home" in [one["code"] for one in found["warnings"]]
    listed = by_path(found)
    assert "a/AGENTS.md" in listed
    assert "b/AGENTS.md" not in listed
    assert [path for path, one in listed.items() if one["position"]].count("~/.claude/CLAUDE.md") == 1
    assert listed[".claude/CLAUDE.md"]["cause"] == "duplicate"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", PATH, "--as", "vim"], "is not one of"),
        (["explain", PATH, "--max-bytes", "5"], "--max-bytes is an option of --as codex"),
        (["explain", PATH, "--as", "cursor", "--role", "executor"], "--role is an option of a worker of ours"),
        (["explain", PATH, "--cwd", "src"], "--cwd is an option of --as"),
        (["explain", PATH, "--as", "codex", "--cwd", ".."], "lies outside"),
        (["explain", PATH, "--role", "nobody"], "there is no role `nobody`"),
        (["explain", ""], "is no path"),
        (["explain", "/no-such-folder-at-all/x"], "lies in no folder that exists"),
        (["compare"], "Missing argument"),
    ],
)
def test_what_is_refused_says_why(root: Path, arguments: list[str], words: str) -> None:
    ended = air(root, "rules", *arguments)
    assert (ended.code, words in ended.output) == (2, True), ended.output
    assert "Traceback" not in ended.output


def test_compare_says_where_tools_differ_and_can_fail_for_it(root: Path, tmp_path: Path) -> None:
    ended = air(root, "rules", "compare", PATH, "--exit-code", "--json")
    found = ended.result["comparison"]
    assert ended.code == 1
    assert found["tools"] == ["worker", *TOOLS]  # type: ignore[index]
    cells = {tuple(row["names"]): [cell["word"] for cell in row["cells"]] for row in found["rows"]}  # type: ignore[index]
    assert cells["src/api/AGENTS.md",][1:3] == ["lost", "lost"]
    empty = make_commit(make_project(tmp_path / "empty", {"a.py": "A = 1\n"}))
    assert "No rule file" not in said(empty, "compare", "a.py")


def test_e17_names_of_one_file_stand_in_one_row(root: Path) -> None:
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    shown = said(root, "compare", PATH)
    assert "AGENTS.md = CLAUDE.md" in shown
    assert "CLAUDE.md is there, so Claude Code does not read src/AGENTS.md" in " ".join(shown.split())


def test_names_that_no_terminal_should_be_given_are_escaped(tmp_path: Path) -> None:
    root = make_project(tmp_path / "odd", {"a\x1b[31m\n/AGENTS.md": "x\n", "AGENTS.md": "y\n"})
    os.makedirs(os.fsencode(root) + b"/b\xff")
    Path(os.fsdecode(os.fsencode(root) + b"/b\xff/AGENTS.md")).write_text("z\n")
    for arguments in (
        ["list"],
        ["compare", "x"],
        ["explain", "x", "--all"],
        ["explain", "x", "--as", "codex", "--all"],
    ):
        for form in ([], ["--json"]):
            ended = air(root, "rules", *arguments, *form)
            assert (ended.code, "\x1b" in ended.output) == (0, False), ended.output


def test_a_confirmed_rule_is_marked_until_its_text_changes(root: Path) -> None:
    names = [one["name"] for one in account(root, PATH)["rules"] if one["path"] == "src/AGENTS.md"]
    assert len(names) == 1
    assert names[0] in said(root, "explain", PATH, "--rules")
    assert "confirmed: " in said(root, "confirm", names[0])
    assert "it was confirmed already" in said(root, "confirm", names[0])
    assert "(confirmed)" in said(root, "explain", PATH, "--rules")
    (root / "src/AGENTS.md").write_text("Other rules.\n")
    assert "(confirmed)" not in said(root, "explain", PATH, "--rules")
    assert "no longer confirmed" in said(root, "unconfirm", names[0])
    for command in ("confirm", "unconfirm"):
        ended = air(root, "rules", command, "no-such-rule")
        assert (ended.code, "Traceback" in ended.output) == (2, False), ended.output


def test_e28_an_approved_import_reaches_our_workers(root: Path, home: Path) -> None:
    write_tree(home, {"private.md": "Mine.\n"})
    assert by_path(account(root, PATH)["files"]).get("~/private.md", {}).get("verdict") != "loaded"
    assert "approved: ~/private.md" in said(root, "approve", str(home / "private.md"))
    assert "approved already" in said(root, "approve", "~/private.md")
    assert by_path(account(root, PATH)["files"])["~/private.md"]["verdict"] == "loaded"
    assert "no longer approved" in said(root, "approve", "~/private.md", "--withdraw")
    assert by_path(account(root, PATH)["files"]).get("~/private.md", {}).get("verdict") != "loaded"
    for wrong in (["~/private.md", "--withdraw"], ["src/AGENTS.md"]):
        assert air(root, "rules", "approve", *wrong).code == 2


@pytest.mark.parametrize(
    ("given", "said_of"),
    [
        ("~/absent.md", "is not there"),
        ("~/folder", "is no file"),
        ("~/other.md", "no rule file of the project imports ~/other.md"),
    ],
)
def test_e28_only_what_a_rule_file_imports_can_be_approved(root: Path, home: Path, given: str, said_of: str) -> None:
    write_tree(home, {"private.md": "Mine.\n", "other.md": "Mine too.\n", "folder/a.md": "x"})
    ended = air(root, "rules", "approve", given)
    assert (ended.code, said_of in ended.output) == (2, True), ended.output
    assert "not approved yet: ~/private.md" in ended.output
    said(root, "approve", "~/private.md")
    (home / "private.md").unlink()
    assert "no import waits for an approval" in air(root, "rules", "approve", given).output
    assert "no longer approved" in said(root, "approve", "~/private.md", "--withdraw")


def test_list_shows_whose_when_and_what_is_wrong(root: Path) -> None:
    found = {one["path"]: one for one in json.loads(said(root, "list", "--json"))["files"]}
    assert found[".cursor/rules/broken.mdc"]["mode"] == "broken"
    assert found[".cursor/rules/broken.mdc"]["problems"]
    assert found[".claude/rules/api.md"]["scope"] == "src/api/**"
    assert found[".cursor/rules/choice.mdc"]["mode"] == "described"
    codex = json.loads(said(root, "list", "--tool", "codex", "--json"))["files"]
    assert {one["dialect"] for one in codex} == {"AGENTS.md"}


def test_claude_and_claude_code_are_one_tool(root: Path) -> None:
    assert said(root, "explain", PATH, "--as", "claude") == said(root, "explain", PATH, "--as", "claude-code")
    assert said(root, "list", "--tool", "claude") == said(root, "list", "--tool", "claude-code")
    ended = air(root, "init", "--from", "claude-code", "--no-trust")
    assert (ended.code, "file of claude" in ended.output) == (0, True), ended.output


def test_a_file_whose_missing_part_stands_elsewhere_is_loaded_and_says_duplicate(tmp_path: Path) -> None:
    shared = "## Tests\n\nRun the tests before each commit, and say so.\n"
    files = {"AGENTS.md": f"# House\n\n{shared}", "CLAUDE.md": f"# House of Claude\n\nBe brief.\n\n{shared}"}
    root = make_commit(make_project(tmp_path / "twice", files))
    found = by_path(account(root, "a.py")["files"])["CLAUDE.md"]
    assert (found["verdict"], found["kept_bytes"] < found["size_bytes"]) == ("loaded", True)
    assert "duplicate: " in found["why"]
    assert "project:" not in said(root, "compare", "a.py") + said(root, "explain", "a.py")


@pytest.mark.parametrize("page", ["docs/how-to/find-lost-rules.md", "README.md"])
def test_the_commands_of_the_pages_run(root: Path, home: Path, page: str) -> None:
    write_tree(home, {"notes/style.md": "Be brief.\n"})
    write_tree(root, {".claude/rules/mine.md": "@~/notes/style.md\n"})
    commands = [
        line.strip()
        for block in (ROOT / page).read_text().split("```")[1::2]
        for line in block.splitlines()
        if line.startswith("aircoding rules ")
    ]
    assert commands
    for line in commands:
        arguments = shlex.split(line.split(" #")[0].replace("PATH", PATH))[1:]
        assert air(root, *arguments).code in ({0, 1} if "--exit-code" in arguments else {0}), line


STRANGER = {
    "AGENTS.md": "# Rules\n\nRun the tests.\n",
    "CLAUDE.md": "See CONTRIBUTING.md.\n",
    "src/AGENTS.md": "Check every input.\n",
    ".cursor/rules/api.mdc": "---\nglobs: src/**\n---\nValidate.\n",
    "src/app.py": "A = 1\n",
}


def test_the_transcript_of_the_readme_is_true(tmp_path: Path) -> None:
    """With AIR_UPDATE=1 it is written anew."""
    root = make_commit(make_project(tmp_path / "stranger", STRANGER))
    page = ROOT / "README.md"
    start, rest = page.read_text().split("$ aircoding rules compare src/app.py\n", 1)
    _, end = rest.split("```", 1)
    shown = said(root, "compare", "src/app.py")
    assert_file_equals(page, f"{start}$ aircoding rules compare src/app.py\n{shown}```{end}")


def test_every_command_reads_the_tree_that_workers_have(tmp_path: Path, home: Path) -> None:
    """Stored approvals and `agents_fallbacks` hold for list, lint, explain and compare alike."""
    files = {"CLAUDE.md": "@~/mine.md\n", "docs/TEAM.md": "@gone.md\n", "docs/a.py": ""}
    root = make_commit(make_project(tmp_path / "set", files))
    write_tree(home, {"mine.md": "Small steps.\n", ".claude/CLAUDE.md": "Mine.\n"})
    kept_out = json.loads(air(root, "rules", "lint", "--json").output)["lint"]["findings"]
    assert [(one["code"], one["line"], "approve ~/mine.md" in one["hint"]) for one in kept_out] == [
        ("lint.import", 1, True)
    ]
    said(root, "approve", "~/mine.md")
    (Path(os.environ["AIR_HOME"]) / "config.toml").write_text('[rules]\nagents_fallbacks = ["TEAM.md"]\n')
    assert air(root, "rules", "lint").code == 0
    listed = {one["path"] for one in json.loads(said(root, "list", "--json"))["files"]}
    assert {"docs/TEAM.md", "~/.claude/CLAUDE.md"} <= listed
    ours = by_path(account(root, "docs/a.py")["files"])
    loaded = {path for path, one in ours.items() if one["verdict"] == "loaded"}
    assert {"docs/TEAM.md", "~/mine.md", "~/.claude/CLAUDE.md", "CLAUDE.md"} <= loaded
    rows = json.loads(said(root, "compare", "docs/a.py", "--json"))["comparison"]["rows"]
    assert {"docs/TEAM.md", "~/mine.md"} <= {name for row in rows for name in row["names"]}


def test_a_folder_named_like_the_home_is_shown_as_the_projects(tmp_path: Path) -> None:
    root = make_commit(make_project(tmp_path / "forged", {"./~/AGENTS.md": "Obey.\n", "./~/a.py": ""}))
    listed = [one["path"] for one in json.loads(said(root, "list", "--json"))["files"]]
    assert listed == ["./~/AGENTS.md"]
    (rule,) = [one for one in account(root, "./~/a.py")["rules"] if one["path"] == "./~/AGENTS.md"]
    assert rule["trust"] == "external"
