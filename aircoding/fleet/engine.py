"""Durable workflows on DBOS; the only module that knows it (facts measured 2026-11, DBOS 3.4).

Our rows are the truth; the engine only makes sure that unfinished workflows run again. It keeps ids and digests, never
bodies. It is launched inside the running event loop, so that recovered workflows run on that loop too, and only while
the run's lock is held: a second process with the same executor id would run the same workflows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aircoding.errors import InternalError, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["WORKFLOW_VERSION", "DirectEngine", "DurableEngine", "Workflow"]

Workflow = Callable[..., Awaitable[Any]]

WORKFLOW_VERSION = "1"
"""Changed when the steps of a workflow change, so that an older run is not resumed with other steps."""

_POLL_SECONDS = 0.05
_ENDED = frozenset({"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})
_DATABASE_FAULTS = frozenset({"OperationalError", "DatabaseError", "DBAPIError", "InterfaceError"})
"""How a fault of the engine's own database is named in a workflow's row (our store's faults have their own name)."""


class DurableEngine:
    """Implements `ports.Engine`. `database` is a SQLite path or a PostgreSQL URL.

    One process has one of them at a time: DBOS is a singleton.
    """

    def __init__(self, database: str, *, executor_id: str, workflows: Mapping[str, Workflow]) -> None:
        self._database = database
        self._executor_id = executor_id
        self._bodies = workflows
        self._registered: dict[str, Any] = {}
        self._handles: dict[str, Any] = {}
        self._waits: dict[str, asyncio.Task[Any]] = {}
        self._active: dict[str, asyncio.Task[Any]] = {}
        self._suspended = False

    def launch(self) -> None:
        """Start the engine in the running loop; unfinished workflows of this executor go on at once."""
        asyncio.get_running_loop()
        _keep_silent()
        from dbos import DBOS, DBOSPortableJSONSerializer

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
            self._registered[name] = DBOS.workflow(name=name)(self._tracked(name, body))
        try:
            DBOS.launch()
        except Exception as error:
            raise self._fault(error) from error

    def close(self) -> None:
        """Stop the engine, after `suspend`; what is unfinished goes on at the next launch."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)

    async def suspend(self) -> None:
        """Stop all workflows here, each where it waits; they stay on record as unfinished."""
        self._suspended = True
        waits, active = list(self._waits.values()), list(self._active.values())
        for task in (*waits, *active):
            task.cancel()
        await asyncio.gather(*waits, *active, return_exceptions=True)

    async def step(self, name: str, body: Callable[[], Awaitable[Any]]) -> Any:
        """Run a step of the present workflow, or return what it gave before.

        Raises:
            StoreError: the engine's database cannot do it.
        """
        from dbos import DBOS

        async def run() -> Any:  # DBOS asks the function itself whether it is async: a lambda would be run as it is
            return await body()

        with self._translated():
            return await DBOS.run_step_async({"name": name}, run)

    async def start(self, workflow: str, key: str, *arguments: str) -> None:
        """Start a workflow under a deterministic id; one that runs or ran already is left alone."""
        from dbos import DBOS, SetWorkflowID

        with self._translated(), SetWorkflowID(key):
            self._handles[key] = await DBOS.start_workflow_async(self._registered[workflow], *arguments)

    async def ended(self, key: str) -> bool:
        """Whether a workflow of that id has ended, well or not; False when there is none."""
        from dbos import DBOS

        with self._translated():
            status = await DBOS.get_workflow_status_async(key)
        return status is not None and status.status in _ENDED

    async def result(self, key: str) -> Any:
        """Wait for a workflow and return what it returned, or raise what it raised.

        Raises:
            InternalError: it was not started here, or it was cancelled.
            StoreError: it ended because the engine's database could not be written, now or in an earlier process.
        """
        if key not in self._handles:
            raise InternalError(f"workflow {key} was not started here")
        try:
            with self._translated():
                return await self._handles[key].get_result(polling_interval_sec=_POLL_SECONDS)
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is not None and own.cancelling():
                raise
            raise InternalError(f"workflow {key} was cancelled") from None

    async def first(self, keys: Iterable[str]) -> str:
        """Wait until one of the workflows has ended, well or not, and return its key."""
        waits = {key: self._waits.get(key) or asyncio.create_task(self.result(key)) for key in sorted(keys)}
        if not waits:
            raise InternalError("there is no workflow to wait for")
        self._waits.update(waits)
        await asyncio.wait(waits.values(), return_when=asyncio.FIRST_COMPLETED)
        done = next(key for key, wait in waits.items() if wait.done())
        wait = self._waits.pop(done)
        if not wait.cancelled():
            wait.exception()  # looked at here: whoever wants it asks for the result
        return done

    async def cancel(self, key: str) -> None:
        """Cancel a workflow and its children; what they wait for ends at once."""
        from dbos import DBOS

        family, queue = [key], [key]
        with self._translated():
            while queue:
                children = await DBOS.list_workflows_async(parent_workflow_id=queue.pop(), load_input=False)
                queue += [child.workflow_id for child in children]
                family += [child.workflow_id for child in children]
            await DBOS.cancel_workflow_async(key, cancel_children=True)
        active = [self._active[one] for one in family if one in self._active]
        for task in active:
            task.cancel()
        await asyncio.gather(*active, return_exceptions=True)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise StoreError where the engine's database failed; an error that it kept is known by its name."""
        from dbos import PortableWorkflowError
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except SQLAlchemyError as error:
            raise self._fault(error) from error
        except PortableWorkflowError as error:
            if error.name not in _DATABASE_FAULTS:
                raise
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> StoreError:
        where = self._database.rpartition("/")[2].partition("?")[0]
        return StoreError(
            f"the engine's database {where} cannot be used: {(str(error).splitlines() or [''])[0]}",
            hint="free some space, or make its folder writable, then `aircoding resume`",
            code="store.engine",
        )

    def _tracked(self, name: str, body: Workflow) -> Workflow:
        """Give a workflow a function of its own, under a qualified name that no other has, and know its task."""

        async def workflow(*arguments: str) -> Any:
            from dbos import DBOS

            key, task = str(DBOS.workflow_id), asyncio.current_task()
            if self._suspended or task is None:
                raise asyncio.CancelledError
            self._active[key] = task
            try:
                return await body(*arguments)
            finally:
                del self._active[key]

        workflow.__name__ = name
        workflow.__qualname__ = f"aircoding.{name}"
        return workflow


def _keep_silent() -> None:
    """Give DBOS's logger a handler before DBOS is imported.

    Without one it writes to whatever the error stream is at that moment, and flushes it at every launch: a process that
    has closed that stream since could not launch again.
    """
    logger = logging.getLogger("dbos")
    logger.setLevel(logging.CRITICAL)
    if not logger.handlers:
        logger.propagate = False
        logger.addHandler(logging.NullHandler())


def _sqlite_engine(path: str) -> Engine:
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
    def _configure(connection: Any, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


class DirectEngine:
    """The same without durability: for one session outside a run, and for tests of what stands above."""

    def __init__(self, workflows: Mapping[str, Workflow] | None = None) -> None:
        self._bodies = dict(workflows or {})
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def use(self, workflows: Mapping[str, Workflow]) -> None:
        """Take in workflows that need the engine themselves, and so are made after it."""
        self._bodies.update(workflows)

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

    async def ended(self, key: str) -> bool:
        """Whether a workflow was started and has ended."""
        return key in self._tasks and self._tasks[key].done()

    async def result(self, key: str) -> Any:
        """Wait for a workflow."""
        return await self._tasks[key]

    async def first(self, keys: Iterable[str]) -> str:
        """Wait until one of the workflows has ended."""
        tasks = {key: self._tasks[key] for key in sorted(keys)}
        await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        return next(key for key, task in tasks.items() if task.done())

    async def cancel(self, key: str) -> None:
        """Cancel a workflow; one that waits for it is cancelled with it."""
        if key in self._tasks:
            self._tasks[key].cancel()
            await asyncio.gather(self._tasks[key], return_exceptions=True)

    async def suspend(self) -> None:
        """Stop all workflows."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
