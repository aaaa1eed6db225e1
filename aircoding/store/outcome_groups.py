"""What became of candidates, over all runs: the same groups as `audit.considerations.why_not` makes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from aircoding.records.seen import SeenOutcome
from aircoding.records.segments import place_of
from aircoding.store.accounts import ASSEMBLIES, OUTCOMES
from aircoding.store.naming import one_of
from aircoding.store.seen_rows import SEEN_OUTCOMES, seen_outcome
from aircoding.store.uses import assemblies_with, newest_uses, outcome_uses
from aircoding.store.within import Within

__all__ = ["CountedGroup", "newest_of_groups", "read_groups"]

GroupKey = tuple[str, str, str, str]
"""Place, outcome, reason, who decided (`audit.considerations.group_of`)."""


@dataclass(slots=True)
class CountedGroup:
    """A group of outcomes: the sessions whose last it was, their runs, its distinct rows, and the newest assembly."""

    key: GroupKey
    sessions: int = 0
    runs: set[str] = field(default_factory=set)
    rows: set[int] = field(default_factory=set)
    assembly: int = 0


def read_groups(connection: Connection, numbers: Collection[int], within: Within) -> list[CountedGroup]:
    """Return the groups that the last outcomes of sessions make, in the order of `audit.considerations.order_of`."""
    keys = _keys(connection, numbers)
    columns = (ASSEMBLIES.c.session_id, ASSEMBLIES.c.run_id)
    owners = {
        number: (each[1], each[2])
        for number, each in assemblies_with(connection, columns, within, outcomes=numbers).items()
    }
    places = {number: key[0] for number, key in keys.items()}
    groups: dict[GroupKey, CountedGroup] = {}
    last = newest_uses(outcome_uses(connection, numbers, within), places, owners)
    for ((_, run_id), _), (assembly, _, number) in last.items():
        group = groups.setdefault(keys[number], CountedGroup(keys[number]))
        group.sessions += 1
        group.runs.add(run_id)
        group.rows.add(number)
        group.assembly = max(group.assembly, assembly)
    return sorted(groups.values(), key=lambda each: (each.key[1] == "included", -each.sessions, *each.key))


def _keys(connection: Connection, numbers: Collection[int]) -> dict[int, GroupKey]:
    columns = (OUTCOMES.c.segment_id, OUTCOMES.c.outcome, OUTCOMES.c.reason, OUTCOMES.c.decided_by)
    query = select(OUTCOMES.c.outcome_row, *columns).where(one_of(OUTCOMES.c.outcome_row, numbers))
    return {each[0]: _key(*each[1:]) for each in connection.execute(query)}


def _key(segment_id: str, outcome: str, reason: str | None, decided_by: str) -> GroupKey:
    return (place_of(segment_id), outcome, reason or "", "" if outcome == "included" else decided_by)


def newest_of_groups(
    connection: Connection, numbers: Collection[int], groups: Sequence[CountedGroup]
) -> list[SeenOutcome]:
    """Return the newest outcome of each group: the last of its newest assembly."""
    assemblies = {group.assembly for group in groups}
    query = SEEN_OUTCOMES.add_columns(ASSEMBLIES.c.assembly).where(
        one_of(ASSEMBLIES.c.assembly, assemblies), one_of(OUTCOMES.c.outcome_row, numbers)
    )
    last: dict[tuple[int, GroupKey], SeenOutcome] = {}
    for each in connection.execute(query):
        key = _key(each.segment_id, each.outcome, each.reason, each.decided_by)
        last[each.assembly, key] = seen_outcome(each)
    return [last[group.assembly, group.key] for group in groups]
