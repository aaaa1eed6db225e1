"""Everything of a policy that is compiled, made once per policy and kept while that policy is in use."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from aircoding.permissions.command_index import CommandIndex
from aircoding.permissions.path_index import PathIndex
from aircoding.records.policy import Effect, Policy, PolicyLevel, PolicyRule, PolicySubject

__all__ = ["Compiled", "compiled"]

_KEPT = 64
"""Policies kept compiled: the roles and tasks that run side by side in one process."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The lines of a policy by subject."""

    paths: PathIndex
    commands: CommandIndex
    hosts: tuple[PolicyRule, ...]


_Key = tuple[int, tuple[str, ...]]
_cache: OrderedDict[_Key, tuple[tuple[PolicyRule, ...], Compiled]] = OrderedDict()


def compiled(policy: Policy) -> Compiled:
    """Return the compiled lines of a policy.

    Hashing hundreds of lines for each path would cost more than judging it, so the cache goes by the identity of the
    tuple of lines, which it holds on to: an identity in the cache is never another tuple's.
    """
    key = (id(policy.rules), policy.denied_paths)
    known = _cache.get(key)
    if known is not None and known[0] is policy.rules:
        return known[1]
    made = _compile(policy)
    _cache[key] = (policy.rules, made)
    while len(_cache) > _KEPT:
        _cache.popitem(last=False)
    return made


def _compile(policy: Policy) -> Compiled:
    own = tuple(
        PolicyRule(subject=subject, effect=Effect.DENY, pattern=glob, level=PolicyLevel.TASK, uri="air:policy/task")
        for glob in policy.denied_paths
        for subject in (PolicySubject.READ, PolicySubject.WRITE)
    )
    return Compiled(
        paths=PathIndex((*policy.rules, *own)),
        commands=CommandIndex(rule for rule in policy.rules if rule.subject is PolicySubject.COMMAND),
        hosts=tuple(rule for rule in policy.rules if rule.subject is PolicySubject.HOST),
    )
