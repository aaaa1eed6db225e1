"""Which instructions an assembly loaded, and what called them up: told of real projects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.projects import Desk, make_project

from aircoding.agents.loaded import loaded_by
from aircoding.context.assembler import assemble
from aircoding.records.ids import TaskId
from aircoding.records.manifest import AssembledContext
from aircoding.records.tasks import TaskSpec

FILES = {
    "AGENTS.md": "# House\n\nUse tabs.\n",
    "docs/AGENTS.md": "# Docs\n\nBe short.\n",
    "docs/a.md": "a\n",
    "CLAUDE.md": "# Own\n\nSee @notes/style.md\n",
    "notes/style.md": "# Style\n\nShort words.\n",
    ".air/shared/rules/docs.md": '---\nkind: project\npaths: ["docs/**"]\n---\n# Docs\n\nUse headings.\n',
}


def test_rules_are_told_by_what_called_them_up(tmp_path: Path) -> None:
    desk = Desk(root=make_project(tmp_path / "p", FILES), home=tmp_path / "home")
    brief = desk.brief(task=TaskSpec(id=TaskId("T1"), title="t", write_area=("src/**",)))
    first = assemble(desk.snapshot(brief))
    assert isinstance(first, AssembledContext)
    gatherer = desk.gatherer()
    later = assemble(gatherer.gather(brief, turn=2, messages=(), frozen=first, touched_paths=("docs/a.md",)))
    assert isinstance(later, AssembledContext)

    told = dict(loaded_by(first.manifest, None))
    assert list(told) == ["session_start", "include"]
    assert told["include"] == ("project:notes/style.md",)
    assert "project:AGENTS.md" in told["session_start"]
    assert not any("docs" in uri for uri in told["session_start"])
    assert dict(loaded_by(later.manifest, first.manifest)) == {
        "nested_traversal": ("project:docs/AGENTS.md",),
        "path_glob_match": ("project:.air/shared/rules/docs.md",),
    }
    assert loaded_by(later.manifest, later.manifest) == ()
    new_epoch = replace(later.manifest, epoch=2)
    assert [reason for reason, _ in loaded_by(new_epoch, later.manifest)] == ["compact", "include"]
