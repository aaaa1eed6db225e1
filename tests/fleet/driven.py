"""A process that drives a run and kills itself: `python -m fleet.driven ROOT [EVENT]`, EVENT the type to die at."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from fleet.worlds import open_fleet

from aircoding.app.project import open_project
from aircoding.fleet.drive import drive
from aircoding.fleet.rule_judge import judge_rules
from aircoding.records.events import Event


async def live(root: Path, deadly: str | None) -> str:
    """Drive the run; die right after the first new event of the deadly type is committed."""
    run = open_fleet(root)
    if run.events("task.dispatched"):
        run.resumed()

    def watch(event: Event) -> None:
        if event.type == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    deps, engine = run.durable(watch=watch)
    engine.launch()
    try:
        stop = asyncio.Event()
        if open_project(root).settings.conflicts.judge:
            await judge_rules(deps, stop=stop)
        return await drive(deps, stop=stop)
    finally:
        await engine.suspend()
        engine.close()
        run.store.close()


if __name__ == "__main__":
    print(asyncio.run(live(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)))
