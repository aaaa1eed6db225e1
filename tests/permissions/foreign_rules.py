"""What the tests of all importers need: a proposal as our reader takes it, and the engine's word under it."""

from __future__ import annotations

from permissions.policies import worker

from aircoding.permissions.engine import decide
from aircoding.permissions.foreign_rules import ForeignRules, proposal_text
from aircoding.permissions.policy_file import PolicyFile, parse_policy_file
from aircoding.records.policy import Act, CommandAct, Effect, PolicyLevel, ToolAct

TOOLS = ("shell", "fs_read", "fs_edit", "fs_write", "fs_glob", "fs_grep", "memory_write")


def as_file(rules: ForeignRules) -> PolicyFile:
    """Return the proposal as our reader takes it: each line is there, and no other."""
    file = parse_policy_file(proposal_text(rules, "a file"), uri="project:p.yaml", level=PolicyLevel.PROJECT)
    assert file.diagnostics == ()
    assert sorted(rule.pattern for rule in file.rules) == sorted(one for lines in rules.lines.values() for one in lines)
    return file


def effect_of(act: Act, *files: PolicyFile) -> Effect:
    """Return what the engine says of an act, the tool that does it included."""
    policy = worker(*files, project_trusted=True, tools=TOOLS)
    acts = [act, ToolAct(tool="shell")] if isinstance(act, CommandAct) else [act]
    return max((decide(one, policy).effect for one in acts), key=lambda effect: effect.rank)


def lines_of(rules: ForeignRules) -> dict[str, list[str]]:
    """Return the lines by their place as one word."""
    return {".".join(place): list(lines) for place, lines in rules.lines.items()}


def reasons(rules: ForeignRules) -> str:
    """Return everything that was handed back, as one text."""
    return "\n".join(f"{one.effect} {one.rule}: {one.why}" for one in rules.untranslated)
