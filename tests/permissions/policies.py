"""The policy that ships, and small ones, for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aircoding.permissions.policy import build_policy
from aircoding.permissions.policy_file import PolicyFile, parse_policy_file
from aircoding.records.policy import Policy, PolicyLevel

RESOURCES = Path(__file__).parents[2] / "resources" / "permissions"


def packaged(name: str, level: PolicyLevel) -> PolicyFile:
    """Return a packaged policy file, parsed."""
    text = (RESOURCES / f"{name}.yaml").read_text("utf-8")
    return parse_policy_file(text, uri=f"resource:permissions/{name}.yaml", level=level)


FLOOR = packaged("floor", PolicyLevel.FLOOR)
DEFAULTS = packaged("defaults", PolicyLevel.DEFAULTS)


def written(text: str, level: PolicyLevel = PolicyLevel.USER) -> PolicyFile:
    """Return a policy file of `text` below `version: 1`."""
    return parse_policy_file(f"version: 1\n{text}", uri=f"{level.value}:permissions.yaml", level=level)


def worker(*files: PolicyFile, **given: Any) -> Policy:
    """Return the policy of an executor that may write src and tests, over floor and defaults."""
    arguments: dict[str, Any] = {
        "project_trusted": False,
        "may_write": True,
        "write_area": ("src/**", "tests/**"),
        "tools": ("shell", "fs_read"),
        "interactive": True,
        "root": "/w/task",
        "home": "/home/u",
    }
    return build_policy([FLOOR, DEFAULTS, *files], **{**arguments, **given})
