"""What the policy denies of the commands, paths and hosts that texts name; each judged once per policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from aircoding.permissions.engine import decide
from aircoding.permissions.hosts import host_of_url
from aircoding.records.ids import Digest
from aircoding.records.policy import Act, CommandAct, Effect, HostAct, Judgement, PathAct, Policy

__all__ = ["JudgedPolicy", "denied_command", "denied_host", "denied_path"]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPolicy:
    """A policy as the key of what was judged by it: its rules are not hashed again for each command.

    An ask that nobody can answer is no contradiction, so the policy is asked as if somebody could. Outside a write area
    a task asks and nothing is denied, so the area, of which each task has its own, is not read: tasks whose policies
    differ by it alone share what was judged.
    """

    policy: Policy

    def __hash__(self) -> int:
        return hash((self.policy.denied_paths, self.policy.may_write, self.policy.tools, len(self.policy.rules)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JudgedPolicy):
            return False
        return self.policy is other.policy or _asked(self.policy) == _asked(other.policy)


@lru_cache(maxsize=16_384)
def denied_command(command: str, by: JudgedPolicy) -> Judgement | None:
    """Return the line that denies a command, or None."""
    return _denied(CommandAct(command=command), _as_asked(by))


@lru_cache(maxsize=4096)
def denied_path(path: str, access: str, by: JudgedPolicy) -> Judgement | None:
    """Return the line that denies a path; that a role writes nothing at all is said of it elsewhere."""
    return _denied(PathAct(path=path, access=access), replace(_as_asked(by), may_write=True))


@lru_cache(maxsize=4096)
def denied_host(url: str, by: JudgedPolicy) -> Judgement | None:
    """Return the line that denies the host of a URL, or None."""
    return _denied(HostAct(host=host_of_url(url)), _as_asked(by))


@lru_cache(maxsize=64)
def _as_asked(by: JudgedPolicy) -> Policy:
    return _asked(by.policy)


def _asked(policy: Policy) -> Policy:
    return replace(policy, interactive=True, confined=True, write_area=(), digest=Digest(""))


def _denied(act: Act, policy: Policy) -> Judgement | None:
    decision = decide(act, policy)
    if decision.effect is not Effect.DENY:
        return None
    return next((part for part in decision.judgements if part.effect is Effect.DENY), None)
