"""The shared permission cases: attacks and everyday commands with the decision that each must get."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aircoding.permissions.engine import decide
from aircoding.permissions.locations import locate
from aircoding.permissions.policy import build_policy
from aircoding.permissions.policy_file import parse_policy_file
from aircoding.records.policy import Act, CommandAct, Effect, PathAct, Policy, PolicyLevel

SHARED = Path(__file__).parents[3] / "shared" / "eval" / "permissions" / "cases.json"
POLICY_FILE = Path(__file__).parent / "eval_policy.yaml"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED.exists(), reason="the shared permission cases are not beside this checkout"),
]


def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(SHARED.read_text("utf-8"))["cases"] if SHARED.exists() else []
    return found


def std_policy() -> Policy:
    text = POLICY_FILE.read_text("utf-8")
    return build_policy(
        [parse_policy_file(text, uri="user:permissions.yaml", level=PolicyLevel.USER)],
        project_trusted=True,
        may_write=True,
        write_area=("src/**", "tests/**"),
        denied_paths=(".git", "/w/main/**", "**/.air/**", "**/.claude/**", "**/.vscode/**", "**/.github/workflows/**"),
        interactive=True,
        root="/w/task1",
        home="/home/u",
    )


@dataclass(frozen=True)
class Links:
    """The links of a case's set-up: what the workspace finds when it resolves a path before it is judged."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, setup: str) -> Links:
        found = re.findall(r"ln -s (\S+) (\S+)", setup)
        return cls(tuple((link if link.startswith("/") else f"/w/task1/{link}", target) for target, link in found))

    def resolve(self, path: str) -> str:
        for link, target in self.pairs:
            if path == link or path.startswith(f"{link}/"):
                return target + path[len(link) :]
        return path


def act_of(case: dict[str, Any], policy: Policy) -> Act:
    if case["op"] == "shell":
        return CommandAct(command=case["command"])
    resolved = Links.of(case.get("setup", "")).resolve(case["command"])
    return PathAct(path=locate(resolved, ".", policy), access=case["op"])


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_each_case_gets_its_decision(case: dict[str, Any]) -> None:
    policy = std_policy()
    decision = decide(act_of(case, policy), policy)
    permitted = Effect.ALLOW if decision.effect is Effect.ANNOUNCE else decision.effect
    assert permitted.value == case["expected"], (case["command"], decision.reason)
    assert (decision.effect is Effect.ANNOUNCE) == case.get("announce", False)


def test_nothing_asks_when_nobody_is_there() -> None:
    policy = build_policy(
        [parse_policy_file(POLICY_FILE.read_text("utf-8"), uri="user:permissions.yaml", level=PolicyLevel.USER)],
        project_trusted=True,
        may_write=True,
        write_area=("src/**", "tests/**"),
        denied_paths=(".git", "/w/main/**"),
        root="/w/task1",
        home="/home/u",
    )
    for case in cases():
        decision = decide(act_of(case, policy), policy)
        assert decision.effect is not Effect.ASK
        if case["expected"] == "ask":
            assert decision.effect is Effect.DENY
            assert decision.asked
