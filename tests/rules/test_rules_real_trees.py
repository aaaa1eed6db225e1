"""The rule files of three public repositories: none is lost, and what their authors got wrong is named."""

from pathlib import Path

import pytest

from aircoding.rules.front_matter import parse_front_matter
from aircoding.rules.sections import split_sections

TREES = Path(__file__).parents[2].parent / "shared" / "data" / "rule-trees"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TREES.is_dir(), reason=f"the rule trees are not beside the checkout ({TREES.name})"),
]


def test_every_header_is_read_and_every_line_of_text_stands_in_a_section():
    lenient = []
    files = [path for path in TREES.rglob("*") if path.suffix in (".md", ".mdc") and path.is_file()]
    for path in files:
        matter = parse_front_matter(path.read_text(encoding="utf-8"), path.name)
        assert not matter.broken, f"{path}: {matter.diagnostics}"
        lenient.extend(path.name for one in matter.diagnostics if one.code == "front_matter.lenient")
        held = {n for one in split_sections(matter.body) for n in range(one.start_line, one.end_line + 1)}
        assert {n for n, line in enumerate(matter.body.split("\n"), 1) if line.strip()} <= held
    assert len(files) > 100
    assert lenient, "unquoted globs of Cursor rules stand in these trees"
    assert all(name.endswith(".mdc") for name in lenient)
