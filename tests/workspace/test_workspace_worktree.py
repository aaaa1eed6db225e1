"""Files beneath a worktree: what is read and written, what is refused, and what git sees of it."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workspace.conftest import plain_git

from aircoding.errors import PathRefusedError, WorkspaceError
from aircoding.records.digests import sha256_bytes
from aircoding.records.work import Change
from aircoding.workspace import beneath
from aircoding.workspace.worktree import GitWorktree

ODD_NAMES = (
    "new\nline.txt",
    'quo"te.txt',
    "tab\t.txt",
    "back\\slash.txt",
    "späth.txt",
    " lead.txt",
    "-dash.txt",
    "a;b.txt",
)


@pytest.fixture(params=["openat2", "walk"])
def files(request: pytest.FixtureRequest, project: Path, monkeypatch: pytest.MonkeyPatch) -> GitWorktree:
    """The project's files, opened in each of the two ways."""
    if request.param == "walk":
        monkeypatch.setattr(beneath, "_has_openat2", lambda: False)
    elif not beneath._has_openat2():
        pytest.skip("this kernel has no openat2")
    return GitWorktree(str(project))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret\n")
    return folder


def refused(act: Callable[[], object]) -> PathRefusedError:
    with pytest.raises(PathRefusedError) as caught:
        act()
    return caught.value


def test_a_file_is_read_with_the_digest_of_its_bytes(files: GitWorktree) -> None:
    file = files.read("src/a.py")
    assert (file.text, file.size_bytes, file.lossy) == ("one\ntwo\nthree\n", 14, False)
    assert file.digest == sha256_bytes(b"one\ntwo\nthree\n") == files.digest("src/a.py")
    assert files.digest("none.txt") is None
    with pytest.raises(WorkspaceError) as caught:
        files.read("src/none.py")
    assert caught.value.code == "workspace.missing"


@pytest.mark.parametrize(
    ("data", "text", "lossy"),
    [
        ("grün".encode("latin-1"), "gr\N{REPLACEMENT CHARACTER}n", True),
        ("\ufeffgrün".encode("utf-16-le"), "grün", False),
        ("\ufeffgrün".encode("utf-16-be"), "grün", False),
        (b"\xff\xfea\x00b", "a\N{REPLACEMENT CHARACTER}", True),
        (b"\xef\xbb\xbfmark", "\ufeffmark", False),
        (b"", "", False),
    ],
)
def test_text_in_other_encodings(files: GitWorktree, data: bytes, text: str, lossy: bool) -> None:
    (Path(files.root) / "t.txt").write_bytes(data)
    file = files.read("t.txt")
    assert (file.text, file.lossy) == (text, lossy)
    assert file.digest == sha256_bytes(data)


@pytest.mark.parametrize("data", [b"\0", b"x" * 100_000 + b"\0", "wide".encode("utf-16-le"), "w".encode("utf-32")])
def test_a_file_with_a_nul_is_binary_wherever_it_is(files: GitWorktree, data: bytes) -> None:
    (Path(files.root) / "b.bin").write_bytes(data)
    with pytest.raises(WorkspaceError) as caught:
        files.read("b.bin")
    assert caught.value.code == "workspace.binary"


def test_a_huge_file_is_not_loaded(files: GitWorktree) -> None:
    with (Path(files.root) / "huge.txt").open("wb") as file:
        file.truncate(1_000_000_000_000)  # sparse
    for limit in (1_000, None):
        with pytest.raises(WorkspaceError) as caught:
            files.read("huge.txt", max_bytes=limit)
        assert caught.value.code == "workspace.too_large"
    assert files.read("src/a.py", max_bytes=14).text
    with pytest.raises(WorkspaceError):
        files.read("src/a.py", max_bytes=13)


def test_links_that_leave_are_not_followed(files: GitWorktree, outside: Path) -> None:
    root = Path(files.root)
    (root / "target").symlink_to("../outside/secret.txt")
    (root / "absolute").symlink_to(outside / "secret.txt")
    (root / "parent").symlink_to("../outside")
    (root / "dangling").symlink_to("../outside/none.txt")
    (root / "chain").symlink_to("parent/secret.txt")
    (root / "circle").symlink_to("circle")
    (root / "procfs").symlink_to("/proc/self/root")
    for path in ("target", "absolute", "parent/secret.txt", "dangling", "chain", "circle", "procfs/etc/passwd"):
        refused(lambda path=path: files.read(path))
        refused(lambda path=path: files.digest(path))
        refused(lambda path=path: files.write(path, b"x"))
    refused(lambda: files.write("parent/new.txt", b"x"))
    refused(lambda: files.write("parent/deep/new.txt", b"x"))
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret\n"


def test_a_link_that_stays_inside_is_read_but_never_written_through(files: GitWorktree) -> None:
    root = Path(files.root)
    (root / "CLAUDE.md").symlink_to("README.md")
    (root / "code").symlink_to("src")
    assert files.read("CLAUDE.md").text == "Words.\n"
    assert files.read("code/a.py").text.startswith("one")
    assert "write the file that it names" in refused(lambda: files.write("CLAUDE.md", b"x")).hint
    assert refused(lambda: files.write("code/a.py", b"x")).hint
    assert (root / "README.md").read_text() == "Words.\n"


@pytest.mark.parametrize(
    "path",
    [
        "../up",
        "/etc/passwd",
        "src/../../up",
        "",
        "a\0b",
        ".git/config",
        "src/.GIT/x",
        ".git",
        ".g\u200cit/config",
        "git~1/x",
    ],
)
def test_paths_that_lead_out_or_into_git(files: GitWorktree, path: str) -> None:
    refused(lambda: files.read(path))
    refused(lambda: files.write(path, b"x"))


def test_a_link_into_gits_own_folder_leads_nowhere(files: GitWorktree) -> None:
    root = Path(files.root)
    (root / "innocent").symlink_to(".git")
    refused(lambda: files.read("innocent/config"))
    refused(lambda: files.write("innocent/hooks/pre-commit", b"x"))
    assert not (root / ".git/hooks/pre-commit").exists()


def test_a_file_with_another_name_outside_is_not_written(files: GitWorktree, outside: Path) -> None:
    os.link(outside / "secret.txt", Path(files.root) / "alias.txt")
    assert "2 names" in refused(lambda: files.write("alias.txt", b"x")).message
    assert (outside / "secret.txt").read_text() == "secret\n"


def test_what_is_no_regular_file_never_blocks(files: GitWorktree) -> None:
    root = Path(files.root)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(root / "sock"))
        for path, kind in (("pipe", "a pipe"), ("src", "a folder")):
            assert kind in refused(lambda path=path: files.read(path)).message
            refused(lambda path=path: files.write(path, b"x"))
            refused(lambda path=path: files.digest(path))
        with pytest.raises(WorkspaceError):
            files.read("sock")
        refused(lambda: files.write("sock", b"x"))


def test_a_write_makes_folders_keeps_the_mode_and_leaves_nothing_else(files: GitWorktree) -> None:
    root = Path(files.root)
    data = "grün\r\n".encode()
    assert files.write("deep/er/new.txt", data) == sha256_bytes(data)
    assert (root / "deep/er/new.txt").read_bytes() == data
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o751)
    files.write("run.sh", b"new")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o751
    assert stat.S_IMODE((root / "deep/er/new.txt").stat().st_mode) == 0o666 & ~_umask()
    assert not list(root.rglob("*.partial"))
    for name in ODD_NAMES:
        files.write(f"odd/{name}", name.encode())
        assert files.read(f"odd/{name}").text == name


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


def test_a_write_that_cannot_be_made_says_why_and_changes_nothing(files: GitWorktree) -> None:
    assert "src/a.py" in refused(lambda: files.write("src/a.py/below", b"x")).message
    with pytest.raises(WorkspaceError):
        files.write("n" * 300, b"x")
    with pytest.raises(WorkspaceError):
        files.write("n" * 300 + "/x", b"x")
    assert plain_git(Path(files.root), "status", "--porcelain") == ""


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, project: Path) -> None:
    """A limit on file size is the nearest to a full disk that needs no rights."""
    code = (
        "import resource, signal, sys\n"
        "from aircoding.workspace.worktree import GitWorktree\n"
        "from aircoding.errors import WorkspaceError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    GitWorktree(sys.argv[1]).write('README.md', b'x' * 5000)\n"
        "except WorkspaceError as error:\n    print(error.message)\n"
    )
    import sys

    done = subprocess.run([sys.executable, "-c", code, str(project)], capture_output=True, text=True, check=True)
    assert done.stdout == "README.md: File too large\n"
    assert (project / "README.md").read_text() == "Words.\n"
    assert plain_git(project, "status", "--porcelain") == ""


def test_resolve_gives_the_real_path_inside_and_the_absolute_one_outside(
    files: GitWorktree, outside: Path, own_git_home: Path
) -> None:
    root = Path(files.root)
    (root / "code").symlink_to("src")
    (root / "away").symlink_to(outside)
    (root / "circle").symlink_to("circle")
    assert files.resolve("code/./a.py") == "src/a.py"
    assert files.resolve("src/../new/file.py") == "new/file.py"
    assert files.resolve(str(root / "src/a.py")) == "src/a.py"
    assert files.resolve(".") == "."
    assert files.resolve("away/x") == str(outside / "x")
    assert files.resolve("../project2/x") == str(root.parent / "project2/x")
    assert files.resolve("~/.ssh/id") == str(own_git_home / ".ssh/id")
    for path in ("circle", "src/a.py/below", "a\0b", "", "n" * 300):
        refused(lambda path=path: files.resolve(path))


PARTS = st.sampled_from(["src", "a.py", "..", ".", "", "in", "out", "up", "abs", "loop", ".git", "x", "deep", "~", "/"])


@given(parts=st.lists(PARTS, min_size=1, max_size=7), write=st.booleans())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_outside_is_ever_read_or_written(
    files: GitWorktree, outside: Path, parts: list[str], write: bool
) -> None:
    """Whatever path is put together from folders, dots and links of all kinds."""
    root = Path(files.root)
    for name, target in (("in", "src"), ("out", "../outside"), ("up", ".."), ("abs", str(outside)), ("loop", "loop")):
        if not os.path.lexists(root / name):
            (root / name).symlink_to(target)
    before = (_tree(outside), _tree(root / ".git"))
    path = "/".join(parts)
    real = os.path.realpath(root / path)
    try:
        if write:
            files.write(path, b"written")
        else:
            assert "secret" not in files.read(path).text
        assert real.startswith(f"{root}/")
        assert not real.startswith(f"{root}/.git")
        assert path.startswith("~") or files.resolve(path) == real.removeprefix(f"{root}/")
    except WorkspaceError:
        pass
    assert (_tree(outside), _tree(root / ".git")) == before


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_paths_are_what_git_tracks_or_would_track(files: GitWorktree, outside: Path) -> None:
    root = Path(files.root)
    for name in (*ODD_NAMES, "noise.log", ".air-77.partial"):
        (root / name).write_text("")
    (root / "link").symlink_to(outside)
    (root / "README.md").unlink()
    raw = os.fsdecode(b"raw\xff.txt")
    (root / raw).write_text("")
    assert files.paths() == tuple(sorted((".gitignore", "src/a.py", "link", raw, *ODD_NAMES)))


def test_changes_name_each_path_and_what_became_of_it(files: GitWorktree) -> None:
    root = Path(files.root)
    base = plain_git(root, "rev-parse", "HEAD")
    assert files.changes(base) == ()
    (root / "committed.txt").write_text("c\n")
    plain_git(root, "add", "-A")
    plain_git(root, "commit", "-q", "-m", "More")
    (root / "src/a.py").rename(root / "src/moved.py")
    (root / "README.md").write_text("Other.\n")
    (root / ".gitignore").chmod(0o755)
    (root / "noise.log").write_text("")
    (root / 'odd\n"name".txt').write_text("")
    (root / ".air-77.partial").write_text("")
    assert files.changes(base) == (
        Change(path=".gitignore", status="modified"),
        Change(path="README.md", status="modified"),
        Change(path="committed.txt", status="added"),
        Change(path='odd\n"name".txt', status="untracked"),
        Change(path="src/a.py", status="deleted"),
        Change(path="src/moved.py", status="untracked"),
    )


def test_a_file_that_was_removed_and_made_again_has_changed(files: GitWorktree) -> None:
    root = Path(files.root)
    base = plain_git(root, "rev-parse", "HEAD")
    plain_git(root, "rm", "-q", "README.md")
    plain_git(root, "commit", "-q", "-m", "Remove")
    (root / "README.md").write_text("again\n")
    assert files.changes(base) == (Change(path="README.md", status="modified"),)


def test_the_diff_has_new_files_and_leaves_the_index_alone(files: GitWorktree) -> None:
    root = Path(files.root)
    (root / "src/a.py").write_text("one\n2\nthree\n")
    (root / "fresh.txt").write_text("fresh\n")
    (root / "README.md").unlink()
    (root / "noise.log").write_text("noise")
    (root / "big.txt").write_text("line\n" * 1_000_000)
    before = plain_git(root, "status", "--porcelain")
    for setting in ("diff.noprefix=true", "diff.context=0", "diff.renames=copies", "color.ui=always"):
        plain_git(root, "config", *setting.split("="))
    diff = files.diff("HEAD")
    assert "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" in diff
    assert "+++ b/fresh.txt\n@@ -0,0 +1 @@\n+fresh\n" in diff
    assert "--- a/README.md\n+++ /dev/null\n" in diff
    assert "Binary files /dev/null and b/big.txt differ" in diff
    assert "noise" not in diff
    assert len(diff) < 5_000
    assert plain_git(root, "status", "--porcelain") == before
    assert not list((root / ".git").glob("air-*"))


def test_a_worktree_that_is_gone_is_said(tmp_path: Path) -> None:
    files = GitWorktree(str(tmp_path / "gone"))
    for act in (lambda: files.read("x"), lambda: files.write("x", b""), files.paths, lambda: files.changes("HEAD")):
        with pytest.raises(WorkspaceError, match="cannot be opened"):
            act()
