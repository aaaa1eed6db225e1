"""Worktrees made, found again after a kill, and removed only when they hold nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from workspace.conftest import plain_git

from aircoding.errors import WorkspaceError
from aircoding.workspace.git import OUR_MARK, git
from aircoding.workspace.repository import GitRepository

MakeWorktree = Callable[..., Path]


def git_home(root: Path) -> Path:
    return Path(plain_git(root, "rev-parse", "--absolute-git-dir"))


def test_a_worktree_is_made_on_its_branch_and_found_again_with_its_work(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    assert root == project / ".air/local/worktrees/r1/t-1"
    assert plain_git(root, "branch", "--show-current") == "air/r1/t-1"
    (root / "new.txt").write_text("work\n")
    assert make_worktree() == root
    assert (root / "new.txt").read_text() == "work\n"
    assert repository.head() == repository.worktree_head(str(root))


def test_a_worktree_at_an_older_commit(repository: GitRepository, make_worktree: MakeWorktree, project: Path) -> None:
    first = repository.head()
    (project / "later.txt").write_text("later\n")
    plain_git(project, "add", "-A")
    plain_git(project, "commit", "-q", "-m", "Later")
    assert not (make_worktree("t-1", first) / "later.txt").exists()


def test_a_checkout_that_was_killed_is_made_anew(make_worktree: MakeWorktree, project: Path) -> None:
    """Git has registered and locked it, half of its files are there: a commit would take the others for deletions."""
    root = make_worktree()
    home = git_home(root)
    (home / OUR_MARK).unlink()
    (home / "locked").write_text("initializing")
    (root / "README.md").unlink()
    (home / "index").unlink()
    assert make_worktree() == root
    assert (root / "README.md").exists()
    assert plain_git(root, "status", "--porcelain") == ""
    assert len(plain_git(project, "worktree", "list").splitlines()) == 2


def test_git_that_was_killed_at_any_moment_of_the_making_leaves_nothing_in_the_way(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    """The real thing: SIGKILL the making process group after growing delays, then make the worktree."""
    for number in range(400):
        (project / f"file{number}.txt").write_text(f"{number}\n" * 50)
    plain_git(project, "add", "-A")
    plain_git(project, "commit", "-q", "-m", "Many files")
    for step in range(6):
        name = f"k-{step}"
        folder = project / ".air/local/worktrees/r1" / name
        making = subprocess.Popen(
            ["git", "worktree", "add", "-q", "-b", f"air/r1/{name}", str(folder), "HEAD"],
            cwd=project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(0.002 + step * 0.006)
        os.killpg(making.pid, 9)
        making.wait()
        for lock in (project / ".git").rglob("*.lock"):
            os.utime(lock, (1, 1))  # of an earlier process
        root = make_worktree(name)
        assert plain_git(root, "status", "--porcelain") == "", step
        assert plain_git(root, "branch", "--show-current") == f"air/r1/{name}"


def test_a_folder_that_is_in_the_way_is_moved_aside_with_its_files(make_worktree: MakeWorktree, project: Path) -> None:
    place = project / ".air/local/worktrees/r1/t-1"
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("mine\n")
    root = make_worktree()
    assert not (root / "mine.txt").exists()
    (aside,) = place.parent.glob("t-1.aside-*")
    assert (aside / "mine.txt").read_text() == "mine\n"


def test_when_the_files_are_gone_the_branch_still_has_the_commits(
    repository: GitRepository, make_worktree: MakeWorktree
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("work\n")
    made = repository.commit_all(str(root), "Work", key="k")
    base = repository.head()
    shutil.rmtree(root)
    assert make_worktree("t-1", base) == root
    assert repository.worktree_head(str(root)) == made
    assert (root / "new.txt").exists()


def test_a_branch_of_that_name_with_another_history_is_not_taken(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    first = repository.head()
    plain_git(project, "branch", "air/r1/t-1", first)
    (project / "later.txt").write_text("later\n")
    plain_git(project, "add", "-A")
    plain_git(project, "commit", "-q", "-m", "Later")
    with pytest.raises(WorkspaceError, match="air/r1/t-1") as caught:
        make_worktree()
    assert caught.value.hint


def test_a_branch_named_air_is_in_the_way_and_said(make_worktree: MakeWorktree, project: Path) -> None:
    plain_git(project, "branch", "air")
    with pytest.raises(WorkspaceError) as caught:
        make_worktree()
    assert "rename the branch `air`" in caught.value.hint


def test_a_lost_link_to_git_is_put_back_and_never_leads_to_the_project_around_it(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("work\n")
    (root / ".git").unlink()
    head = repository.head()
    (project / "README.md").write_text("mine\n")
    for act in (
        lambda: repository.reset(str(root), head),
        lambda: repository.commit_all(str(root), "Work", key="k"),
        lambda: repository.open_worktree(str(root)).changes(head),
    ):
        with pytest.raises(WorkspaceError, match=r"(?i)not a git repository"):
            act()
    assert (project / "README.md").read_text() == "mine\n"
    assert not repository.remove_worktree(str(root))
    assert make_worktree() == root
    assert repository.commit_all(str(root), "Work", key="k")


@pytest.mark.parametrize("forged", ["gitdir: {project}/.git\n", "gitdir: {project}/.git/worktrees/other\n", "x"])
def test_a_forged_link_to_git_is_put_right(make_worktree: MakeWorktree, project: Path, forged: str) -> None:
    root = make_worktree()
    (root / ".git").write_text(forged.format(project=project))
    assert make_worktree() == root
    assert plain_git(root, "branch", "--show-current") == "air/r1/t-1"


def test_a_worktree_that_became_its_own_repository_or_changed_its_branch_is_refused(
    make_worktree: MakeWorktree,
) -> None:
    root = make_worktree()
    plain_git(root, "switch", "-q", "-c", "elsewhere")
    with pytest.raises(WorkspaceError, match="elsewhere"):
        make_worktree()
    (root / ".git").unlink()
    plain_git(root, "init", "-q")
    with pytest.raises(WorkspaceError, match="repository of its own"):
        make_worktree()


def test_unfinished_writes_are_removed_when_it_is_found_again(make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    (root / "src/.air-0123.partial").write_text("half")
    make_worktree()
    assert not (root / "src/.air-0123.partial").exists()


@pytest.mark.parametrize("name", ["../up", "a//b", "/abs", ".git/x", "a/../../b", ""])
def test_a_name_that_leads_elsewhere_is_refused(repository: GitRepository, name: str) -> None:
    with pytest.raises(WorkspaceError):
        repository.add_worktree(name, branch="air/r1/x", commit=repository.head())


def test_an_old_lock_in_a_worktree_of_ours_is_removed(repository: GitRepository, make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    lock = git_home(root) / "index.lock"
    lock.write_text("")
    os.utime(lock, (1, 1))
    (root / "new.txt").write_text("work\n")
    assert repository.commit_all(str(root), "Work", key="k")
    assert not lock.exists()


def test_a_lock_that_may_be_in_use_is_left_and_named(
    repository: GitRepository, make_worktree: MakeWorktree, project: Path
) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("work\n")
    fresh = git_home(root) / "index.lock"
    fresh.write_text("")
    with pytest.raises(WorkspaceError) as caught:
        repository.commit_all(str(root), "Work", key="k")
    assert str(fresh) in caught.value.hint
    foreign = project / ".git" / "index.lock"
    foreign.write_text("")
    os.utime(foreign, (1, 1))
    with pytest.raises(WorkspaceError, match=r"index\.lock"):
        git(project, "add", "-A")
    assert fresh.exists()
    assert foreign.exists()


def test_an_old_lock_stays_while_a_git_of_ours_still_runs_there(make_worktree: MakeWorktree) -> None:
    """A git outlives the process that started it; the lock that it inherited says so."""
    import fcntl

    root = make_worktree()
    lock = git_home(root) / "index.lock"
    lock.write_text("")
    os.utime(lock, (1, 1))
    held = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_SH)
        with pytest.raises(WorkspaceError):
            git(root, "add", "-A")
        assert lock.exists()
    finally:
        os.close(held)


def test_a_lock_that_goes_away_is_waited_for(make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    lock = git_home(root) / "index.lock"
    lock.write_text("")
    freeing = subprocess.Popen(["/bin/sh", "-c", f"sleep 0.3; rm '{lock}'"])
    git(root, "add", "-A")
    freeing.wait()


def test_only_a_worktree_without_work_is_removed(repository: GitRepository, make_worktree: MakeWorktree) -> None:
    root = make_worktree()
    (root / "new.txt").write_text("work\n")
    assert not repository.remove_worktree(str(root))
    made = repository.commit_all(str(root), "Work", key="k")
    assert made is not None
    assert not repository.remove_worktree(str(root))
    assert (root / "new.txt").exists()
    assert repository.fast_forward(made) is None
    (root / "build.log").write_text("ignored\n")
    stubborn = root / "cache.log"
    stubborn.mkdir()
    (stubborn / "file").write_text("")
    stubborn.chmod(0o500)
    assert repository.remove_worktree(str(root))
    assert not root.exists()
    assert plain_git(Path(repository.root), "branch", "--list", "air/*") == ""
    assert repository.remove_worktree(str(root))


def test_a_removal_that_was_killed_is_not_taken_for_deletions(
    repository: GitRepository, make_worktree: MakeWorktree
) -> None:
    root = make_worktree()
    (git_home(root) / OUR_MARK).unlink()
    (root / "README.md").unlink()
    assert repository.remove_worktree(str(root))
    assert (make_worktree() / "README.md").exists()


def test_folders_that_are_no_worktrees_of_ours_are_never_removed(
    repository: GitRepository, project: Path, tmp_path: Path
) -> None:
    plain_git(project, "worktree", "add", "-q", "--detach", str(tmp_path / "second"))
    place = project / ".air/local/worktrees/unknown"
    place.mkdir(parents=True)
    for folder in (project, tmp_path / "second", place, place.parent):
        assert not repository.remove_worktree(str(folder))
        assert folder.is_dir()
