"""`permissions import` as a process (compatibility table, row Permissions): a proposal, and what is left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.demo_runs import air
from support.projects import make_project, write_tree

from aircoding.permissions.policy_file import parse_policy_file
from aircoding.records.policy import PolicyLevel

FILES = {
    "claude.json": '{"permissions": {"deny": ["Bash(git push *)"]}}',
    "codex.rules": 'prefix_rule(pattern=["git", "push"], decision="forbidden", match=["git push -f"])\n',
    "opencode.jsonc": '{"permission": {"bash": {"git push *": "deny", /* all */ },}}',
    "gemini.toml": '[[rule]]\ncommandPrefix = "git push"\ndecision = "deny"\npriority = 9\n',
}
LEFT = {
    "claude.json": '{"permissions": {"deny": ["WebSearch"]}}',
    "codex.toml": 'sandbox_mode = "read-only"\n',
    "opencode.jsonc": '{"permission": {"skill": "deny"}}',
    "gemini.toml": "= =",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project", {})


@pytest.mark.parametrize("name", sorted(FILES))
def test_row_permissions_of_every_tool_become_a_policy_file(root: Path, name: str) -> None:
    write_tree(root, {name: FILES[name]})
    before = sorted(os.listdir(root))
    ended = air(root, "permissions", "import", name, "--from", Path(name).stem, "--json")
    assert ended.code == 0, ended.output
    file = parse_policy_file(ended.result["proposal"]["text"], uri="x", level=PolicyLevel.PROJECT)
    assert file.diagnostics == ()
    assert [(rule.effect.value, rule.pattern) for rule in file.rules] == [("deny", "git push *")]
    assert sorted(os.listdir(root)) == before


@pytest.mark.parametrize("name", sorted(LEFT))
def test_row_permissions_without_an_equivalent_are_told_and_the_code_is_1(root: Path, name: str) -> None:
    write_tree(root, {name: LEFT[name]})
    ended = air(root, "permissions", "import", name, "--from", Path(name).stem, "--json")
    assert ended.code == 1, ended.output
    (one,) = ended.result["proposal"]["untranslated"]
    assert one["why"]
    assert json.dumps(one["rule"]) in ended.result["proposal"]["text"]
    told = air(root, "permissions", "import", name, "--from", Path(name).stem)
    assert (told.code, one["why"] in told.output) == (1, True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("opencode.json", b"{", "it is no JSON"),
        ("opencode.json", b"{}", "no permission rules"),
        ("claude.json", b"[" * 100_000, "it is no JSON"),
        ("claude.json", b"{}", "no permission rules"),
        ("codex.rules", b"", "no permission rules"),
        ("gemini.toml", b"a\0", "binary file"),
        ("codex.rules", None, "cannot be read"),
    ],
)
def test_row_permissions_of_a_file_that_holds_none_are_refused(
    root: Path, name: str, text: bytes | None, said: str
) -> None:
    if text is not None:
        (root / name).write_bytes(text)
    ended = air(root, "permissions", "import", name, "--from", Path(name).stem)
    assert (ended.code, "Traceback" in ended.output) == (2, False), ended.output
    assert said in ended.output
