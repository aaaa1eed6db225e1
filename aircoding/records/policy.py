"""Permission values: acts, the policy that judges them, and the decisions that come of it (DESIGN section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from aircoding.records.ids import Digest

__all__ = [
    "Act",
    "CommandAct",
    "Decision",
    "Effect",
    "HostAct",
    "Judgement",
    "PathAct",
    "Policy",
    "PolicyLevel",
    "PolicyRule",
    "PolicySubject",
    "ToolAct",
]


class Effect(StrEnum):
    """What may be done with an act; a later value beats an earlier one."""

    ALLOW = "allow"
    ANNOUNCE = "announce"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        """0 for allow up to 3 for deny."""
        return _EFFECT_RANK[self]


_EFFECT_RANK = {Effect.ALLOW: 0, Effect.ANNOUNCE: 1, Effect.ASK: 2, Effect.DENY: 3}


class PolicySubject(StrEnum):
    """What a policy line is about."""

    READ = "read"
    WRITE = "write"
    COMMAND = "command"
    HOST = "host"
    CREDENTIAL = "credential"
    SYSTEM = "system"
    TOOL = "tool"


class PolicyLevel(StrEnum):
    """Where a policy line comes from, in the order in which they are read."""

    FLOOR = "floor"
    DEFAULTS = "defaults"
    USER = "user"
    PROJECT = "project"
    TASK = "task"
    ROLE = "role"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One line of a policy file: `pattern` is a gitignore-style glob, argv prefix words, or a host.

    One that does not widen counts only beside a line that does: it comes of a project that is not trusted.
    """

    subject: PolicySubject
    effect: Effect
    pattern: str
    level: PolicyLevel
    uri: str
    line: int | None = None
    widens: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The effective policy of one task and role.

    `rules` hold every level in order. `write_area` narrows writes to its globs (empty: the role
    writes nothing), `denied_paths` are the task's own denies. `tools` are the tool names that the
    role has; `mask_env` names environment variables that no command sees. `digest` is a
    fingerprint of all of it, `interactive` says whether anyone can be asked, `confined` whether a
    sandbox stands behind the decision (without one allow becomes ask unless so declared).

    `parent` is the policy of the worker that delegated: what it does not allow is not allowed here either.
    `floor_exceptions` are globs that the floor's write denies do not hold for (the architecture designer's plan).
    `root` (the worktree) and `home` are absolute paths of this machine: they tell what a path in a command means, are
    no part of the digest, and never enter a prompt.
    """

    rules: tuple[PolicyRule, ...]
    digest: Digest
    write_area: tuple[str, ...] = ()
    denied_paths: tuple[str, ...] = ()
    may_write: bool = True
    tools: tuple[str, ...] = ()
    mask_env: tuple[str, ...] = ()
    interactive: bool = False
    confined: bool = True
    approved: frozenset[Digest] = frozenset()
    floor_exceptions: tuple[str, ...] = ()
    root: str = ""
    home: str = ""
    parent: Policy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAct:
    """A shell command line, as text; `cwd` is the real directory, relative to the worktree root (`.`)."""

    command: str
    cwd: str = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class PathAct:
    """A read or a write of one resolved path.

    `path` is relative to the worktree root when it lies inside (POSIX separators), else absolute. With `glob` it stands
    for every name that it matches.
    """

    path: str
    access: str
    """`read` or `write`."""
    glob: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAct:
    """A connection to a host."""

    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAct:
    """The use of a tool as such, before its own acts are judged; one that is `opaque` does not say what these are."""

    tool: str
    opaque: bool = False


Act = CommandAct | PathAct | HostAct | ToolAct


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One thing inside an act (a simple command, a redirect target, a host) and the line that decided it."""

    effect: Effect
    subject: PolicySubject
    text: str
    pattern: str
    level: PolicyLevel
    uri: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the PermissionEngine says of one act.

    `effect` is the strongest of `judgements`; with nobody to ask, an ask has become a deny and
    `asked` keeps that. `fingerprint` binds an approval to argv, cwd and policy.
    """

    effect: Effect
    act: str
    reason: str
    fingerprint: Digest
    judgements: tuple[Judgement, ...] = field(default=())
    asked: bool = False

    @property
    def permits(self) -> bool:
        """Whether the act may be done now (announced or not)."""
        return self.effect.rank <= Effect.ANNOUNCE.rank
