"""Both dialects, by example (cases E06 to E15) and by comparison with git and with brute force."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from aircoding.rules.globs import (
    MAX_EXPANSIONS,
    Dialect,
    compile_globs,
    could_meet,
    glob_fault,
    glob_faults,
    outlines,
    overlap,
    split_globs,
)

ROOT, GIT = Dialect.ROOT_ANCHORED, Dialect.GITIGNORE


def hits(glob: str, path: str, dialect: Dialect = ROOT) -> bool:
    return compile_globs((glob,), dialect).matches(path)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.md", "README.md", True),
        ("*.md", "docs/a.md", False),
        ("**/*.ts", "a.ts", True),
        ("**/*.ts", "x/y/a.ts", True),
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("src/", "src/a/b.py", True),
        ("./src/*.py", "src/a.py", True),
        ("src", "src/a.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/*/a.py", "src/a.py", False),
        ("{a,b}/{c,d}", "b/c", True),
        ("{a,b}/{c,d}", "a/b", False),
        ("src/**/*.{ts,tsx}", "src/x/y.tsx", True),
        ("a{,.bak}", "a", True),
        ("{a}", "{a}", True),
        (r"\{a,b\}", "{a,b}", True),
        ("[{,}]", ",", True),
        ("[!a]b", "cb", True),
        ("[!a]b", "/b", False),
        ("[]]x", "]x", True),
        (r"[\]]x", "]x", True),
        (r"\[x", "[x", True),
        (".github/**", ".github/workflows/ci.yml", True),
        ("**/*", ".env.example", True),
        ("*", ".hidden", True),
        ("SRC/*", "src/a", False),
        ("etc/**", "/etc/passwd", False),
        ("a?c", "a/c", False),
    ],
)
def test_root_anchored(glob, path, expected):
    assert hits(glob, path) is expected


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.md", "docs/a.md", True),
        ("/*.md", "docs/a.md", False),
        ("src", "x/src/a.py", True),
        ("src/", "src", False),
        ("a/b", "x/a/b", False),
        ("{a,b}", "a", False),
        (".ssh/", "/home/me/.ssh/id", True),
        (r"\#x", "#x", True),
    ],
)
def test_gitignore(glob, path, expected):
    assert hits(glob, path, GIT) is expected


@pytest.mark.parametrize(
    ("glob", "words"),
    [
        ("src/[ab", "a `[` has no `]`"),
        ("src/{a,b", "a `{` has no `}`"),
        ("!src", "a `!` at the start does not turn a glob round; write `\\!` for a name that begins so"),
        ("", "it is empty"),
        ("a\nb", "it holds a line break or a zero byte"),
        ("[z-a]", "the range `z-a` runs backwards"),
        ("[[:alpha:]]", "named classes such as `[:alpha:]` are not read"),
        ("x" * 5000, "it is longer than 4096 characters"),
        ("/", "it names the root itself; write `**` for all files"),
        ("a//b", "it holds `//`"),
    ],
)
def test_faults_in_words(glob, words):
    assert glob_fault(glob, ROOT) == words


def test_an_unreadable_glob_leaves_its_siblings_in_force():
    matcher = compile_globs(("src/[", "lib/**", "!x"), ROOT)
    assert matcher.matches("lib/a")
    assert not matcher.matches("src/[")
    assert not matcher.matches("y")


def test_a_list_shares_one_budget_of_expansions():
    ten = "{" + ",".join("abcdefghij") + "}"
    faults = glob_faults((ten * 3, "b", "x/**"), ROOT)
    assert faults[0] is None
    assert faults[1:] == (f"the braces of the list expand to more than {MAX_EXPANSIONS} patterns",) * 2
    assert glob_fault(ten * 4, ROOT) is not None
    assert not hits(ten * 4, "aaaa")


def test_commas_split_outside_braces_only():
    assert split_globs("src/**/*.{ts,tsx}, lib/**,") == ("src/**/*.{ts,tsx}", "lib/**")
    assert split_globs(r"a\,b,c") == (r"a\,b", "c")
    assert split_globs("src/[ab, lib/**") == ("src/[ab", "lib/**")


def test_hostile_globs_end():
    """Regular expressions made one to one would take longer than the age of the universe here."""
    stars = "*a" * 400
    assert not hits(stars + "b", "a" * 4000)
    assert not hits(stars + "b", "a" * 4000, GIT)
    assert not hits("**/a/" * 60 + "b", "a/" * 1500 + "c")
    assert hits("**/a/" * 60 + "**", "a/" * 1500 + "c")


PARTS = st.text("ab.", min_size=1, max_size=3).filter(lambda part: part.strip("."))
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
NAMES = (
    st.lists(st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "**"]), min_size=1, max_size=4)
    .map("".join)
    .filter(lambda name: name.strip("."))
)
GLOBS = st.lists(st.one_of(NAMES, st.just("**")), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """An empty repository, in which git itself says what a line of a .gitignore file matches."""
    root = tmp_path_factory.mktemp("ignored")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def git_ignores(root: Path, line: str, path: str) -> bool:
    (root / ".gitignore").write_text(line + "\n")
    command = ["git", "-C", str(root), "check-ignore", "-q", "--no-index", path]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@given(GLOBS, st.sampled_from(["", "/"]), st.sampled_from(["", "/"]), PATHS)
@example("a/**", "", "/", "a/a")
@example("***/a", "", "", "a")
@example("a[!a]a", "", "", "a/a")
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_gitignore_is_what_git_says(repository, glob, before, after, path):
    pattern = before + glob + after
    # Git's manual takes stars that are glued to a name for plain ones; its shortcut for literal beginnings hands the
    # rest to the matcher as if it began there, so that `a**/b` matches `ab`. We follow the manual.
    assume(GLUED.search(pattern) is None)
    if glob_fault(pattern, GIT) is None:
        assert hits(pattern, path, GIT) == git_ignores(repository, pattern, path)


GLUED = re.compile(r"[^/*]\*\*")


def test_stars_that_are_glued_to_a_name_are_plain_ones_as_gits_manual_says():
    assert hits("a**/b", "ax/b", GIT)
    assert not hits("a**/b", "ab", GIT)
    assert not hits("a**/b", "a/x/b", GIT)


def slow_match(glob: list[str], path: list[str]) -> bool:
    """Root-anchored matching by its definition."""
    if not glob:
        return not path
    if glob[0] == "**":
        if len(glob) == 1:
            return bool(path)
        return slow_match(glob[1:], path) or (bool(path) and slow_match(glob, path[1:]))
    return bool(path) and slow_name(glob[0], path[0]) and slow_match(glob[1:], path[1:])


def slow_name(glob: str, name: str) -> bool:
    if not glob:
        return not name
    if glob[0] == "*":
        return slow_name(glob[1:], name) or (bool(name) and slow_name(glob, name[1:]))
    if glob[0] == "[":
        inside, rest = glob[1:].split("]", 1)
        held = bool(name) and (name[0] in inside.lstrip("!")) is not inside.startswith("!")
        return held and slow_name(rest, name[1:])
    return bool(name) and glob[0] in ("?", name[0]) and slow_name(glob[1:], name[1:])


@given(GLOBS, PATHS)
@settings(max_examples=400, deadline=None)
def test_root_anchored_is_what_its_definition_says(glob, path):
    # A run of more than two stars between slashes is `**`, in both dialects: git says so, the other is silent.
    parts = ["**" if len(part) > 1 and not part.strip("*") else part for part in glob.split("/")]
    kept = [part for place, part in enumerate(parts) if part != "**" or parts[place - 1 : place] != ["**"]]
    assert hits(glob, path) == slow_match(kept, path.split("/"))


@given(GLOBS, GLOBS, PATHS)
@example("src/**", "src", "src")
@example("**", "a", "a")
@example("a/**/b", "a/b", "a/b")
@settings(max_examples=600, deadline=None)
def test_two_globs_that_match_one_path_overlap(left, right, path):
    if hits(left, path) and hits(right, path):
        assert overlap(left, right)
        assert overlap(right, left)
        assert any(
            could_meet(a, b) and all(x == y for x, y in zip(a.folders, b.folders, strict=False))
            for a in outlines(left)
            for b in outlines(right)
        )


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/b.py", False),
        ("src/**", "src/a/b.py", True),
        ("src/**", "lib/**", False),
        ("src/**", "src", False),
        ("**/*.py", "src/a.ts", False),
        ("**/*.py", "src/**", True),
        ("src/*_1.py", "src/*_2.py", False),
        ("a*b", "*ab*", True),
        ("{a,b}/x", "{b,c}/x", True),
        ("{a,b}/x", "{c,d}/x", False),
        ("[ab]", "[bc]", True),
        ("[ab]", "[cd]", False),
        ("src/[", "docs/x", True),
        ("*.md", "docs/*.md", False),
        ("**/a/**/b", "x/a/b", True),
        ("docs/", "docs/x", True),
    ],
)
def test_overlap(left, right, expected):
    assert overlap(left, right) is expected
    assert overlap(right, left) is expected


@given(st.text(max_size=60), st.text(max_size=30), st.sampled_from(list(Dialect)))
@settings(max_examples=300, deadline=None)
def test_no_text_raises(glob, path, dialect):
    hits(glob, path, dialect)
    overlap(glob, path)
    split_globs(glob)
    assert isinstance(outlines(glob), tuple)
