"""A program that has imported what the command line needs, and forks itself for each command that it is told.

A command is then a process of its own, with its own folder, environment and end, and spends no second on imports.
It reads an order in JSON a line and says the id of the process, then how it ended. What it shares with the others is
the seed of hashes: tests of a start, and of an order that must not hang on the seed, call `python -m aircoding`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import sys

LIBRARIES = ("alembic.command", "dbos", "jinja2", "networkx", "rich", "uvicorn")


def warm() -> None:
    """Import the package and the libraries that it imports when it first needs them."""
    import aircoding

    for module in pkgutil.walk_packages(aircoding.__path__, "aircoding."):
        if module.name != "aircoding.__main__" and ".migrations." not in module.name:
            importlib.import_module(module.name)
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def become(order: dict[str, object]) -> None:
    """Be the process that an order names: `python -m MODULE ARGUMENTS` in its folder and environment."""
    for number, (name, flags) in enumerate(
        ((os.devnull, os.O_RDONLY), *((str(order[out]), os.O_WRONLY | os.O_APPEND) for out in ("stdout", "stderr")))
    ):
        opened = os.open(name, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(str(order["cwd"]))
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]
    more = os.environ.get("PYTHONPATH")
    sys.path[:1] = [str(order["cwd"]), *(more.split(os.pathsep) if more else ())]
    sys.argv = [str(order["module"]), *order["arguments"]]  # type: ignore[misc]
    runpy.run_module(str(order["module"]), run_name="__main__", alter_sys=True)


def serve() -> None:
    """Start a process for each order and wait for it; a child returns from here and ends as any program does."""
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            become(order)
            return
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    warm()
    print("ready", flush=True)
    serve()
