"""The algebra of policies: how files, task and role become the one policy that holds (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from aircoding.errors import ConfigError
from aircoding.permissions.policy_file import PolicyFile
from aircoding.records.digests import fingerprint
from aircoding.records.ids import Digest
from aircoding.records.policy import Effect, Policy, PolicyLevel, PolicyRule, PolicySubject

__all__ = ["build_policy", "require_valid"]


def require_valid(files: Iterable[PolicyFile]) -> None:
    """Refuse faulty policy files: a policy that is half read would permit what was meant to be denied.

    Raises:
        ConfigError: with every fault of every file.
    """
    faults = [diagnostic for file in files for diagnostic in file.diagnostics if diagnostic.severity == "error"]
    if faults:
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise ConfigError(
            f"{first.uri}:{first.line}: {first.message}{more}",
            hint=first.hint or "correct the file; nothing runs under a policy that cannot be read",
            code="policy.invalid",
            diagnostics=faults,
        )


def build_policy(
    files: Iterable[PolicyFile],
    *,
    project_trusted: bool,
    may_write: bool,
    write_area: tuple[str, ...] = (),
    denied_paths: tuple[str, ...] = (),
    floor_exceptions: tuple[str, ...] = (),
    tools: tuple[str, ...] = (),
    interactive: bool = False,
    confined: bool = True,
    approved: frozenset[Digest] = frozenset(),
    root: str = "",
    home: str = "",
) -> Policy:
    """Return the effective policy of one task and role.

    Denies, asks and announcements accumulate from every file. Allows come from defaults, user, and a trusted project;
    an allow never lifts a deny. Task and role only narrow. The digest says what is decided, not where it is written:
    a comment that moves a line, another worktree, or who can be asked change no policy.

    Args:
        files: floor, defaults, user, project, in this order.
        project_trusted: whether the user trusts this version of the project's policy.
        may_write: the role's ceiling; without it nothing is written, whatever the task says.
        write_area: globs (`rules.globs.Dialect.ROOT_ANCHORED`) that the task may write.
        denied_paths: permission globs that the task may neither read nor write.
        floor_exceptions: globs that the floor's write denies do not hold for: `.air/shared/plan/**` for the
            architecture designer, a rule file for a task that carries that grant.
        tools: names of the tools that the role has.
        interactive: whether somebody can be asked now.
        confined: whether a sandbox stands behind the decision, or the user declared one.
        approved: fingerprints that a person approved.
        root: absolute path of the worktree, so that absolute paths in commands are known to lie inside.
        home: absolute path of the home folder, for `~`.

    Raises:
        ConfigError: a file has faults.
    """
    every = tuple(files)
    require_valid(every)
    rules, mask_env, said = _shared(every, project_trusted)
    area = tuple(write_area) if may_write else ()
    digest = fingerprint(
        {
            "rules": said,
            "write_area": list(area),
            "denied_paths": list(denied_paths),
            "floor_exceptions": list(floor_exceptions),
            "may_write": may_write,
            "tools": sorted(tools),
            "mask_env": list(mask_env),
        }
    )
    return Policy(
        rules=rules,
        digest=digest,
        write_area=area,
        denied_paths=tuple(denied_paths),
        may_write=may_write,
        tools=tuple(tools),
        mask_env=mask_env,
        interactive=interactive,
        confined=confined,
        approved=approved,
        floor_exceptions=tuple(floor_exceptions),
        root=root,
        home=home,
    )


@lru_cache(maxsize=32)
def _shared(
    files: tuple[PolicyFile, ...], project_trusted: bool
) -> tuple[tuple[PolicyRule, ...], tuple[str, ...], Digest]:
    """Return what all tasks and roles of a project share: its lines, its masked variables, a digest of what decides.

    One tuple of lines for thousands of tasks: what is compiled of them is kept by the tuple's identity.
    """
    every = (rule for file in files for rule in file.rules)
    rules = tuple(rule for one in every if (rule := _as_trusted(one, project_trusted=project_trusted)) is not None)
    mask_env = tuple(sorted({name for file in files for name in file.mask_env}))
    said = fingerprint([_said(rule) for rule in rules])
    return rules, mask_env, said


def _said(rule: PolicyRule) -> list[str]:
    narrows_only = [] if rule.widens else ["narrows only"]
    return [rule.subject.value, rule.effect.value, rule.pattern, rule.level.value, *narrows_only]


def _as_trusted(rule: PolicyRule, *, project_trusted: bool) -> PolicyRule | None:
    """Return a line as it counts: what a project's file permits is a grant that the repository gives itself.

    Until the user trusts it, its allows do not count, and its announcements, and its asks for hosts that would else be
    refused, only narrow what others allow.
    """
    narrows = rule.effect is Effect.DENY or (rule.effect is Effect.ASK and rule.subject is not PolicySubject.HOST)
    if project_trusted or rule.level is not PolicyLevel.PROJECT or narrows:
        return rule
    return None if rule.effect is Effect.ALLOW else replace(rule, widens=False)
