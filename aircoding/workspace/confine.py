"""Confine this process with Landlock and a system call filter, then become a command. A program of its own.

Run as a script: `python -I -S confine.py ORDER PROGRAM ARGUMENT...`. ORDER is a JSON file (`landlock`): the ruleset's
access bits and its size, what each path grants, and the filter. It imports the standard library only, no part of the
package, and runs one thread: done in a process that was forked from a threaded one, this could hang. If anything
fails, nothing is run.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from typing import Any

__all__ = ["FAILED", "main"]

FAILED = 125
"""The exit code when the command could not be confined, and so was not run."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Landlock's system calls, the same on all architectures."""
_PATH_BENEATH = 1
_SET_DEATH_SIGNAL, _SET_SECCOMP, _DROP_BOUND, _SET_NO_NEW_PRIVILEGES, _AMBIENT = 1, 22, 24, 38, 47
_AMBIENT_CLEAR_ALL, _SECCOMP_FILTER = 4, 2
_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_KILL = 9
_INSTRUCTION_BYTES = 8
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("granted", ctypes.c_uint64), ("place", ctypes.c_int32)]


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def main(arguments: list[str]) -> int:
    """Confine and become the program; returns only when that fails."""
    try:
        with open(arguments[0], encoding="utf-8", errors="surrogateescape") as file:
            order = json.load(file)
        _confine(order)
    except OSError as error:
        os.write(2, f"the command could not be confined and was not run: {error}\n".encode())
        return FAILED
    try:
        os.execvp(arguments[1], arguments[1:])  # noqa: S606 - an argument list
    except OSError as error:
        os.write(2, f"{arguments[1]}: {error.strerror}\n".encode())
        return 127


def _confine(order: dict[str, Any]) -> None:
    os.closerange(3, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") > 0 else 65_536)
    _drop_capabilities()
    _control(_SET_NO_NEW_PRIVILEGES, 1)
    _control(_SET_DEATH_SIGNAL, _KILL)
    _restrict(order)
    if order["filter"]:
        code = bytes.fromhex(order["filter"])
        held = ctypes.create_string_buffer(code, len(code))
        program = _Filter(len(code) // _INSTRUCTION_BYTES, ctypes.cast(held, ctypes.c_void_p))
        _control(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program))


def _drop_capabilities() -> None:
    """Root keeps its user and loses its powers. Where there is nothing to drop the kernel refuses, which is right."""
    _LIBC.prctl(_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        _LIBC.prctl(_DROP_BOUND, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _checked(_LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def _restrict(order: dict[str, Any]) -> None:
    attributes = _Ruleset(order["files"], order["network"], order["scoped"])
    ruleset = _call(_CREATE_RULESET, ctypes.byref(attributes), order["size"], 0)
    for path, granted, granted_on_file in order["paths"]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # it is gone, or never was: then there is nothing to grant
        folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = _PathRule(granted if folder else granted_on_file, place)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(place)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _call(number: int, *arguments: Any) -> int:
    return _checked(_LIBC.syscall(number, *map(_wide, arguments)), f"system call {number}")


def _control(option: int, *arguments: Any) -> None:
    given = [*arguments, *([0] * (4 - len(arguments)))]
    _checked(_LIBC.prctl(option, *map(_wide, given)), f"prctl {option}")


def _wide(argument: Any) -> Any:
    """The kernel takes whole registers; ctypes would fill half of one."""
    return ctypes.c_ulong(argument) if isinstance(argument, int) else argument


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
