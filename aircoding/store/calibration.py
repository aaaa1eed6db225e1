"""What token estimates are calibrated from: requests that were estimated, sent, and counted by the provider."""

from __future__ import annotations

from sqlalchemy import func, select

from aircoding.records.usage import UsageSample
from aircoding.store.columns import table_of
from aircoding.store.database import Database
from aircoding.store.tables.assemblies import AssemblyRow
from aircoding.store.tables.calls import ModelCallRow
from aircoding.store.tables.runs import RunRow

__all__ = ["UsageSamples"]

ASSEMBLIES = table_of(AssemblyRow)
CALLS = table_of(ModelCallRow)
RUNS = table_of(RunRow)
_SIMULATED = ("req_emulator_%", "scripted:%")
"""Request ids of our own server and of scripted models: simulated counts would teach the wrong thing."""


class UsageSamples:
    """Estimates beside the usage that came back, by model."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest(self, model: str, *, limit: int) -> tuple[UsageSample, ...]:
        """Return the samples of the newest committed calls of a model, the oldest of them first."""
        calls = CALLS.c
        cached = func.coalesce(calls.cache_read_tokens, 0)
        written = func.coalesce(calls.cache_write_5m_tokens, 0) + func.coalesce(calls.cache_write_1h_tokens, 0)
        actual = func.coalesce(calls.input_tokens, 0) + cached + written
        own = select(RUNS.c.run_id).where(
            RUNS.c.imported_at.is_(None)
        )  # what others claim to have counted teaches nothing
        # From the newest assembly backwards: the walk ends as soon as there are enough, however long the record is.
        query = (
            select(ASSEMBLIES.c.estimator, ASSEMBLIES.c.tokens_expected, actual)
            .join(CALLS, calls.manifest_id == ASSEMBLIES.c.manifest_id)
            .where(ASSEMBLIES.c.model == model, ASSEMBLIES.c.provenance == "assembled", calls.state == "committed")
            .where(ASSEMBLIES.c.run_id.in_(own))
            .where(*(func.coalesce(calls.request_id, "").not_like(pattern) for pattern in _SIMULATED))
            .order_by(ASSEMBLIES.c.assembly.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            found = connection.execute(query).all()
        return tuple(
            UsageSample(estimator=estimator, expected_tokens=int(expected), actual_tokens=int(counted))
            for estimator, expected, counted in reversed(found)
        )
