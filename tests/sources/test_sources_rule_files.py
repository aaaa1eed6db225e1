"""Which rule files are candidates, as what, and that none of them is lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.projects import by_uri, make_intake, write_tree
from support.texts import REPOSITORY

from aircoding.records.layers import OutcomeKind, Reason, Scope, Trust
from aircoding.records.segments import Segment
from aircoding.rules.precedence import Level
from aircoding.rules.rule_names import Dialect, classify, folder_glob
from aircoding.sources.rule_files import RuleFiles, RuleSwitches, read_rules
from aircoding.sources.rule_texts import MAX_RULE_BYTES

SHARED = REPOSITORY.parent / "shared" / "data" / "rule-trees"
INTAKE = make_intake()


def listed(root: Path) -> list[str]:
    """All files below a root, links not followed, as git would list them."""
    found = []
    for folder, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in [*names, *links]]
    return found


def rules_of(root: Path, *, home: Path | None = None, paths: list[str] | None = None, **more: object) -> RuleFiles:
    names = listed(root) if paths is None else paths
    arguments = {"intake": INTAKE, "trusted": True, **more}
    return read_rules(root, home or root / "no-home", names, **arguments)  # type: ignore[arg-type]


def one(rules: RuleFiles, uri: str) -> Segment:
    found = by_uri(rules.segments, uri)
    assert len(found) == 1, [segment.segment_id for segment in found]
    return found[0]


def test_the_packaged_templates_are_level_0_and_the_projects_own_sections_override_them(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/rules/project-rules.md": "## Style\n\nTabs.\n"})
    rules = rules_of(tmp_path)
    template = next(
        rule
        for rule in by_uri(rules.segments, "resource:rules/project-rules.md")
        if rule.identity == "project-rules.md#style"
    )
    own = one(rules, "project:.air/shared/rules/project-rules.md")
    assert (template.level, template.trust) == (Level.BUILTIN, Trust.BUILTIN)
    assert (own.level, own.trust, own.identity) == (Level.PROJECT, Trust.PROJECT, template.identity)
    assert own.rule_kind == "project"
    assert own.segment_id.startswith("L3:project:.air/shared/rules/project-rules.md#style@")


def test_user_rules_come_from_the_users_folder_and_have_the_users_trust(tmp_path: Path) -> None:
    write_tree(tmp_path, {"home/rules/style.md": "Short answers.\n", "home/rules/deep/x.md": "no"})
    rules = rules_of(tmp_path / "p", home=tmp_path / "home", paths=[])
    rule = one(rules, "user:rules/style.md")
    assert (rule.level, rule.trust, rule.scope) == (Level.USER, Trust.USER, Scope.RUN)
    assert rule.title == "~/.air/rules/style.md"
    assert not by_uri(rules.segments, "user:rules/deep/x.md")


def test_before_a_project_is_trusted_its_files_are_external(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "a", ".air/shared/rules/x.md": "b"})
    rules = rules_of(tmp_path, trusted=False)
    assert {one(rules, f"project:{name}").trust for name in ("AGENTS.md", ".air/shared/rules/x.md")} == {Trust.EXTERNAL}


def test_the_root_of_the_chain_has_run_scope_and_nested_files_are_scoped_to_their_folder(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "root", "src/AGENTS.md": "src", "src/deep/er/AGENTS.md": "deep"})
    rules = rules_of(tmp_path)
    root, middle, deep = (one(rules, f"project:{name}AGENTS.md") for name in ("", "src/", "src/deep/er/"))
    assert (root.scope, root.paths, root.level) == (Scope.RUN, (), Level.PROJECT)
    assert (middle.scope, middle.paths, middle.level) == (Scope.SESSION, ("src/**",), Level.DIRECTORY)
    assert (deep.paths, deep.level) == (("src/deep/er/**",), Level.DIRECTORY + 2)
    assert middle.title == "src/AGENTS.md (for src/)"
    assert not root.native
    assert root.rule_id is None


def test_an_override_takes_the_place_of_the_other_file_of_its_folder_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "a", "AGENTS.override.md": "b", "src/AGENTS.md": "c"})
    rules = rules_of(tmp_path)
    shadowed = one(rules, "project:AGENTS.md")
    assert shadowed.barred is not None
    assert shadowed.barred.outcome is OutcomeKind.OVERRIDDEN
    assert "project:AGENTS.override.md" in shadowed.barred.detail
    assert one(rules, "project:AGENTS.override.md").barred is None
    assert one(rules, "project:src/AGENTS.md").barred is None


def test_e30_an_empty_override_takes_nothings_place_and_is_listed_as_empty(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "a", "AGENTS.override.md": "\n"})
    rules = rules_of(tmp_path)
    empty, counts = one(rules, "project:AGENTS.override.md"), one(rules, "project:AGENTS.md")
    assert empty.barred is not None
    assert empty.barred.detail == "the file holds no text"
    assert counts.barred is None
    said = [found for found in rules.diagnostics if found.code == "rule.empty_override"]
    assert [found.message for found in said] == ["it is empty, so project:AGENTS.md counts"]


def test_an_override_that_is_a_folder_shadows_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "a", "AGENTS.override.md/x": "b"})
    assert one(rules_of(tmp_path), "project:AGENTS.md").barred is None


def test_the_chain_of_the_task_counts_even_where_git_ignores_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.override.md": "a", "src/AGENTS.override.md": "b", "docs/AGENTS.override.md": "c"})
    rules = rules_of(tmp_path, paths=[], near=["src/**/*.py", "README.md"])
    assert by_uri(rules.segments, "project:AGENTS.override.md")
    assert by_uri(rules.segments, "project:src/AGENTS.override.md")
    assert not by_uri(rules.segments, "project:docs/AGENTS.override.md")


def test_the_chain_can_be_switched_off_and_says_so(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "a"})
    barred = one(rules_of(tmp_path, switches=RuleSwitches(agents_md=False)), "project:AGENTS.md").barred
    assert barred is not None
    assert (barred.reason, "agents_md = false" in barred.detail) == (Reason.DISABLED, True)


@pytest.mark.parametrize(
    ("path", "dialect", "folder"),
    [
        ("CLAUDE.md", Dialect.CLAUDE, ""),
        ("pkg/.claude/CLAUDE.md", Dialect.CLAUDE, "pkg"),
        ("pkg/CLAUDE.local.md", Dialect.CLAUDE, "pkg"),
        (".claude/rules/api/a.md", Dialect.CLAUDE_RULES, ""),
        ("pkg/.claude/rules/a.md", Dialect.CLAUDE_RULES, "pkg"),
        (".cursor/rules/deep/a.mdc", Dialect.CURSOR, ""),
        ("docs/.cursor/rules.mdc", Dialect.CURSOR, "docs"),
        (".cursor/rules/readme.md", Dialect.CURSOR, ""),
        (".windsurf/rules/a.md", Dialect.WINDSURF, ""),
        (".cursorrules", Dialect.CURSOR, ""),
        (".github/copilot-instructions.md", Dialect.COPILOT, ""),
        (".github/instructions/py/a.instructions.md", Dialect.COPILOT, ""),
        ("assets/GEMINI.md", Dialect.GEMINI, "assets"),
        (".hermes.md", Dialect.HERMES, ""),
        ("x/AGENTS.md", Dialect.AGENTS, "x"),
        (".air/shared/rules/a/b.md", Dialect.NATIVE, ""),
    ],
)
def test_rule_files_are_known_by_name(path: str, dialect: Dialect, folder: str) -> None:
    name = classify(path)
    assert name is not None
    assert (name.dialect, name.folder) == (dialect, folder)


@pytest.mark.parametrize(
    "path",
    [
        ".air/shared/plan/AGENTS.md",
        ".air/local/worktrees/r/T1-1/AGENTS.md",
        ".claude/commands/go.md",
        ".claude/rules",
        ".github/workflows/ci.yml",
        "docs/agents.txt",
        "",
    ],
)
def test_other_files_are_no_rule_files(path: str) -> None:
    assert classify(path) is None


@pytest.mark.parametrize("link", ["symlink", "hard link"])
def test_one_file_with_two_names_counts_once_and_names_both(tmp_path: Path, link: str) -> None:
    write_tree(tmp_path, {"AGENTS.md": "rules"})
    if link == "symlink":
        (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        (tmp_path / "CLAUDE.md").hardlink_to(tmp_path / "AGENTS.md")
    rules = rules_of(tmp_path)
    copy = one(rules, "project:CLAUDE.md").barred
    assert one(rules, "project:AGENTS.md").barred is None
    assert copy is not None
    assert copy.outcome is OutcomeKind.DUPLICATE
    assert "project:CLAUDE.md and project:AGENTS.md are one file" in copy.detail


def test_a_link_out_of_the_project_is_refused_and_listed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"secret": "AKIA", "p/.air/shared/rules/a.md": "fine"})
    (tmp_path / "p" / "AGENTS.md").symlink_to(tmp_path / "secret")
    (tmp_path / "p" / ".air/shared/rules/out.md").symlink_to(tmp_path / "secret")
    rules = rules_of(tmp_path / "p")
    for name in ("AGENTS.md", ".air/shared/rules/out.md"):
        segment = one(rules, f"project:{name}")
        assert segment.barred is not None
        assert (segment.barred.reason, segment.text) == (Reason.UNREADABLE, "")
        assert "leaves the project" in segment.barred.detail
    assert len([found for found in rules.diagnostics if found.code == "rule.unreadable"]) == 2


def test_a_pipe_and_a_folder_by_the_name_of_a_rule_file_never_hang(tmp_path: Path) -> None:
    write_tree(tmp_path, {"GEMINI.md/x": ""})
    os.mkfifo(tmp_path / "AGENTS.md")
    rules = rules_of(tmp_path, paths=["AGENTS.md", "GEMINI.md"])
    assert {one(rules, f"project:{name}").barred.reason for name in ("AGENTS.md", "GEMINI.md")} == {  # type: ignore[union-attr]
        Reason.UNREADABLE
    }


def test_a_file_that_vanished_after_the_listing_is_as_if_it_had_never_been(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, paths=["AGENTS.md", "x/AGENTS.md"])
    assert all(segment.source.uri.startswith("resource:") for segment in rules.segments)


def test_a_folder_of_rules_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    folders = [tmp_path / "home/rules", tmp_path / "p/.air/shared/rules"]
    for folder in folders:
        folder.parent.mkdir(parents=True)
        folder.symlink_to(folder)
    rules = rules_of(tmp_path / "p", home=tmp_path / "home", paths=[])
    assert [found.uri for found in rules.diagnostics] == ["project:.air/shared/rules", "user:rules"]
    assert {found.code for found in rules.diagnostics} == {"rule.unreadable"}


def test_a_ring_of_linked_folders_ends(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/rules/a.md": "a"})
    (tmp_path / ".air/shared/rules/again").symlink_to(".")
    (tmp_path / ".air/shared/rules/up").symlink_to("../..")
    assert len(by_uri(rules_of(tmp_path, paths=[]).segments, "project:.air/shared/rules/a.md")) == 1


def test_a_broken_header_quarantines_the_rule_with_file_and_line(tmp_path: Path) -> None:
    write_tree(tmp_path, {".air/shared/rules/a.md": "---\npaths: ['[z']\n---\n## A\n\ntext\n"})
    rules = rules_of(tmp_path)
    barred = one(rules, "project:.air/shared/rules/a.md").barred
    assert barred is not None
    assert (barred.outcome, barred.reason) == (OutcomeKind.QUARANTINED, Reason.INVALID)
    assert barred.detail.startswith("project:.air/shared/rules/a.md:2: ")
    assert any(found.severity == "error" and found.line == 2 for found in rules.diagnostics)


def test_a_scoped_native_rule_has_session_scope_and_the_lines_of_its_scope(tmp_path: Path) -> None:
    text = "---\nkind: toolchain\npaths: ['src/**', '*.py']\ntags: [api]\nrequired: true\n---\n\n## A\n\ntext\n"
    write_tree(tmp_path, {".air/shared/rules/a.md": text})
    rule = one(rules_of(tmp_path), "project:.air/shared/rules/a.md")
    assert (rule.scope, rule.paths, rule.tags) == (Scope.SESSION, ("src/**", "*.py"), ("api",))
    assert (rule.paths_line, rule.tags_line, rule.required, rule.rule_kind) == (3, 4, True, "toolchain")
    assert (rule.source.start_line, rule.source.end_line) == (8, 10)
    assert rule.text == "## A\n\ntext"


def test_bytes_that_are_no_utf_8_are_a_finding_and_a_diagnostic(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": b"caf\xe9"})
    rules = rules_of(tmp_path)
    assert [(hit.code, hit.blocks) for hit in one(rules, "project:AGENTS.md").findings] == [("encoding.lossy", False)]
    assert [found.code for found in rules.diagnostics] == ["rule_file.encoding"]


def test_what_lies_beyond_the_cap_is_listed_with_its_lines(tmp_path: Path) -> None:
    text = "## A\n\nshort\n\n## B\n\n" + "x" * MAX_RULE_BYTES + "\n\n## C\n\nend\n"
    write_tree(tmp_path, {".air/shared/rules/a.md": text})
    found = by_uri(rules_of(tmp_path).segments, "project:.air/shared/rules/a.md")
    first, second, third = sorted(found, key=lambda rule: rule.source.start_line or 0)
    assert (first.barred, third.barred) == (None, None)
    assert second.barred is not None
    assert (second.barred.reason, second.text) == (Reason.BUDGET, "")
    assert second.barred.detail.startswith("lines 5-7 (")


def test_a_secret_in_a_rule_file_is_masked_and_the_raw_digest_kept(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "abcdef"
    write_tree(tmp_path, {"AGENTS.md": f"token: {secret}\n"})
    rule = one(rules_of(tmp_path), "project:AGENTS.md")
    assert secret not in rule.text
    assert "[REDACTED:" in rule.text
    assert rule.source.digest != rule.source.text_digest


def test_a_folder_whose_name_holds_glob_characters_scopes_to_itself() -> None:
    from aircoding.rules.globs import Dialect as GlobDialect
    from aircoding.rules.globs import compile_globs

    matcher = compile_globs(folder_glob("app/[slug]"), GlobDialect.ROOT_ANCHORED)
    assert matcher.matches("app/[slug]/page.tsx")
    assert not matcher.matches("app/s/page.tsx")


TREE = {
    "AGENTS.md": "a",
    "src/AGENTS.md": "b",
    "src/AGENTS.override.md": "c",
    "CLAUDE.md": "d",
    ".cursor/rules/x.mdc": "e",
    ".air/shared/rules/one.md": "## A\n\nf\n\n## A\n\ng\n",
    "docs/GEMINI.md": "h @../extra.md",
    "extra.md": "i @CLAUDE.md",
    ".claude/rules/y.md": "---\npaths: src/**\n---\nj",
}


@given(order=st.permutations([*TREE, "LINK.md", "AGENTS.md"]))
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_order_of_listing_changes_anything(tmp_path_factory: pytest.TempPathFactory, order: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "ordered"
    if not root.exists():
        write_tree(root, TREE)
        (root / "docs" / "AGENTS.md").symlink_to("../src/AGENTS.md")
    paths = ["docs/AGENTS.md" if name == "LINK.md" else name for name in order]
    expected = rules_of(root)
    rules = rules_of(root, paths=paths)
    assert rules == expected
    ids = [segment.segment_id for segment in rules.segments]
    assert ids == sorted(set(ids))


@pytest.mark.shared
@pytest.mark.parametrize("tree", ["koku", "pydantic-ai", "task-master"])
def test_every_rule_file_of_a_real_tree_is_accounted_for(tmp_path: Path, tree: str) -> None:
    if not (SHARED / tree).is_dir():
        pytest.skip(f"the rule trees are not at {SHARED}")
    root = tmp_path / tree
    shutil.copytree(SHARED / tree, root, symlinks=True)
    paths = [*listed(root), *(SHARED / f"{tree}.paths.txt").read_text().split("\n")]

    rules = rules_of(root, paths=paths)

    names = {path for path in listed(root) if classify(path) is not None}
    assert names
    assert {f"project:{name}" for name in names} <= {rule.source.uri for rule in rules.segments}
    assert rules == rules_of(root, paths=paths[::-1])
    used = [rule for rule in rules.segments if rule.barred is None and rule.trust is Trust.PROJECT]
    assert len(used) > 20
