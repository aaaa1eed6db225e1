"""Durable workflows on DBOS; the only module that knows it (facts measured 2026-11, DBOS 3.4).

Our rows are the truth; the engine only makes sure that unfinished workflows run again. It keeps ids and digests, never
bodies. It is launched inside the running event loop, so that recovered workflows run on that loop too, and only while
the run's lock is held: a second process with the same executor id would run the same workflows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from aircoding.errors import InternalError

__all__ = ["WORKFLOW_VERSION", "DirectEngine", "DurableEngine", "Workflow"]

Workflow = Callable[..., Awaitable[Any]]

WORKFLOW_VERSION = "1"
"""Changed when the steps of a workflow change, so that an older run is not resumed with other steps."""

_POLL_SECONDS = 0.05


class DurableEngine:
    """Implements `ports.Engine`. `database` is a SQLite path or a PostgreSQL URL."""

    def __init__(self, database: str, *, executor_id: str, workflows: dict[str, Workflow]) -> None:
        self._database = database
        self._executor_id = executor_id
        self._bodies = workflows
        self._registered: dict[str, Any] = {}
        self._handles: dict[str, Any] = {}
        self._waits: dict[str, asyncio.Task[Any]] = {}

    def launch(self) -> None:
        """Start the engine in the running loop; unfinished workflows of this executor go on at once."""
        asyncio.get_running_loop()
        from dbos import DBOS, DBOSPortableJSONSerializer

        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        config: dict[str, Any] = {
            "name": "aircoding",
            "executor_id": self._executor_id,
            "application_version": WORKFLOW_VERSION,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "CRITICAL",
            "notification_listener_polling_interval_sec": _POLL_SECONDS,
        }
        if "://" in self._database:
            config["system_database_url"] = self._database
        else:
            Path(self._database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            config["system_database_url"] = f"sqlite:///{self._database}"
            config["system_database_engine"] = _sqlite_engine(self._database)
        DBOS(config=config)  # type: ignore[arg-type]
        for name, body in self._bodies.items():
            self._registered[name] = DBOS.workflow(name=name)(_named(name, body))
        DBOS.launch()

    def close(self) -> None:
        """Stop the engine; what is unfinished stays on record and goes on at the next launch."""
        from dbos import DBOS

        for wait in self._waits.values():
            wait.cancel()
        DBOS.destroy(destroy_registry=True)

    async def step(self, name: str, body: Callable[[], Awaitable[Any]]) -> Any:
        """Run a step of the present workflow, or return what it gave before."""
        from dbos import DBOS

        return await DBOS.run_step_async({"name": name}, body)

    async def start(self, workflow: str, key: str, *arguments: str) -> None:
        """Start a workflow under a deterministic id; one that runs or ran already is left alone."""
        from dbos import DBOS, SetWorkflowID

        with SetWorkflowID(key):
            self._handles[key] = await DBOS.start_workflow_async(self._registered[workflow], *arguments)

    async def result(self, key: str) -> Any:
        """Wait for a workflow and return what it returned."""
        if key not in self._handles:
            raise InternalError(f"workflow {key} was not started here")
        return await self._handles[key].get_result(polling_interval_sec=_POLL_SECONDS)

    async def first(self, keys: Iterable[str]) -> str:
        """Wait until one of the workflows has ended, well or not, and return its key."""
        waits = {key: self._waits.get(key) or asyncio.create_task(self.result(key)) for key in keys}
        self._waits.update(waits)
        if not waits:
            raise InternalError("there is no workflow to wait for")
        await asyncio.wait(waits.values(), return_when=asyncio.FIRST_COMPLETED)
        return next(key for key in sorted(waits) if waits[key].done())

    async def cancel(self, key: str) -> None:
        """Cancel a workflow and its children."""
        from dbos import DBOS

        await DBOS.cancel_workflow_async(key, cancel_children=True)


def _named(name: str, body: Workflow) -> Workflow:
    """Give a workflow a function of its own, under a qualified name that no other has."""

    async def workflow(*arguments: str) -> Any:
        return await body(*arguments)

    workflow.__name__ = name
    workflow.__qualname__ = f"aircoding.{name}"
    return workflow


def _sqlite_engine(path: str) -> Any:
    """Return a SQLite engine with WAL and immediate transactions; DBOS's own has neither.

    `synchronous=NORMAL` is enough: after a power loss a step that the engine forgot looks its own
    row up again.
    """
    import sqlalchemy as sa

    engine = sa.create_engine(
        f"sqlite:///{path}",
        pool_size=20,
        max_overflow=0,
        pool_timeout=60,
        connect_args={"check_same_thread": False},
    )

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


class DirectEngine:
    """The same without durability: for one session outside a run, and for tests of what stands above."""

    def __init__(self, workflows: dict[str, Workflow] | None = None) -> None:
        self._bodies = workflows or {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    async def step(self, name: str, body: Callable[[], Awaitable[Any]]) -> Any:
        """Run the body."""
        del name
        return await body()

    async def start(self, workflow: str, key: str, *arguments: str) -> None:
        """Start a workflow once."""
        if key not in self._tasks:
            self._tasks[key] = asyncio.ensure_future(self._run(workflow, arguments))

    async def _run(self, workflow: str, arguments: tuple[str, ...]) -> Any:
        return await self._bodies[workflow](*arguments)

    async def result(self, key: str) -> Any:
        """Wait for a workflow."""
        return await self._tasks[key]

    async def first(self, keys: Iterable[str]) -> str:
        """Wait until one of the workflows has ended."""
        tasks = {key: self._tasks[key] for key in keys}
        await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        return next(key for key in sorted(tasks) if tasks[key].done())

    async def cancel(self, key: str) -> None:
        """Cancel a workflow."""
        if key in self._tasks:
            self._tasks[key].cancel()
