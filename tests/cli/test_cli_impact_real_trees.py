"""`context impact` on the rule trees of public repositories: of 200 paths exactly those that a change affects.

What is expected is written down with each change, from where it was planted: a folder, or a regular expression of the
test's own. No glob of the engine takes part in it.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.projects import make_commit, write_tree

from aircoding.app.impact import Impact, ImpactRequest, find_impact
from aircoding.rules.tools.account import Tool

TREES = Path(__file__).parents[2].parent / "shared" / "data" / "rule-trees"
DRAWN = 200
WORKER = "executor"
TOOLS = (Tool.CODEX, Tool.CLAUDE_CODE, Tool.CURSOR, Tool.COPILOT)

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TREES.is_dir(), reason=f"the rule trees are not beside the checkout ({TREES.name})"),
]


@dataclass(frozen=True, slots=True)
class Tree:
    """A public tree: two of its folders with many files, a folder deeper down, and an ending that is common there.

    None of the three has rule files of its own; `deep` may lie below others that have.

    `claude_agents`: CLAUDE.md at the root is a link to AGENTS.md, so that Claude Code reads that.
    """

    name: str
    a: str
    deep: str
    b: str
    ending: str
    claude_agents: bool = False


KOKU = Tree("koku", "koku/masu", "koku/masu/external", "koku/api", "py")
ALL = (
    KOKU,
    Tree("pydantic-ai", "pydantic_ai_slim", "tests/models", "examples", "py", claude_agents=True),
    Tree("task-master", "packages", "packages/tm-core", "apps", "ts"),
)

EVERY = ""
"""A regular expression that every path matches."""
Expected = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Planted:
    """One change: what it does to the tree, and for each who sees it the paths for which it is seen."""

    name: str
    act: Callable[[Path, Tree], None]
    seen: Callable[[Tree], Expected]
    idle: Callable[[Tree], tuple[str, ...]] = field(default=lambda _tree: ())


def below(folder: str) -> str:
    return rf"{re.escape(folder)}/"


def files(folder: str, ending: str) -> str:
    return rf"{re.escape(folder)}/(?:.*/)?[^/]*\.{ending}\Z"


def header(key: str, value: str, text: str, more: str = "") -> str:
    return f"---\n{more}{key}: {value}\n---\n{text}\n"


def seeds(tree: Tree) -> dict[str, str]:
    """The rule files that are planted before, beside the tree's own."""
    a, b = tree.a, tree.b
    return {
        f"{a}/AGENTS.md": "Count in pieces.\n",
        f"{b}/CLAUDE.md": "Answer in plain words.\n\n@notes/planted.md\n",
        f"{b}/notes/planted.md": "Say where a number comes from.\n\n@deep.md\n",
        f"{b}/notes/deep.md": "Round at the end.\n",
        f"{b}/notes/new.md": "Name the unit.\n",
        "planted/shared.md": "Keep names short.\n",
        "planted/other.md": "Keep lines short.\n",
        ".cursor/rules/planted.mdc": header("globs", f"{a}/**/*.{tree.ending}", "Write types.", "description: d\n"),
        ".github/instructions/planted.instructions.md": header("applyTo", f'"{b}/**/*.{tree.ending}"', "Write tests."),
        ".claude/rules/planted.md": header("paths", f'["{a}/**"]', "Log less."),
    }


def edit(path: str, old: str, new: str) -> Callable[[Path, Tree], None]:
    def act(root: Path, tree: Tree) -> None:
        place = root / path.format(a=tree.a, b=tree.b, deep=tree.deep, ending=tree.ending)
        words = {"a": tree.a, "b": tree.b, "ending": tree.ending}
        text = place.read_text() if place.exists() else ""
        was = old.format(**words)
        assert was in text, (path, text[:200])
        place.write_text(text.replace(was, new.format(**words), 1) if was else text + new.format(**words))

    return act


def add(path: str, text: str) -> Callable[[Path, Tree], None]:
    def act(root: Path, tree: Tree) -> None:
        words = {"a": tree.a, "b": tree.b, "deep": tree.deep, "ending": tree.ending}
        assert not os.path.lexists(root / path.format(**words)), path
        write_tree(root, {path.format(**words): text.format(**words)})

    return act


def agents_at_root(tree: Tree) -> Expected:
    every = {WORKER: EVERY, "codex": EVERY, "cursor": EVERY, "copilot": EVERY}
    return {**every, **({"claude-code": EVERY} if tree.claude_agents else {})}


def nested_agents(folder: str) -> Expected:
    """Codex reads nothing below its folder; Claude Code reads no AGENTS.md where a CLAUDE.md lies at the root."""
    return {who: below(folder) for who in (WORKER, "cursor", "copilot")}


def nested_claude(tree: Tree) -> Expected:
    return {WORKER: below(tree.b), "claude-code": below(tree.b)}


def relink(root: Path, tree: Tree) -> None:
    link = root / tree.b / "AGENTS.md"
    up = os.path.relpath(root / "planted/other.md", link.parent)
    link.unlink()
    link.symlink_to(up)


def drop(path: str) -> Callable[[Path, Tree], None]:
    return lambda root, tree: (root / path.format(a=tree.a)).unlink()


def rename(root: Path, _tree: Tree) -> None:
    (root / ".cursor/rules/planted.mdc").rename(root / ".cursor/rules/renamed.mdc")


def either(first: str, second: str) -> str:
    return f"(?:{first})|(?:{second})"


def moved_glob(tree: Tree, tool: str) -> Expected:
    both = either(files(tree.a, tree.ending), files(tree.b, tree.ending))
    return {WORKER: both, tool: both}


def linked(tree: Tree) -> Expected:
    return {who: below(tree.b) for who in (WORKER, "cursor", "copilot")}


def nobody(_tree: Tree) -> Expected:
    return {}


PLANTED = (
    Planted("edit the file at the root", edit("AGENTS.md", "", "\nA new line at the end.\n"), agents_at_root),
    Planted("edit a nested AGENTS.md", edit("{a}/AGENTS.md", "pieces", "dozens"), lambda tree: nested_agents(tree.a)),
    Planted("edit a nested CLAUDE.md", edit("{b}/CLAUDE.md", "plain", "few"), nested_claude),
    Planted(
        "move a glob of Cursor",
        edit(".cursor/rules/planted.mdc", "{a}/**", "{b}/**"),
        lambda tree: moved_glob(tree, "cursor"),
    ),
    Planted(
        "move an applyTo of Copilot",
        edit(".github/instructions/planted.instructions.md", "{b}/**", "{a}/**"),
        lambda tree: moved_glob(tree, "copilot"),
    ),
    Planted("add an import", edit("{b}/CLAUDE.md", "@notes/", "@notes/new.md\n@notes/"), nested_claude),
    Planted("edit an imported file", edit("{b}/notes/planted.md", "number", "figure"), nested_claude),
    Planted("edit the end of a chain of imports", edit("{b}/notes/deep.md", "end", "start"), nested_claude),
    Planted("delete a nested file", drop("{a}/AGENTS.md"), lambda tree: nested_agents(tree.a)),
    Planted("add a file deeper down", add("{deep}/AGENTS.md", "Deep.\n"), lambda tree: nested_agents(tree.deep)),
    Planted(
        "rename a scoped rule",
        rename,
        lambda tree: {who: files(tree.a, tree.ending) for who in (WORKER, "cursor")},
    ),
    Planted("add a file that is no rule file", add("{a}/code.{ending}", "x = 1\n"), nobody),
    Planted(
        "a rule whose globs match nothing",
        add(".claude/rules/nothing.md", header("paths", '["no-such-folder/**"]', "Never seen.")),
        nobody,
        lambda _tree: (".claude/rules/nothing.md",),
    ),
    Planted(
        "blanks in a header",
        edit(".cursor/rules/planted.mdc", "globs: ", "globs:    "),
        nobody,
        lambda _tree: (".cursor/rules/planted.mdc",),
    ),
    Planted(
        "another description of a scoped rule",
        edit(".cursor/rules/planted.mdc", "description: d", "description: another"),
        nobody,
        lambda _tree: (".cursor/rules/planted.mdc",),
    ),
    Planted("edit what a link names", edit("planted/shared.md", "short", "long"), linked),
    Planted("turn a link to another file", relink, linked),
    Planted(
        "take the globs from a rule",
        edit(".claude/rules/planted.md", 'paths: ["{a}/**"]\n', ""),
        lambda tree: {WORKER: EVERY, "claude-code": EVERY, "copilot": f"(?!{below(tree.a)})"},
    ),
    Planted(
        "deny a command",
        add(".air/shared/permissions.yaml", 'version: 1\ncommands: {{deny: ["npm publish *"]}}\n'),
        lambda _tree: {WORKER: EVERY},
    ),
    Planted(
        "add a rule of our own",
        add(".air/shared/rules/extra.md", '---\nkind: project\npaths: ["{b}/**"]\n---\n## Extra\nLess.\n'),
        lambda tree: {WORKER: below(tree.b)},
    ),
)


def repository(tree: Tree, root: Path) -> Path:
    """Make the tree with all its paths and the planted rule files, and commit it."""
    shutil.copytree(TREES / tree.name, root, symlinks=True)
    for folder, names, own in os.walk(root):
        for name in [*names, *own]:
            if not os.path.islink(os.path.join(folder, name)):
                os.chmod(os.path.join(folder, name), 0o755)
    for place in root.rglob("CLAUDE.md"):
        if place.read_bytes() == b"AGENTS.md":  # a link that the copy turned into text
            place.unlink()
            place.symlink_to("AGENTS.md")
    for path in paths_of(tree):
        if not os.path.lexists(root / path):
            write_tree(root, {path: ""})
    for path in seeds(tree):
        assert not os.path.lexists(root / path), path
    write_tree(root, seeds(tree))
    if not (root / "AGENTS.md").exists():
        write_tree(root, {"AGENTS.md": "Be brief.\n"})
    link = root / tree.b / "AGENTS.md"
    link.symlink_to(os.path.relpath(root / "planted/shared.md", link.parent))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return make_commit(root)


def paths_of(tree: Tree) -> list[str]:
    return [path for path in (TREES / f"{tree.name}.paths.txt").read_text().split("\n") if path]


def drawn(tree: Tree) -> tuple[str, ...]:
    return tuple(random.Random(tree.name).sample(sorted(paths_of(tree)), DRAWN))


def affected(impact: Impact) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for effect in impact.effects:
        for reader in effect.readers:
            if reader.kind == "path":
                found.setdefault(reader.viewer, set()).update(reader.subjects)
    return found


def reset(root: Path) -> None:
    for arguments in (["reset", "-q", "--hard"], ["clean", "-qfd"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)


def check_all(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, changes: Sequence[Planted] = PLANTED
) -> None:
    root, paths = repository(tree, tmp_path / tree.name), drawn(tree)
    monkeypatch.chdir(root)
    for folder in (tree.a, tree.b, tree.deep):
        assert any(path.startswith(f"{folder}/") for path in paths), folder
    wrong = []
    for planted in changes:
        planted.act(root, tree)
        request = ImpactRequest(start=root, base="HEAD", paths=paths, roles=(WORKER,))
        ours = find_impact(request)
        theirs = find_impact(ImpactRequest(start=root, base="HEAD", paths=paths, tools=TOOLS))
        found = {**affected(ours), **affected(theirs)}
        expected = {
            who: {path for path in paths if re.match(pattern, path)} for who, pattern in planted.seen(tree).items()
        }
        for who in (WORKER, *(tool.value for tool in TOOLS)):
            if found.get(who, set()) != expected.get(who, set()):
                missed = sorted(expected.get(who, set()) - found.get(who, set()))
                more = sorted(found.get(who, set()) - expected.get(who, set()))
                wrong.append((planted.name, who, len(missed), missed[:3], len(more), more[:3]))
        for path in planted.idle(tree):
            for one in (ours, theirs):
                states = {file.path: (file.source, file.state) for file in one.files}
                assert states[path] == (True, "reaches_nobody"), (planted.name, states)
        reset(root)
    assert wrong == []


def test_twenty_changes_are_planted() -> None:
    assert len({planted.name for planted in PLANTED}) == 20


def test_exactly_the_affected_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth change; all of them, in all trees, are behind the mark `bench`."""
    check_all(KOKU, tmp_path, monkeypatch, changes=PLANTED[::5])


@pytest.mark.bench
@pytest.mark.parametrize("tree", ALL, ids=lambda tree: tree.name)
def test_exactly_the_affected_paths_of_all_trees(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_all(tree, tmp_path, monkeypatch)
