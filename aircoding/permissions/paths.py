"""Judge paths: gitignore-style globs per subject, the write area, the task's own denies."""

from __future__ import annotations

import posixpath
from functools import lru_cache

from aircoding.records.policy import Effect, Judgement, Policy, PolicyLevel, PolicyRule, PolicySubject
from aircoding.rules.globs import Dialect, compile_globs

__all__ = ["judge_path", "lexical_path"]

_HARMLESS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/tty"})
_DENYING = {
    "read": (PolicySubject.READ, PolicySubject.CREDENTIAL),
    "write": (PolicySubject.WRITE, PolicySubject.CREDENTIAL, PolicySubject.SYSTEM),
}


def lexical_path(path: str, cwd: str) -> str:
    """Return a path as it is written, joined to `cwd` and without `.` and `..`; relative when it stays inside."""
    joined = path if path.startswith(("/", "~")) else posixpath.join(cwd, path)
    return posixpath.normpath(joined)


def judge_path(path: str, access: str, policy: Policy) -> Judgement:
    """Return the strongest judgement of reading or writing one path.

    A relative path lies in the worktree, one that begins with `/`, `~` or `..` outside.
    """
    subject = PolicySubject.WRITE if access == "write" else PolicySubject.READ
    if path in _HARMLESS:
        return _own(Effect.ALLOW, subject, path, "a device that keeps nothing")
    if _matches_any(policy.denied_paths, path):
        return _own(Effect.DENY, subject, path, "the task denies this path", level=PolicyLevel.TASK)
    strongest = _strongest_rule(path, access, policy)
    if strongest is not None and strongest.effect.rank >= Effect.ASK.rank:
        return _by_rule(strongest, path, subject, _refusal(strongest, access))
    outside = path.startswith(("/", "~", ".."))
    if access == "write":
        return _judge_write(path, policy, subject, strongest, outside=outside)
    if strongest is not None:
        return _by_rule(strongest, path, subject, "a line allows it")
    if outside:
        return _own(Effect.ASK, subject, path, "it lies outside the worktree")
    return _own(Effect.ALLOW, subject, path, "it lies in the worktree")


def _judge_write(
    path: str, policy: Policy, subject: PolicySubject, rule: PolicyRule | None, *, outside: bool
) -> Judgement:
    if not policy.may_write:
        return _own(Effect.DENY, subject, path, "this role writes no files", level=PolicyLevel.ROLE)
    if outside and rule is None:
        return _own(Effect.DENY, subject, path, "it lies outside the worktree")
    if outside and rule is not None:
        return _by_rule(rule, path, subject, "a line allows it")
    if not _in_area(policy.write_area, path):
        area = ", ".join(policy.write_area) or "nothing"
        return _own(Effect.DENY, subject, path, f"it is outside the write area ({area})", level=PolicyLevel.TASK)
    if rule is not None and rule.effect is Effect.ANNOUNCE:
        return _by_rule(rule, path, subject, "a line asks to announce it")
    return _own(Effect.ALLOW, subject, path, "it is in the write area", level=PolicyLevel.TASK)


def _in_area(area: tuple[str, ...], path: str) -> bool:
    return compile_globs(area, Dialect.ROOT_ANCHORED).matches(path)


def _matches_any(globs: tuple[str, ...], path: str) -> bool:
    return bool(globs) and compile_globs(globs, Dialect.GITIGNORE).matches(path)


def _strongest_rule(path: str, access: str, policy: Policy) -> PolicyRule | None:
    """Return the strongest line that matches the path; of equal ones the first."""
    wanted = _DENYING[access]
    matching = (rule for rule in policy.rules if rule.subject in wanted and _rule_matches(rule.pattern, path))
    return max(matching, key=lambda rule: rule.effect.rank, default=None)


@lru_cache(maxsize=65_536)
def _rule_matches(pattern: str, path: str) -> bool:
    """Match one line against a path, whatever the case: a file system may fold `.GIT` to `.git`."""
    anchored_home = pattern.startswith("~/")
    if anchored_home != path.startswith("~/"):
        return False
    if anchored_home:
        pattern, path = "/" + pattern[2:], path[2:]
    elif pattern.startswith("//"):
        # An absolute pattern, as opposed to one that is anchored at the worktree's root.
        if not path.startswith("/"):
            return False
        pattern = pattern[1:]
    elif pattern.startswith("/") and path.startswith("/"):
        return False
    return compile_globs((pattern.lower(),), Dialect.GITIGNORE).matches(path.lower())


def _refusal(rule: PolicyRule, access: str) -> str:
    return {
        PolicySubject.CREDENTIAL: "it holds credentials",
        PolicySubject.SYSTEM: "it belongs to the system",
    }.get(rule.subject, f"a line of the policy governs {access}ing it")


def _by_rule(rule: PolicyRule, path: str, subject: PolicySubject, reason: str) -> Judgement:
    return Judgement(
        effect=rule.effect,
        subject=subject,
        text=path,
        pattern=rule.pattern,
        level=rule.level,
        uri=rule.uri,
        line=rule.line,
        reason=reason,
    )


def _own(
    effect: Effect, subject: PolicySubject, path: str, reason: str, *, level: PolicyLevel = PolicyLevel.DEFAULTS
) -> Judgement:
    return Judgement(
        effect=effect,
        subject=subject,
        text=path,
        pattern="",
        level=level,
        uri=f"policy:{level.value}",
        line=None,
        reason=reason,
    )
