"""The role of a project that is not trusted: on record, in the prompt as data, never among the words that instruct."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects import Desk, make_project

from aircoding.context.assembler import assemble
from aircoding.records.layers import OutcomeKind
from aircoding.records.manifest import AssembledContext

ROLE = """\
---
role: gardener
title: Gardener
layers:
  L5: {detail: full}
writes: none
---

You water the roses.

## Discipline

- Never cut a bud.
"""


@pytest.mark.parametrize("trusted", [True, False])
def test_its_text_stands_in_system_only_once_the_project_is_trusted(tmp_path: Path, trusted: bool) -> None:
    root = make_project(tmp_path / "p", {".air/shared/roles/gardener.md": ROLE})
    desk = Desk(root=root, home=tmp_path / "home", trusted=trusted)
    built = assemble(desk.snapshot(desk.brief(role="gardener")))
    assert isinstance(built, AssembledContext)
    system = "".join(str(block["text"]) for block in built.system)
    asked = "".join(str(block["text"]) for block in built.messages[0]["content"])
    for words in ("You water the roses.", "Never cut a bud."):
        assert (words in system, words in asked) == (trusted, not trusted)
    placed = {record.segment_id for record in built.manifest.segments}
    told = {one.segment_id for one in built.manifest.outcomes if one.outcome is OutcomeKind.INCLUDED}
    assert told <= placed
