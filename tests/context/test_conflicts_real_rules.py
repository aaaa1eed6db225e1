"""The rules of three public repositories: each report was read and is one that a person would agree with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.contexts import EXECUTOR, TASK, segment
from support.projects import effective_policy

from aircoding.context.conflicts import command_conflicts
from aircoding.context.conflicts.user_rules import user_rule_conflicts
from aircoding.records.layers import Layer, SegmentKind
from aircoding.records.segments import Segment
from aircoding.rules.front_matter import parse_front_matter
from aircoding.rules.sections import split_sections

TREES = Path(__file__).parents[2].parent / "shared" / "data" / "rule-trees"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TREES.is_dir(), reason=f"the rule trees are not beside the checkout ({TREES.name})"),
]

DENIED = re.compile(
    r"which resource:permissions/floor\.yaml:\d+ denies \((?:\.env|\.claude|\.cursor)\)$|\(unlisted host\)$"
)
"""What these files really ask for and the floor denies: a file of secrets, another agent's settings, a host."""


def sections(tree: Path) -> list[Segment]:
    return [
        segment(part.text, layer=Layer.L3, kind=SegmentKind.RULE, uri=f"project:{path.relative_to(tree)}", level=3)
        for path in sorted(tree.rglob("*"))
        if path.suffix in (".md", ".mdc") and path.is_file() and not path.is_symlink()
        for part in split_sections(parse_front_matter(path.read_text(encoding="utf-8"), path.name).body)
    ]


@pytest.mark.parametrize("tree", sorted(TREES.glob("*/")) if TREES.is_dir() else [], ids=lambda tree: tree.name)
def test_every_report_on_real_rules_is_true(tree: Path) -> None:
    rules = sections(tree)
    policy = effective_policy(EXECUTOR, TASK)

    details = [conflict.detail for rule in rules for conflict in command_conflicts(rule, policy)]
    assert [detail for detail in details if not DENIED.search(detail)] == []
    assert [found.conflict.detail for found in user_rule_conflicts(rules)] == []
    assert len(rules) > 100
