"""The policy that is built in: the floor, which nothing lifts, and the defaults."""

from __future__ import annotations

from functools import cache

from aircoding.permissions.policy import build_policy
from aircoding.permissions.policy_file import PolicyFile, parse_policy_file
from aircoding.records.policy import Policy, PolicyLevel
from aircoding.sources.resources import read_resource

__all__ = ["packaged_policy", "packaged_policy_files"]


@cache
def packaged_policy_files() -> tuple[PolicyFile, ...]:
    """Return the floor, then the defaults."""
    return tuple(
        parse_policy_file(read_resource(name), uri=f"resource:{name}", level=level)
        for level in (PolicyLevel.FLOOR, PolicyLevel.DEFAULTS)
        for name in (f"permissions/{level.value}.yaml",)
    )


@cache
def packaged_policy() -> Policy:
    """Return what may be read where no other policy is given."""
    return build_policy(packaged_policy_files(), project_trusted=False, may_write=False)
