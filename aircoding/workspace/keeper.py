"""Stand between us and a command: a program of its own that lets nothing of the command outlive it, or us.

Run as a script: `python -I -S keeper.py DATA_BYTES FILE_BYTES CPU_SECONDS PROCESSES INPUT PROGRAM ARGUMENT...`. It sets
the limits, starts the program in a session of its own with the file INPUT as its standard input, and adopts what the
program leaves running. When the program ends, or when
standard input does (the other end is ours: it closes when we close it, and when we are killed), every descendant is
killed. It imports the standard library only and no part of the package, and runs one thread, so that forking is safe.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time

__all__ = ["descendants", "main", "process_group"]

_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: orphans below us become our children, also those that left their session."""
_CGROUPS = "/sys/fs/cgroup"
_ROUNDS = 200
_PAUSE_SECONDS = 0.01


def main(arguments: list[str]) -> int:
    """Run the program to its end and return its exit code; 128 and the signal's number when one ended it."""
    data_bytes, file_bytes, cpu_seconds, processes = (int(argument) for argument in arguments[:4])
    group = process_group(processes)
    _adopt_orphans()
    wake, waker = os.pipe()
    for end in (wake, waker):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        limits = [
            (resource.RLIMIT_DATA, data_bytes),
            (resource.RLIMIT_FSIZE, file_bytes),
            (resource.RLIMIT_CPU, cpu_seconds),
            (resource.RLIMIT_CORE, 1),  # too small for a file, and 1 keeps the kernel from piping it to a program
        ]
        if group is None:
            limits.append((resource.RLIMIT_NPROC, processes + _tasks_of_user()))
        _become(arguments[5:], arguments[4], limits, group)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    status: int | None = None
    while status is None:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            status = _reap(child)
        elif not os.read(0, 4096):
            break
    _end_descendants(child, group)
    if status is None:
        return 128 + signal.SIGKILL
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _adopt_orphans() -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def process_group(processes: int) -> str | None:
    """Make a control group that holds at most so many processes and threads; None where none can be made.

    It alone counts what one command started, and binds root. It is removed when the command has ended.
    """
    for parent in _group_parents():
        group = os.path.join(parent, f"air-{os.getpid()}")
        with contextlib.suppress(OSError):
            _remove_stale_groups(parent)
            os.mkdir(group)
            try:
                _write(group, "pids.max", processes)
            except OSError:
                os.rmdir(group)
                raise
            return group
    return None


def _group_parents() -> list[str]:
    """Return where a group with a limit of processes may be made: version 1 has a tree for them, version 2 one for all.

    In version 2 processes lie in leaves only, so the new group stands beside our own.
    """
    found: list[str] = []
    with contextlib.suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if "pids" in controllers.split(","):
                found += [f"{_CGROUPS}/pids{path.rstrip('/')}", f"{_CGROUPS}/pids"]
            elif not controllers:
                own = f"{_CGROUPS}{path.rstrip('/')}"
                found += [place for place in (os.path.dirname(own), own) if _gives_pids(place)]
    return [place for place in dict.fromkeys(found) if os.access(os.path.join(place, "cgroup.procs"), os.W_OK)]


def _gives_pids(place: str) -> bool:
    with contextlib.suppress(OSError), open(f"{place}/cgroup.subtree_control", encoding="ascii") as file:
        return "pids" in file.read().split()
    return False


def _remove_stale_groups(parent: str) -> None:
    """Remove what keepers that were killed left behind; a group that holds a process stays."""
    for name in os.listdir(parent):
        if name.startswith("air-") and not os.path.exists(f"/proc/{name[4:]}"):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(parent, name))


def _write(group: str, name: str, value: int) -> None:
    with open(os.path.join(group, name), "w", encoding="ascii") as file:
        file.write(f"{value}")


def _tasks_of_user() -> int:
    """Count the threads of this user, which the limit of processes counts all together."""
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _become(arguments: list[str], input_file: str, limits: list[tuple[int, int]], group: str | None) -> None:
    """Turn the forked process into the program; it cannot return."""
    try:
        os.setsid()
        os.dup2(os.open(input_file, os.O_RDONLY), 0)
        if group is not None:
            _write(group, "cgroup.procs", 0)
        for limit, most in limits:
            hard = resource.getrlimit(limit)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (least, least))
        os.execvp(arguments[0], arguments)  # noqa: S606 - an argument list
    except OSError as error:
        os.write(2, f"{arguments[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _reap(wanted: int) -> int | None:
    """Collect what has ended; return the status of the process that was wanted, when it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                break
            if process == wanted:
                found = status
    return found


def _end_descendants(session: int, group: str | None) -> None:
    """Kill until nothing is left: what is killed may have started more meanwhile, where no group forbids it."""
    if group is not None:
        with contextlib.suppress(OSError):
            _write(group, "pids.max", 0)
    try:
        _kill_descendants(session)
    finally:
        if group is not None:
            with contextlib.suppress(OSError):
                os.rmdir(group)


def _kill_descendants(session: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)  # where no /proc lists the others, at least these
    for _ in range(_ROUNDS):
        for process in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        _reap(0)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        time.sleep(_PAUSE_SECONDS)


def descendants(root: int) -> list[int]:
    """Return all processes below a process, nearest first; none where the system has no /proc."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    found = [root]
    for parent in found:
        found.extend(process for process, its_parent in parents.items() if its_parent == parent)
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
