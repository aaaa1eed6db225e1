"""The system call filter of confined commands, as a program for the kernel (classic BPF). Pure: bytes from a choice.

What the file system rules of a back end cannot see is refused here: sockets, namespaces and mounts, other processes'
memory, shared memory of the machine, keyrings, and calls that only widen what of the kernel can be attacked. Numbers
are those of Linux 6.18's tables; a number that an older kernel lacks does no harm.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

__all__ = ["ARCHITECTURES", "Sockets", "filter_program"]


class Sockets(Enum):
    """What a command may do with sockets.

    PAIRS: no connection at all, since a filter cannot tell a socket of the machine (a container engine's) from one of
    the command's own. NETWORK: internet sockets, no Unix ones. OWN: the back end gives a network of its own.
    """

    PAIRS = "pairs"
    NETWORK = "network"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class _Test:
    """Holds when `argument & mask` is (`equal`) or is not the value; only the low 32 bits count, as in the kernel."""

    argument: int
    value: int
    equal: bool = True
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Refuse a system call with an error, when all tests hold."""

    call: str
    error: int = errno.EPERM
    tests: tuple[_Test, ...] = ()


ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine names (`os.uname`) and their AUDIT_ARCH. Elsewhere there is no filter."""

_NUMBERS = {
    # name: (x86_64, aarch64); None: there is none
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "iopl": (172, None),
    "ioperm": (173, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}
_CLONE_NEW = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET."""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQPACKET, _TYPE_MASK = 1, 5, 0xF
_X32_BIT = 0x40000000
_SHARED = ("shmget", "shmat", "semget", "msgget", "mq_open")
_ATTRIBUTES = (
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
    *("setxattrat", "removexattrat"),
)
_TESTED = {"clone", "clone3", "ioctl", "prlimit64", "setpriority", "ioprio_set", "socket", "socketpair", "connect"}

_LOAD, _JUMP_EQUAL, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_AT_NUMBER, _AT_ARCHITECTURE, _AT_ARGUMENTS = 0, 4, 16
_Instruction = tuple[int, int, int, int]


def filter_program(machine: str, sockets: Sockets) -> bytes:
    """Return the filter for a machine.

    Calls of another architecture end the process, since their numbers mean other things. What is not named here is
    allowed.

    Raises:
        KeyError: the machine is not in `ARCHITECTURES`.
    """
    column = list(ARCHITECTURES).index(machine)
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _AT_ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _AT_NUMBER),
    ]
    if machine == "x86_64":  # the x32 calls of the same architecture pass by every number below
        code += [(_JUMP_SET, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    grouped: dict[str, list[_Refusal]] = {}
    for refusal in _refusals(sockets):
        grouped.setdefault(refusal.call, []).append(refusal)
    for call, refusals in grouped.items():
        number = _NUMBERS[call][column]
        if number is not None:
            body = _body(refusals)
            code += [(_JUMP_EQUAL, 0, len(body), number), *body]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _body(refusals: Iterable[_Refusal]) -> list[_Instruction]:
    """Return what is done with one system call: the first refusal whose tests all hold, else it is allowed."""
    body: list[_Instruction] = []
    for refusal in refusals:
        tests = [_tested(test) for test in refusal.tests]
        left = sum(len(test) for test in tests)
        for test in tests:
            left -= len(test)
            (code, yes, no, value) = test[-1]
            beyond = left + 1  # over the other tests and the return
            body += [*test[:-1], (code, yes * beyond, no * beyond, value)]
        body.append((_RETURN, 0, 0, _ERROR | refusal.error))
        if not refusal.tests:
            return body
    return [*body, (_RETURN, 0, 0, _ALLOW)]


def _tested(test: _Test) -> list[_Instruction]:
    """Return a test; its last instruction marks with 1 which way leads past the refusal."""
    load = (_LOAD, 0, 0, _AT_ARGUMENTS + 8 * test.argument)
    masked = [(_AND, 0, 0, test.mask)] if test.mask != 0xFFFFFFFF else []
    return [load, *masked, (_JUMP_EQUAL, int(not test.equal), int(test.equal), test.value)]


def _refusals(sockets: Sockets) -> Iterator[_Refusal]:
    yield from (_Refusal(call) for call in _NUMBERS if call not in {*_TESTED, *_SHARED, *_ATTRIBUTES})
    yield from (_Refusal("clone", tests=(_Test(0, flag, mask=flag),)) for flag in _CLONE_NEW)
    yield _Refusal("clone3", errno.ENOSYS)  # its flags lie in memory; C libraries then use `clone`
    yield from (_Refusal("ioctl", tests=(_Test(1, request),)) for request in (_TIOCSTI, _TIOCLINUX))
    yield _Refusal("prlimit64", tests=(_Test(0, 0, equal=False),))
    yield _Refusal("setpriority", tests=(_Test(1, 0, equal=False),))
    yield _Refusal("ioprio_set", tests=(_Test(1, 0, equal=False),))
    if sockets is not Sockets.OWN:
        yield from (_Refusal(call, errno.EACCES) for call in _SHARED)
        yield from (_Refusal(call, errno.EOPNOTSUPP) for call in _ATTRIBUTES)
        yield from _socket_refusals(sockets)


def _socket_refusals(sockets: Sockets) -> Iterator[_Refusal]:
    # A datagram socket could be sent from to any path, with an address that no filter sees.
    datagram = tuple(_Test(1, kind, equal=False, mask=_TYPE_MASK) for kind in (_STREAM, _SEQPACKET))
    yield _Refusal("socketpair", errno.EACCES, _none_of([_UNIX]))
    yield _Refusal("socketpair", errno.EACCES, datagram)
    if sockets is Sockets.PAIRS:
        yield _Refusal("socket", errno.EACCES, _none_of([_UNIX]))
        yield _Refusal("socket", errno.EACCES, datagram)
        yield _Refusal("connect", errno.EACCES)
    else:
        yield _Refusal("socket", errno.EACCES, _none_of([_INET, _INET6, _NETLINK]))
        yield _Refusal("socket", errno.EACCES, (_Test(0, _NETLINK), _Test(2, 0, equal=False)))


def _none_of(families: Sequence[int]) -> tuple[_Test, ...]:
    return tuple(_Test(0, family, equal=False) for family in families)
