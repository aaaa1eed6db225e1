"""Try a back end once: what a confined command must be able to do, then what it must not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from aircoding.errors import AirError
from aircoding.records.work import CommandRequest
from aircoding.workspace.backend import Backend, Place
from aircoding.workspace.process import command_environment, shell_path

__all__ = ["canary"]

_SECONDS = 20.0
_PROGRAM = """
import json, os, signal, socket, sys
secret, outside, port, unix, other = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
def works(act):
    try:
        act()
    except OSError:
        return False
    return True
works(lambda: open("written", "w").close())
works(lambda: open(outside, "w").close())
print(json.dumps({
    "read": works(lambda: open(secret).close()),
    "network": works(lambda: socket.create_connection(("127.0.0.1", port), 2).close()),
    "unix": works(lambda: socket.socket(socket.AF_UNIX).connect(unix)),
    "signals": works(lambda: os.kill(other, 0)),
    "traces": works(lambda: open(f"/proc/{other}/environ").close()),
}))
"""


def canary(backend: Backend, *, signals_held: bool = True) -> str:
    """Try to do what must not be possible; return what is wrong, or nothing.

    Args:
        backend: what is tried.
        signals_held: whether it claims to keep signals from processes outside.
    """
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="air-canary-")))
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        local = stack.enter_context(socket.socket(socket.AF_UNIX))
        local.bind(str(scratch / "socket"))
        local.listen()
        inside, secret, outside, view = (scratch / name for name in ("inside", "secret", "outside", "view"))
        inside.mkdir()
        view.mkdir()
        secret.write_text("canary", encoding="ascii")
        place = Place(os.path.realpath(inside), os.path.realpath(inside), shell_path(), view)
        facts = (secret, outside, listening.getsockname()[1], scratch / "socket", os.getpid())
        program = [sys.executable, "-I", "-S", "-c", _PROGRAM, *(str(fact) for fact in facts)]
        try:
            prepared = backend.prepare(CommandRequest(command=""), program, place)
            done = subprocess.run(
                prepared.arguments,
                cwd=inside,
                env=command_environment(place.path, prepared.home, prepared.env),
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, AirError, subprocess.TimeoutExpired) as error:
            return f"{backend.name} does not start here: {error}"
        if done.returncode != 0:
            return f"{backend.name} does not start here: {done.stderr.strip()[:300]}"
        found = json.loads(done.stdout)
        faults = (
            (not (inside / "written").exists(), "a command cannot write in its worktree"),
            (outside.exists(), "a command can write outside its worktree"),
            (found["read"], "a command can read what it must not see"),
            (found["network"], "a command has a network"),
            (found["unix"], "a command can connect to a socket of this machine"),
            (found["signals"] and signals_held, "a command can signal the processes of this machine"),
            (found["traces"], "a command can look into the processes of this machine"),
        )
        return next((f"{backend.name} does not hold: {fault}" for holds, fault in faults if holds), "")
