"""Judge paths: the lines of the policy, the write area, the task's own denies, credentials, the system."""

from __future__ import annotations

import re

from aircoding.permissions.compiled import compiled
from aircoding.permissions.judgements import by_engine, by_rule
from aircoding.permissions.locations import is_inside, locate
from aircoding.records.policy import Effect, Judgement, Policy, PolicyLevel, PolicyRule, PolicySubject
from aircoding.rules.globs import Dialect, compile_globs, overlap

__all__ = ["judge_glob", "judge_path", "judge_tree"]

_HARMLESS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/tty", "/dev/fd/63"})
"""Devices that keep nothing, and the pipe that stands for a process substitution."""
_ALL_OF = re.compile(r"(?:^|(?<=/))[*?]*\*[*?]*/?$")
_ENCODED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)
_SUBJECT = {"read": PolicySubject.READ, "write": PolicySubject.WRITE}
_WHY = {
    PolicySubject.CREDENTIAL: "it holds credentials",
    PolicySubject.SYSTEM: "it belongs to the system",
}


def judge_path(path: str, access: str, policy: Policy, *, cwd: str = ".") -> Judgement:
    """Return the judgement of reading or writing one path, as it is written in the folder `cwd`.

    The worktree may be read where no line says otherwise; written where the write area lies and no line says
    otherwise. What lies outside asks, unless a line allows it.
    """
    subject = _SUBJECT[access]
    if "\0" in path:
        return by_engine(Effect.DENY, subject, path, "zero byte", "a path with a zero byte names two files")
    location = locate(path, cwd, policy)
    if location in _HARMLESS:
        return by_engine(Effect.ALLOW, subject, location, "harmless device", "a device that keeps nothing")
    narrowing = max(_narrowing(location, access, policy), key=lambda rule: rule.effect.rank, default=None)
    if narrowing is not None and narrowing.effect is Effect.DENY:
        return by_rule(narrowing, location, _reason(narrowing, access))
    if access == "write" and not policy.may_write:
        return by_engine(Effect.DENY, subject, location, "role", "this role writes no files", origin="role")
    if narrowing is not None:
        return by_rule(narrowing, location, _reason(narrowing, access))
    if _ENCODED.search(location):
        return by_engine(Effect.ASK, subject, location, "encoded name", "its name hides a separator or a dot in a code")
    rules = list(compiled(policy).paths.widening(location, access, policy))
    widening = max(rules, key=lambda rule: rule.effect.rank, default=None)
    if access == "write":
        widened = widening is not None and any(rule.widens for rule in rules)
        return _judge_write(location, policy, widening, widened=widened)
    if widening is not None:
        return by_rule(widening, location, "a line of the policy allows reading it")
    if is_inside(location):
        return by_engine(Effect.ALLOW, subject, location, "worktree", "it lies in the worktree")
    return by_engine(Effect.ASK, subject, location, "outside", "it lies outside the worktree")


def _judge_write(location: str, policy: Policy, widening: PolicyRule | None, *, widened: bool) -> Judgement:
    subject = PolicySubject.WRITE
    if not is_inside(location):
        if widening is not None and widened:
            return by_rule(widening, location, "a line of the policy allows writing it")
        return by_engine(Effect.ASK, subject, location, "outside", "it lies outside the worktree")
    area_globs = compile_globs(policy.write_area, Dialect.ROOT_ANCHORED)
    # The folder that an area begins at belongs to it: `mkdir src` and `cp x src` mean what lies below.
    if not area_globs.matches(location) and not (location != "." and area_globs.matches(f"{location}/x")):
        area = ", ".join(policy.write_area) or "nothing"
        return by_engine(Effect.ASK, subject, location, area, f"it lies outside the write area ({area})", origin="task")
    if widening is not None and widening.effect is Effect.ANNOUNCE:
        return by_rule(widening, location, "a line of the policy announces writing it")
    return by_engine(
        Effect.ALLOW, subject, location, ", ".join(policy.write_area), "it lies in the write area", origin="task"
    )


def judge_tree(path: str, policy: Policy, *, cwd: str = ".", glob: bool = False) -> Judgement:
    """Return the judgement of changing a folder with all that is in it; the glob `folder/*` means all that is seen."""
    location = locate((_ALL_OF.sub("", path) or ".") if glob else path, cwd, policy)
    seen_only = glob and _ALL_OF.search(path) is not None
    below = compiled(policy).paths.denied_below(location, "write", policy, seen_only=seen_only)
    if below is not None:
        return by_rule(below, location, f"it holds what may never be written ({below.pattern})")
    judge = judge_glob if glob else judge_path
    return judge(path, "write", policy, cwd=cwd)


def judge_glob(glob: str, access: str, policy: Policy, *, cwd: str = ".") -> Judgement:
    """Return the judgement of a shell glob: of what it names, and asking where it may name what is kept away.

    The shell expands it when the command runs. So it is allowed only where no ask or deny could meet it; a pattern
    like `id_rsa*` is taken without its last star where the glob ends in a fixed extension.
    """
    witness = re.sub(r"\[[^\]]*\]|[*?]+", "x", glob)
    judgement = judge_path(witness, access, policy, cwd=cwd)
    if judgement.effect.rank >= Effect.ASK.rank:
        return judgement
    location = locate(glob, cwd, policy)
    fixed_end = re.search(r"\.\w+$", glob) is not None
    for rule in policy.rules:
        if rule.effect.rank >= Effect.ASK.rank and rule.subject in _KEEPS_AWAY[access]:
            pattern = rule.pattern.rstrip("*") if fixed_end else rule.pattern
            if not pattern.startswith(("/", "~")) and _may_meet(location, pattern, rule.pattern, fixed_end=fixed_end):
                reason = f"it may name what the policy keeps away ({rule.pattern})"
                return by_engine(Effect.ASK, _SUBJECT[access], glob, "glob", reason)
    return judgement


_KEEPS_AWAY = {
    "read": frozenset({PolicySubject.READ, PolicySubject.CREDENTIAL}),
    "write": frozenset({PolicySubject.WRITE, PolicySubject.CREDENTIAL}),
}


def _may_meet(glob: str, pattern: str, written: str, *, fixed_end: bool) -> bool:
    deep = pattern if "/" in pattern.rstrip("/") else f"**/{pattern}"
    # A glob of files (`**/*.py`) is not taken to lead through folders that are hidden, or named like `*.pem`.
    last = written.rstrip("/").rpartition("/")[2]
    below = () if fixed_end and (last.startswith(".") or ("*" in last and last != "**")) else (f"{deep}/**",)
    return any(overlap(glob, one) for one in (deep, *below))


def _narrowing(location: str, access: str, policy: Policy) -> tuple[PolicyRule, ...]:
    rules = compiled(policy).paths.narrowing(location, access, policy)
    return tuple(rule for rule in rules if not _lifted(rule, location, policy))


def _lifted(rule: PolicyRule, location: str, policy: Policy) -> bool:
    """Whether an exception lifts this line of the floor: one that lies below what the line names."""
    if rule.level is not PolicyLevel.FLOOR or rule.subject is not PolicySubject.WRITE:
        return False
    base = rule.pattern.removeprefix("**/").removesuffix("/**").rstrip("/")
    exceptions = tuple(glob for glob in policy.floor_exceptions if glob == base or glob.startswith(base + "/"))
    return bool(exceptions) and compile_globs(exceptions, Dialect.ROOT_ANCHORED).matches(location)


def _reason(rule: PolicyRule, access: str) -> str:
    if rule.level is PolicyLevel.TASK:
        return "the task keeps away from it"
    verb = "reading" if access == "read" else "writing"
    what = "refuses" if rule.effect is Effect.DENY else "wants a person to confirm"
    return _WHY.get(rule.subject, f"the policy {what} {verb} it")
