"""Repositories, commits, merges and branches, on real git."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from workspace.conftest import plain_git

from aircoding.errors import ProjectError, WorkspaceError
from aircoding.workspace.git import git
from aircoding.workspace.repository import GitRepository, main_root, open_repository

MakeWorktree = Callable[..., Path]


def commit(repository: GitRepository, root: Path, key: str, message: str = "Work") -> str:
    made = repository.commit_all(str(root), message, key=key)
    assert made is not None
    return made


def both_change_line_two(repository: GitRepository, make_worktree: MakeWorktree) -> tuple[Path, str]:
    """Return a worktree and a commit of another one that conflicts with it."""
    left, right = make_worktree("left-1"), make_worktree("right-1")
    (left / "src/a.py").write_text("one\nLEFT\nthree\n")
    (right / "src/a.py").write_text("one\nRIGHT\nthree\n")
    commit(repository, left, "k-left")
    return left, commit(repository, right, "k-right")


def test_the_root_is_found_from_a_folder_inside(project: Path) -> None:
    assert open_repository(project / "src").root == str(project)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: path, "project.none"),
        (lambda path: plain_git(path, "init", "-q"), "project.no_commit"),
        (lambda path: plain_git(path, "init", "-q", "--bare"), "project.bare"),
        (lambda path: path.rmdir(), "project.none"),
    ],
)
def test_a_place_without_commits_to_work_from_is_refused_with_a_way_out(
    tmp_path: Path, make: Callable[[Path], object], code: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    make(place)
    with pytest.raises(ProjectError) as caught:
        open_repository(place)
    assert caught.value.code == code
    assert caught.value.hint


def test_neither_gits_own_folder_nor_a_worktree_of_an_attempt_is_a_project(
    project: Path, make_worktree: MakeWorktree
) -> None:
    with pytest.raises(ProjectError, match="git's own folder"):
        open_repository(project / ".git")
    with pytest.raises(ProjectError) as caught:
        open_repository(make_worktree())
    assert str(project) in caught.value.hint


def test_git_that_is_missing_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(WorkspaceError, match="git is not installed"):
        open_repository(project)


def test_head_branch_time_and_files_of_a_commit(repository: GitRepository, project: Path) -> None:
    head = repository.head()
    assert head == plain_git(project, "rev-parse", "HEAD")
    assert repository.head_branch() == "main"
    assert repository.commit_at(head).endswith("Z")
    assert repository.read_at(head, "README.md") == b"Words.\n"
    assert repository.read_at(head, "none.md") is None
    assert repository.read_at(head, "src") is None
    assert repository.objects_at(head, ["src/a.py", "none"]) == {
        "src/a.py": plain_git(project, "rev-parse", "HEAD:src/a.py")
    }
    assert set(repository.objects_at(head)) == {".gitignore", "README.md", "src/a.py"}
    plain_git(project, "checkout", "-q", "--detach")
    assert repository.head_branch() is None


def test_dirty_paths_name_what_is_not_committed_but_our_own_state(
    repository: GitRepository, project: Path, make_worktree: MakeWorktree
) -> None:
    assert repository.dirty_paths() == ()
    make_worktree()
    assert plain_git(project, "status", "--porcelain", "--untracked-files=all") == ""
    (project / ".air" / "config.toml").write_text("")
    (project / "README.md").write_text("Other.\n")
    (project / 'two\nlines and "quotes".txt').write_text("")
    (project / "noise.log").write_text("")
    assert repository.dirty_paths() == ("README.md", 'two\nlines and "quotes".txt')


def test_a_commit_is_made_once_for_its_key(repository: GitRepository, make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    assert repository.commit_all(str(root), "Nothing", key="k0") is None
    (root / "new.txt").write_text("new\n")
    (root / "README.md").unlink()
    (root / "noise.log").write_text("")
    (root / ".air/local").mkdir(parents=True)
    (root / ".air/local/state").write_text("")
    (root / ".air-0011.partial").write_text("half")
    first = commit(repository, root, "r1:t:1", "Title with \0 in it")
    assert repository.commit_all(str(root), "Again", key="r1:t:1") == first == repository.worktree_head(str(root))
    shown = plain_git(root, "show", "--format=%an|%s|%(trailers:key=Air-Key,valueonly)", "--name-status", first)
    assert shown.split("|") == [
        "Pat",
        "Title with \N{REPLACEMENT CHARACTER} in it",
        "r1:t:1\n\n\nD\tREADME.md\nA\tnew.txt",
    ]


def test_without_a_name_of_the_user_the_program_commits(
    repository: GitRepository, make_worktree: MakeWorktree, own_git_home: Path
) -> None:
    (own_git_home / ".gitconfig").write_text("[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n")
    root = make_worktree()
    (root / "new.txt").write_text("new\n")
    made = commit(repository, root, "k")
    assert (
        plain_git(root, "show", "--no-patch", "--format=%an <%ae> %cn", made)
        == "AirCoding <aircoding@localhost> AirCoding"
    )


@pytest.mark.parametrize("commits", [True, False])
def test_a_repository_inside_the_worktree_is_not_committed_as_an_empty_folder(
    repository: GitRepository, make_worktree: MakeWorktree, commits: bool
) -> None:
    root = make_worktree()
    nested = root / "vendor" / "lib"
    nested.mkdir(parents=True)
    (nested / "code.py").write_text("")
    (root / "vendor" / "own.py").write_text("mine\n")
    plain_git(nested, "init", "-q")
    if commits:
        plain_git(nested, "add", "-A")
        plain_git(nested, "commit", "-q", "-m", "Inner")
    files = repository.open_worktree(str(root))
    assert [change.path for change in files.changes("HEAD")] == ["vendor/lib", "vendor/own.py"]
    assert "+mine" in files.diff("HEAD")
    with pytest.raises(WorkspaceError, match="vendor/lib"):
        repository.commit_all(str(root), "Work", key="k")


def test_a_submodule_with_files_is_no_work_until_it_moves(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    inner = project / "inner"
    inner.mkdir()
    plain_git(inner, "init", "-q")
    plain_git(inner, "commit", "-q", "--allow-empty", "-m", "One")
    plain_git(project, "add", "-A")
    plain_git(project, "commit", "-q", "-m", "A submodule")
    root = make_worktree()
    plain_git(root, "clone", "-q", str(inner), "inner")
    (root / "inner" / "debris").write_text("")
    (root / "new.txt").write_text("new\n")
    assert [change.path for change in repository.open_worktree(str(root)).changes("HEAD")] == ["new.txt"]
    commit(repository, root, "k1")
    plain_git(root / "inner", "commit", "-q", "--allow-empty", "-m", "Two")
    with pytest.raises(WorkspaceError, match="inner"):
        repository.commit_all(str(root), "Work", key="k2")


def test_a_clean_merge_is_one_commit_with_its_key_and_made_once(
    repository: GitRepository, make_worktree: MakeWorktree
) -> None:
    left, right = make_worktree("left-1"), make_worktree("right-1")
    (left / "left.txt").write_text("l\n")
    (right / "right.txt").write_text("r\n")
    commit(repository, left, "k-left")
    other = commit(repository, right, "k-right")
    merged = repository.merge(str(left), other, "Merge right", key="k-merge")
    assert merged.commit == repository.worktree_head(str(left))
    assert merged.conflicts == ()
    assert plain_git(left, "log", "-1", "--format=%s %P").split()[-1] == other
    (left / "more.txt").write_text("later\n")
    commit(repository, left, "k-later")
    assert repository.merge(str(left), other, "Merge right", key="k-merge").commit == merged.commit
    assert repository.merge(str(left), other, "Merge right", key="another").commit == repository.worktree_head(
        str(left)
    )


def test_a_conflict_is_left_in_the_files_and_told_again(repository: GitRepository, make_worktree: MakeWorktree) -> None:
    left, other = both_change_line_two(repository, make_worktree)
    before = repository.worktree_head(str(left))
    outcome = repository.merge(str(left), other, "Merge", key="k-merge")
    assert (outcome.commit, outcome.conflicts) == (None, ("src/a.py",))
    text = (left / "src/a.py").read_text()
    assert "LEFT" in text
    assert "RIGHT" in text
    (left / "src/a.py").write_text("one\nBOTH\nthree\n")
    assert repository.merge(str(left), other, "Merge", key="k-merge").conflicts == ("src/a.py",)
    assert (left / "src/a.py").read_text() == "one\nBOTH\nthree\n"
    done = commit(repository, left, "k-merge")
    assert plain_git(left, "show", "--no-patch", "--format=%P", done).split() == [before, other]
    assert repository.merge(str(left), other, "Merge", key="k-merge").commit == done
    assert repository.open_worktree(str(left)).changes("HEAD") == ()


def test_a_file_changed_here_and_deleted_there_is_a_conflict(
    repository: GitRepository, make_worktree: MakeWorktree
) -> None:
    left, right = make_worktree("left-1"), make_worktree("right-1")
    (left / "src/a.py").write_text("changed\n")
    (right / "src/a.py").unlink()
    commit(repository, left, "k-left")
    outcome = repository.merge(str(left), commit(repository, right, "k-right"), "Merge", key="k")
    assert outcome.conflicts == ("src/a.py",)


def test_a_merge_that_was_given_up_leaves_the_branchs_own_files(
    repository: GitRepository, make_worktree: MakeWorktree
) -> None:
    left, other = both_change_line_two(repository, make_worktree)
    repository.merge(str(left), other, "Merge", key="k-merge")
    (left / "debris.txt").write_text("of the debugger\n")
    (left / "kept.log").write_text("ignored\n")
    repository.abort_merge(str(left))
    assert (left / "src/a.py").read_text() == "one\nLEFT\nthree\n"
    assert not (left / "debris.txt").exists()
    assert (left / "kept.log").exists()
    assert plain_git(left, "status", "--porcelain") == ""
    repository.abort_merge(str(left))
    repository.reset(str(left), repository.head())
    assert (left / "src/a.py").read_text() == "one\ntwo\nthree\n"


def test_what_a_verify_command_wrote_is_in_the_way_of_no_merge(
    repository: GitRepository, make_worktree: MakeWorktree
) -> None:
    left, right = make_worktree("left-1"), make_worktree("right-1")
    (right / "coverage.xml").write_text("theirs\n")
    other = commit(repository, right, "k-right")
    (left / "coverage.xml").write_text("not committed\n")
    (left / "README.md").write_text("half merged by a git that was killed\n")
    assert repository.merge(str(left), other, "Merge", key="k").commit
    assert (left / "coverage.xml").read_text() == "theirs\n"
    assert (left / "README.md").read_text() == "Words.\n"


def test_a_merge_that_git_cannot_make_is_no_merge(repository: GitRepository, make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    with pytest.raises(WorkspaceError, match="git"):
        repository.merge(str(root), "0" * 40, "Merge", key="k")
    unrelated = git(root, "commit-tree", "-m", "Unrelated", plain_git(root, "mktree", "--missing"))
    with pytest.raises(WorkspaceError, match="unrelated histories"):
        repository.merge(str(root), unrelated, "Merge", key="k")


def test_a_reset_can_take_ignored_files_with_it(repository: GitRepository, make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    (root / ".gitignore").write_text("*.cache\n")
    first = commit(repository, root, "k1")
    (root / "planted.cache").write_text("x")

    repository.reset(str(root), first)
    assert (root / "planted.cache").exists()

    repository.reset(str(root), first, ignored=True)
    assert not (root / "planted.cache").exists()


def test_the_branch_that_is_checked_out_moves_forward_with_its_files(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("new\n")
    made = commit(repository, root, "k")
    assert repository.fast_forward(made) is None
    assert repository.head() == made
    assert (project / "new.txt").read_text() == "new\n"
    assert repository.fast_forward(made) is None


def test_a_dirty_tree_stops_the_move_and_stays_as_it_is(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("new\n")
    made, before = commit(repository, root, "k"), repository.head()
    (project / "README.md").write_text("mine\n")
    reason = repository.fast_forward(made, branch="main")
    assert reason is not None
    assert "README.md" in reason
    assert repository.head() == before
    assert (project / "README.md").read_text() == "mine\n"


def test_a_file_of_the_user_that_git_ignores_is_not_overwritten(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "notes.log").write_text("theirs\n")
    plain_git(root, "add", "-f", "notes.log")
    made = commit(repository, root, "k")
    (project / "notes.log").write_text("mine\n")
    reason = repository.fast_forward(made)
    assert reason is not None
    assert "notes.log" in reason
    assert (project / "notes.log").read_text() == "mine\n"


def test_a_branch_with_commits_of_its_own_is_not_moved(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("new\n")
    made = commit(repository, root, "k")
    (project / "mine.txt").write_text("mine\n")
    plain_git(project, "add", "-A")
    plain_git(project, "commit", "-q", "-m", "Mine")
    assert "commits of its own" in str(repository.fast_forward(made))
    plain_git(project, "merge", "-q", "--no-edit", made)
    assert repository.fast_forward(made) is None


def test_a_branch_that_is_not_checked_out_moves_without_files(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("new\n")
    made = commit(repository, root, "k")
    plain_git(project, "switch", "-q", "-c", "other")
    (project / "README.md").write_text("mine\n")
    assert repository.fast_forward(made, branch="main") is None
    assert plain_git(project, "rev-parse", "main") == made
    assert not (project / "new.txt").exists()
    assert "no branch gone" in str(repository.fast_forward(made, branch="gone"))
    plain_git(project, "checkout", "-q", "--detach")
    assert "detached" in str(repository.fast_forward(made))


def test_a_branch_in_another_worktree_of_the_user_moves_there_with_its_files(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path, tmp_path: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("new\n")
    made = commit(repository, root, "k")
    plain_git(project, "switch", "-q", "-c", "other")
    plain_git(project, "worktree", "add", "-q", str(tmp_path / "second"), "main")
    assert repository.fast_forward(made, branch="main") is None
    assert (tmp_path / "second" / "new.txt").exists()


def test_no_program_of_the_repository_runs(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path, tmp_path: Path
) -> None:
    """Hooks, fsmonitor, external diff, textconv, filters, drivers, and the same of a repository inside."""
    canary = tmp_path / "canary"
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {canary}\ncat\n')
    trap.chmod(0o755)
    settings = [
        "core.fsmonitor",
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.askPass",
        "credential.helper",
        "filter.trap.clean",
        "filter.trap.smudge",
        "merge.trap.driver",
        "gpg.program",
        "sequence.editor",
    ]
    (project / ".gitattributes").write_text("* diff=trap filter=trap merge=trap\n")
    inner = project / "inner"
    inner.mkdir()
    plain_git(inner, "init", "-q")
    (inner / "file.txt").write_text("before\n")
    (inner / ".gitattributes").write_text("* filter=trap\n")
    plain_git(inner, "add", "-A")
    plain_git(inner, "commit", "-q", "-m", "Inner")
    plain_git(project, "add", "-A")
    plain_git(project, "commit", "-q", "-m", "A repository inside, and attributes")
    for setting in settings:
        plain_git(project, "config", setting, str(trap))
        plain_git(inner, "config", setting, str(trap))
    plain_git(project, "config", "filter.trap.required", "true")
    plain_git(project, "config", "commit.gpgSign", "true")
    plain_git(project, "remote", "add", "evil", f"ext::{trap}")
    (inner / "file.txt").write_text("behind\n")  # git must hash it to see the change, and would filter it for that
    for hook in ("post-checkout", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-merge"):
        (project / ".git/hooks" / hook).write_bytes(trap.read_bytes())
        (project / ".git/hooks" / hook).chmod(0o755)
    plain_git(project, "status")
    assert canary.exists(), "the trap does not work"
    canary.unlink()

    root = make_worktree("trapped-1")
    assert (root / "README.md").read_text() == "Words.\n"
    (root / "README.md").write_text("changed\n")
    (root / "src/a.py").write_text("one\ntwo\nfour\n")
    files = repository.open_worktree(str(root))
    assert "changed" in files.diff("HEAD")
    files.changes("HEAD")
    files.paths()
    made = commit(repository, root, "k")
    other = make_worktree("trapped-2")
    (other / "src/a.py").write_text("zero\ntwo\nthree\n")
    commit(repository, other, "k2")
    assert repository.merge(str(other), made, "Merge", key="k3").commit
    assert (other / "src/a.py").read_text() == "zero\ntwo\nfour\n"
    repository.dirty_paths()
    here = repository.open_worktree(str(project))
    here.changes("HEAD~1")
    here.diff("HEAD~1")
    assert repository.fast_forward(made) is None
    repository.remove_worktree(str(root))
    assert not canary.exists(), canary.read_text()


def test_git_variables_of_the_caller_do_not_count(repository: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    head = repository.head()
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "nonsense")
    assert repository.head() == head


def test_a_program_named_git_in_the_worktree_is_not_run(
    repository: GitRepository, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "git").write_text("#!/bin/sh\necho forged\n")
    (project / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    assert repository.head() != "forged"


def test_a_folder_whose_git_file_names_a_repository_that_is_gone_is_its_own_root(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert main_root(tmp_path) == str(tmp_path)
