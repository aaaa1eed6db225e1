"""The algebra of policies: how files, task and role become the one policy that holds (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.errors import ConfigError
from aircoding.permissions.policy_file import PolicyFile
from aircoding.records.digests import fingerprint
from aircoding.records.ids import Digest
from aircoding.records.jsonable import jsonable
from aircoding.records.policy import Effect, Policy, PolicyLevel, PolicyRule

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
) -> Policy:
    """Return the effective policy of one task and role.

    Denies, asks and announcements accumulate from every file. Allows come from defaults, user, and
    a trusted project; an allow never lifts a deny. Task and role only narrow.

    Args:
        files: floor, defaults, user, project, in this order.
        project_trusted: whether the user trusts this version of the project's policy.
        may_write: the role's ceiling; without it nothing is written, whatever the task says.
        write_area: globs that the task may write.
        denied_paths: globs that the task may neither read nor write.
        floor_exceptions: patterns of the floor's write denies that the role or a grant lifts.
        tools: names of the tools that the role has.
        interactive: whether somebody can be asked now.
        confined: whether a sandbox stands behind the decision.
        approved: fingerprints that a person approved.
    """
    every = list(files)
    rules = tuple(
        rule
        for file in every
        for rule in file.rules
        if not (rule.level is PolicyLevel.PROJECT and rule.effect is Effect.ALLOW and not project_trusted)
        and not (rule.level is PolicyLevel.FLOOR and rule.pattern in floor_exceptions)
    )
    mask_env = tuple(sorted({name for file in every for name in file.mask_env}))
    digest = fingerprint(
        {
            "rules": jsonable([_said(rule) for rule in rules]),
            "write_area": list(write_area),
            "denied_paths": list(denied_paths),
            "may_write": may_write,
            "tools": sorted(tools),
            "mask_env": list(mask_env),
        }
    )
    return Policy(
        rules=rules,
        digest=digest,
        write_area=write_area if may_write else (),
        denied_paths=denied_paths,
        may_write=may_write,
        tools=tools,
        mask_env=mask_env,
        interactive=interactive,
        confined=confined,
        approved=approved,
    )


def _said(rule: PolicyRule) -> tuple[str, str, str, str]:
    """What of a rule decides: a comment above it that moves its line changes no policy."""
    return (rule.subject.value, rule.effect.value, rule.pattern, rule.level.value)
