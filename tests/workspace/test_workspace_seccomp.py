"""The filter's program, run by an interpreter of the tests: also for a machine that is not this one."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.workspace.seccomp import ARCHITECTURES, Sockets, filter_program

ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NUMBERS = {
    "x86_64": {"socket": 41, "connect": 42, "clone": 56, "clone3": 435, "ptrace": 101, "openat": 257, "ioctl": 16},
    "aarch64": {"socket": 198, "connect": 203, "clone": 220, "clone3": 435, "ptrace": 117, "openat": 56, "ioctl": 29},
}


def answer(code: bytes, number: int, architecture: int, arguments: tuple[int, ...] = ()) -> int:
    """Run a filter as the kernel does; a jump out of it or past its end fails."""
    given = (*arguments, *([0] * (6 - len(arguments))))
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(one & (2**64 - 1) for one in given))
    program = list(struct.iter_unpack("=HBBI", code))
    held, at = 0, 0
    while True:
        operation, yes, no, value = program[at]
        at += 1
        if operation == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            held &= value
        elif operation == 0x15:
            at += yes if held == value else no
        elif operation == 0x45:
            at += yes if held & value else no
        elif operation == 0x06:
            return int(value)
        else:
            raise AssertionError(operation)


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("sockets", Sockets)
def test_calls_are_judged_by_their_arguments(machine: str, sockets: Sockets) -> None:
    code, own, numbers = filter_program(machine, sockets), ARCHITECTURES[machine], NUMBERS[machine]

    def judged(name: str, *arguments: int) -> int:
        return answer(code, numbers[name], own, arguments)

    refused = ERROR | errno.EACCES
    assert judged("openat") == ALLOW
    assert judged("ptrace") == ERROR | errno.EPERM
    assert judged("clone3") == ERROR | errno.ENOSYS
    assert judged("clone", 0x01200011) == ALLOW
    assert judged("clone", 0x10000011) == ERROR | errno.EPERM
    assert judged("ioctl", 0, 0x5412) == ERROR | errno.EPERM
    assert judged("ioctl", 0, 0xDEAD_0000_5412) == ERROR | errno.EPERM
    assert judged("ioctl", 0, 0x5401) == ALLOW
    internet, local, datagram = judged("socket", 2, 1), judged("socket", 1, 0x80801), judged("socket", 1, 2)
    expected = {
        Sockets.OWN: (ALLOW, ALLOW, ALLOW, ALLOW),
        Sockets.NETWORK: (ALLOW, refused, refused, ALLOW),
        Sockets.PAIRS: (refused, ALLOW, refused, refused),
    }
    assert (internet, local, datagram, judged("connect")) == expected[sockets]


@given(
    st.sampled_from(sorted(ARCHITECTURES)),
    st.sampled_from(Sockets),
    st.integers(0, 500) | st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 2**64 - 1), max_size=6).map(tuple),
)
@settings(max_examples=200, deadline=None)
def test_every_call_gets_an_answer_and_other_architectures_end(
    machine: str, sockets: Sockets, number: int, arguments: tuple[int, ...]
) -> None:
    code = filter_program(machine, sockets)
    found = answer(code, number, ARCHITECTURES[machine], arguments)
    assert found == ALLOW or found & 0xFFFF0000 == ERROR
    if machine == "x86_64" and number & 0x40000000:
        assert found == ERROR | errno.ENOSYS
    assert answer(code, number, 0x40000003, arguments) == KILL
