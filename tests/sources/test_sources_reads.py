"""Files that a task names, from its own worktree."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.projects import effective_policy, make_intake, make_project

from aircoding.records.digests import sha256_text
from aircoding.records.ids import TaskId
from aircoding.records.layers import Reason, SegmentKind, Trust
from aircoding.records.segments import Segment
from aircoding.records.tasks import TaskSpec
from aircoding.sources.reads import MAX_EXCERPT_BYTES, MAX_GLOB_FILES, Read, current_digests, parse_read, read_files
from aircoding.sources.roles import load_profiles
from aircoding.workspace.worktree import GitWorktree

TASK = TaskSpec(id=TaskId("T1"), title="t", denied_paths=("private/**",))
POLICY = effective_policy(load_profiles()["executor"], TASK)
TEN = "".join(f"line {number}\n" for number in range(1, 11))


def read(root: Path, *entries: str, trusted: bool = True) -> tuple[Segment, ...]:
    return read_files(GitWorktree(str(root)), entries, policy=POLICY, intake=make_intake(), trusted=trusted)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("src/a.py", Read("src/a.py")),
        ("./src/a.py:10-40", Read("src/a.py", 10, 40)),
        ("src/a.py:7", Read("src/a.py", 7, 7)),
        ("src/a.py:9-3", Read("src/a.py", 3, 9)),
        ("src/**/*.py", Read("src/**/*.py")),
        ("odd:name", Read("odd:name")),
        ("a.py:0", Read("a.py:0")),
    ],
)
def test_an_entry_is_a_path_a_range_or_a_glob(entry: str, expected: Read) -> None:
    assert parse_read(entry) == expected


@given(st.text(max_size=30))
def test_no_entry_is_too_odd_to_read(entry: str) -> None:
    parsed = parse_read(entry)
    assert parsed.start_line is None or parsed.start_line <= (parsed.end_line or 0)


def test_a_range_is_read_exactly_with_its_lines_and_the_digest_of_the_whole_file(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {"a.py": TEN})
    (segment,) = read(root, "a.py:3-5")
    assert segment.text == "line 3\nline 4\nline 5"
    assert segment.title == "a.py, lines 3-5 of 10"
    assert (segment.source.start_line, segment.source.end_line) == (3, 5)
    assert segment.source.digest == sha256_text(TEN)
    assert [(claim.uri, claim.digest) for claim in segment.claims] == [("project:a.py", sha256_text(TEN))]


def test_a_range_ends_where_the_file_ends(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {"a.py": TEN})
    (clipped,) = read(root, "a.py:9-400")
    assert clipped.title == "a.py, lines 9-10 of 10"
    (beyond,) = read(root, "a.py:11-12")
    assert beyond.barred is not None
    assert (beyond.barred.reason, beyond.barred.detail) == (
        Reason.INVALID,
        "`a.py:11-12` in `reads`: the file has 10 lines",
    )


def test_a_glob_brings_sorted_files_up_to_a_limit_and_counts_the_rest(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {f"src/{number:03}.py": f"{number}\n" for number in range(MAX_GLOB_FILES + 7)})
    segments = read(root, "src/*.py")
    files = [segment for segment in segments if segment.barred is None]
    (rest,) = (segment for segment in segments if segment.barred is not None)
    assert [segment.source.uri for segment in files] == [
        f"project:src/{number:03}.py" for number in range(MAX_GLOB_FILES)
    ]
    assert rest.barred is not None
    assert rest.barred.detail.startswith("7 more files match")


@pytest.mark.parametrize(
    ("entry", "reason", "words"),
    [
        ("none.py", Reason.UNREADABLE, "none.py"),
        ("none/*.py", Reason.UNREADABLE, "matches no file"),
        ("src/[", Reason.INVALID, "src/["),
        ("../outside.txt", Reason.PERMISSION, "policy"),
        (".env", Reason.PERMISSION, "floor.yaml"),
        ("private/x.txt", Reason.PERMISSION, "policy"),
        ("big.txt", Reason.BUDGET, "name a range of lines"),
        ("binary.bin", Reason.UNREADABLE, "binary"),
        ("link.txt", Reason.PERMISSION, "policy"),
    ],
)
def test_what_cannot_be_had_is_listed_with_its_reason(tmp_path: Path, entry: str, reason: Reason, words: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    files = {".env": "KEY=1", "private/x.txt": "x", "big.txt": "x" * 80 + "\n", "binary.bin": b"\0\1"}
    root = make_project(tmp_path / "p", files)
    (root / "big.txt").write_text(("x" * 79 + "\n") * (MAX_EXCERPT_BYTES // 80 + 2))
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (segment,) = read(root, entry)
    assert segment.barred is not None
    assert segment.barred.reason is reason, segment.barred.detail
    assert words in segment.barred.detail
    assert segment.text == ""
    assert str(tmp_path) not in segment.barred.detail.replace(f"{tmp_path}/outside.txt", "")


def test_the_same_entry_twice_is_one_candidate(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {"a.py": TEN})
    assert len(read(root, "a.py", "./a.py", "a.py:1-10")) == 1


def test_an_untrusted_projects_files_are_external(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {"a.py": TEN})
    assert [segment.trust for segment in read(root, "a.py", trusted=False)] == [Trust.EXTERNAL]


def test_the_present_digest_of_a_file_that_is_gone_is_empty(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {"a.py": TEN})
    (segment,) = read(root, "a.py")
    worktree = GitWorktree(str(root))
    assert current_digests(worktree, [segment]) == {"project:a.py": segment.source.digest}
    claimed = replace(segment, kind=SegmentKind.SUMMARY)
    assert current_digests(worktree, [claimed]) == {"project:a.py": segment.source.digest}
    (root / "a.py").unlink()
    assert current_digests(worktree, [claimed]) == {"project:a.py": ""}
    assert current_digests(worktree, [], ["project:a.py", "user:x"]) == {"project:a.py": ""}


def test_a_file_whose_name_is_no_utf_8_is_listed_as_unreadable_and_the_others_are_read(tmp_path: Path) -> None:
    root = make_project(tmp_path / "p", {"src/a.py": "a\n"})
    (Path(os.fsdecode(os.fsencode(root / "src") + b"/caf\xe9.py"))).write_text("b\n")
    os.symlink(b"caf\xe9.py", os.fsencode(root / "src/link.py"))

    segments = {one.source.uri: one for one in read(root, "src/*.py", "src/link.py")}

    assert segments["project:src/a.py"].text == "a"
    for uri in ("project:src/caf\\udce9.py", "project:src/link.py"):
        refusal = segments[uri].barred
        assert refusal is not None
        assert refusal.reason is Reason.UNREADABLE
        assert "caf\\udce9.py is no UTF-8" in refusal.detail
