"""What one worker reads where a project has rule files of every tool: no tool's words are lost, none stands twice."""

from __future__ import annotations

from pathlib import Path

from support.projects import Desk, make_project, write_tree
from support.spans import assert_covered
from support.texts import REPOSITORY, assert_file_equals

from aircoding.context.assembler import assemble
from aircoding.records.ids import TaskId
from aircoding.records.layers import Reason, SegmentKind
from aircoding.records.manifest import AssembledContext
from aircoding.records.tasks import TaskSpec
from aircoding.sources.rule_tree import RuleHomes

SNAPSHOT = REPOSITORY / "tests" / "snapshots" / "rules_of_all_tools.txt"
FILES = {
    "AGENTS.md": "# House\n\nAnswer in short sentences.\n\n## Tests\n\nRun `make test`.\n",
    "src/AGENTS.md": "Name modules after what they hold.\n",
    "CLAUDE.md": "<!-- for people -->\nRead @docs/style.md and @AGENTS.md first.\n",
    "CLAUDE.local.md": "Work in the morning branch.\n",
    "docs/style.md": "Four blanks for each level.\n",
    "src/CLAUDE.md": "Keep functions on one screen.\n",
    ".claude/rules/api.md": "---\npaths: ['src/api/**']\n---\nVersion every route.\n",
    ".claude/rules/always.md": "Leave the changelog to people.\n",
    ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nWrite types for all arguments.\n",
    ".cursor/rules/css.mdc": "---\nglobs: web/**/*.css\n---\nNo colours by name.\n",
    ".cursor/rules/logging.mdc": "---\ndescription: How to write log lines\n---\nOne event a line.\n",
    ".cursorrules": "Prefer small files.\n",
    ".github/copilot-instructions.md": "Prefer small files.\n",
    ".github/instructions/py.instructions.md": "---\napplyTo: '**/*.py'\n---\nNo star imports.\n",
    "GEMINI.md": "Ask before adding a dependency.\n",
    ".hermes.md": "Say what you measured.\n",
    ".windsurf/rules/db.md": "---\ntrigger: model_decision\ndescription: Changing the database\n---\nMigrate.\n",
    ".windsurfrules": "Keep the public names stable.\n",
    "src/a.py": "x = 1\n",
}
HOME = {
    ".claude/CLAUDE.md": "Call me Kim.\n",
    ".codex/AGENTS.md": "British spelling.\n",
    ".gemini/GEMINI.md": "Metric units.\n",
    ".claude/rules/mine.md": "Explain shell flags.\n",
}
MACHINE = {
    "etc/aircoding/rules/house.md": "---\nid: house\n---\nSign every commit.\n",
    "etc/claude-code/CLAUDE.md": "No customer data in tests.\n",
}
TASK = TaskSpec(id=TaskId("T1"), title="Add a parser", write_area=("src/**",), reads=("src/a.py",))


def test_a_users_file_that_is_too_long_is_cut_and_the_worker_is_told_of_it_by_its_path(tmp_path: Path) -> None:
    long = "".join(f"Line {number} of what I like.\n" for number in range(12_000))
    write_tree(tmp_path / "user", {".claude/CLAUDE.md": long})
    root = make_project(tmp_path / "project", {"src/a.py": "x = 1\n"})
    desk = Desk(root=root, home=tmp_path / "air", homes=RuleHomes(user=tmp_path / "user"), window_tokens=1_000_000)
    context = assemble(desk.snapshot(desk.brief(task=TASK)))
    assert isinstance(context, AssembledContext)
    gap = next(one for one in context.omissions if one.uri == "~/.claude/CLAUDE.md" and "bytes of" in one.detail)
    lines = gap.segment_id.split("@")[0].rsplit(":", 1)[1]
    assert f"~/.claude/CLAUDE.md:{lines} (nothing left)" in str(context.messages)


def test_l3_of_a_worker_is_the_text_that_was_read_and_approved(tmp_path: Path) -> None:
    root = make_project(tmp_path / "project", FILES)
    write_tree(tmp_path / "user", HOME)
    write_tree(tmp_path / "machine", MACHINE)
    homes = RuleHomes(user=tmp_path / "user", machine=tmp_path / "machine")
    desk = Desk(root=root, home=tmp_path / "air", homes=homes)
    context = assemble(desk.snapshot(desk.brief(task=TASK)))
    assert isinstance(context, AssembledContext)
    assert_covered(context)
    blocks = [*(part["text"] for part in context.system), *(part["text"] for part in context.messages[0]["content"])]
    shown = "\n".join(block for block in blocks if block.startswith("# Rules and preferences"))
    of_rules = (SegmentKind.RULE, SegmentKind.GUIDANCE)
    rules = {one.source.uri for one in context.manifest.segments if one.kind in of_rules and one.layer == "L3"}
    left = {
        one.uri: one.reason for one in context.omissions if one.layer == "L3" and not one.uri.startswith("resource:")
    }
    assert (
        left
        == {
            "project:.cursor/rules/css.mdc": Reason.PATH_NOT_MATCHED,
            "project:.github/copilot-instructions.md": Reason.DUPLICATE,
        }
        or left == {}
    ), left
    every = {f"project:{name}" for name in FILES if name != "src/a.py"} | {f"~/{name}" for name in HOME}
    assert every | {f"/{name}" for name in MACHINE} == {
        uri for uri in (*rules, *left) if not uri.startswith("resource:")
    }
    assert_file_equals(SNAPSHOT, shown)
