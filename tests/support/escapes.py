"""Ways out of a sandbox, each a small Python program that prints ESCAPED when it gets through.

A program finds what is planted outside in `F` (facts) and in `P` (paths). `control`: without a sandbox it works on the
machine of the tests, which shows that the test can fail; where it is not, something else stops it there or it would
harm the machine. `gap`: back ends that cannot stop it by design, with the words of their report that say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ESCAPES", "PRELUDE", "Escape"]

PRELUDE = r"""
import ctypes, errno, fcntl, json, mmap, os, platform, shutil, signal, socket, stat, struct
import subprocess, sys, threading, time
F = json.loads(os.environ["FACTS"])
SECRET, OUT, ROOT, COMMON, HOME = F["secret"], F["outside"], F["root"], F["common"], F["home"]
X86 = platform.machine() == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long  # an address, which as an `int` may look like an error
def call(x86, arm, *a):
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in a]
    done = libc.syscall(ctypes.c_long(x86 if X86 else arm), *wide)
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done
def escaped(holds=True):
    print("ESCAPED" if holds else "held")
def got(data):
    escaped(b"planted" in (data.encode() if isinstance(data, str) else data))
def tell(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(3)
        s.connect(address); s.send(b"out")
        if kind == socket.SOCK_DGRAM and family != socket.AF_UNIX:
            time.sleep(0.1); s.send(b"out")  # that nobody was there for the first is told now
        escaped()
"""


@dataclass(frozen=True, slots=True)
class Escape:
    """One way. `network`: also tried by a command that was given a network."""

    name: str
    program: str
    control: bool = True
    network: bool = False
    gap: Mapping[str, str] = field(default_factory=dict)


_METADATA = {"landlock": "modes and times"}
_SEEN = {"landlock": "names and command lines"}

ESCAPES = (
    # Writing outside.
    Escape("write by an absolute path", 'open(OUT + "/new", "w").close(); escaped()'),
    Escape("write by dots", 'open(os.path.relpath(OUT, ".") + "/new", "w").close(); escaped()'),
    Escape("append to a file outside", 'open(SECRET, "a").write("x"); escaped()'),
    Escape("empty a file outside", "os.truncate(SECRET, 0); escaped()"),
    Escape("empty it by opening", "os.open(SECRET, os.O_RDONLY | os.O_TRUNC); escaped()"),
    Escape("write through a link", 'os.symlink(OUT, "way"); open("way/new", "w").close(); escaped()'),
    Escape("write through a dangling link", 'os.symlink(OUT + "/new", "way"); open("way", "w").close(); escaped()'),
    Escape("link a file in and write it", 'os.link(SECRET, "mine"); open("mine", "a").write("x"); escaped()'),
    Escape("move a file in", 'os.rename(SECRET, "mine"); escaped()'),
    Escape("move a file out", 'open("mine", "w").close(); os.rename("mine", OUT + "/new"); escaped()'),
    Escape("make a folder outside", 'os.mkdir(OUT + "/new"); escaped()'),
    Escape("make a link outside", 'os.symlink("x", OUT + "/new"); escaped()'),
    Escape("make a pipe outside", 'os.mkfifo(OUT + "/new"); escaped()'),
    Escape("make a socket outside", 'socket.socket(socket.AF_UNIX).bind(OUT + "/new"); escaped()'),
    Escape("remove a file outside", "os.unlink(SECRET); escaped()"),
    Escape("change a mode outside", "os.chmod(SECRET, 0o666); escaped()", gap=_METADATA),
    Escape("change times outside", "os.utime(SECRET, (1, 1)); escaped()", gap=_METADATA),
    Escape("set an attribute outside", 'os.setxattr(SECRET, "user.x", b"x"); escaped()', control=False),
    Escape(
        "schedule a job", 'p = "/etc/cron.d/air-test"; open(p, "w").close(); os.unlink(p); escaped()', control=False
    ),
    Escape("start a unit", 'escaped(subprocess.run(["systemd-run", "true"]).returncode == 0)', control=False),
    Escape("write a start-up file", 'open(HOME + "/.bashrc", "w").close(); escaped()'),
    # The repository and our own state.
    Escape("write a hook", 'open(COMMON + "/hooks/pre-commit", "w").close(); escaped()'),
    Escape("write git's configuration", 'open(COMMON + "/config", "a").write("x"); escaped()'),
    Escape("move a branch", 'open(COMMON + "/refs/heads/main", "w").write("x"); escaped()'),
    Escape("remove objects", 'shutil.rmtree(COMMON + "/objects/pack"); escaped()'),
    Escape("read the record", 'got(open(F["record"]).read())'),
    # Reading outside.
    Escape("read by an absolute path", "got(open(SECRET).read())"),
    Escape("read through a link", 'os.symlink(SECRET, "way"); got(open("way").read())'),
    Escape(
        "read by a handle of a folder", "d = os.open(OUT, os.O_PATH); got(open(os.open('secret', 0, dir_fd=d)).read())"
    ),
    Escape("list a folder outside", 'escaped("secret" in os.listdir(OUT))'),
    Escape("read a key of ssh", 'got(open(HOME + "/.ssh/id").read())'),
    Escape("read through the root of a process", "got(open(f\"/proc/{F['sleeper']}/root{SECRET}\").read())"),
    Escape("read through process 1", 'got(open(f"/proc/1/root{SECRET}").read())', control=False),
    Escape("read through a folder of a process", "got(open(f\"/proc/{F['sleeper']}/cwd/secret\").read())"),
    Escape("read through a file of a process", "got(open(f\"/proc/{F['sleeper']}/fd/0\").read())"),
    Escape("run a program that reads", 'got(subprocess.run(["cat", SECRET], capture_output=True).stdout)'),
    Escape(
        "run a program from memory that reads",
        'd = os.memfd_create("x", 0); os.write(d, open("/bin/cat", "rb").read());'
        ' got(subprocess.run([f"/proc/self/fd/{d}", SECRET], capture_output=True, pass_fds=[d]).stdout)',
    ),
    Escape(
        "read in a thread",
        "t = threading.Thread(target=lambda: got(open(SECRET).read())); t.start(); t.join()",
    ),
    Escape("load a library that is outside", 'ctypes.CDLL(OUT + "/lib.so"); escaped()'),
    Escape(
        "preload a library that is outside",
        'done = subprocess.run(["true"], env={"LD_PRELOAD": OUT + "/lib.so"}, capture_output=True);'
        " escaped(not done.stderr)",
    ),
    Escape(
        "use what we had open",
        'escaped(any(os.path.exists(f"/proc/self/fd/{n}/secret") for n in range(3, 64)))',
        control=False,
    ),
    Escape("read a shared memory file", 'got(open(F["shm"], "rb").read())'),
    Escape("write a shared memory file", 'open(F["shm"], "r+b").write(b"x"); escaped()'),
    Escape("attach a shared memory", 's = call(29, 194, F["key"], 16, 0); call(30, 196, s, 0, 0); escaped()'),
    # Other processes.
    Escape("kill a process", "os.kill(F['sleeper'], signal.SIGKILL); escaped()"),
    Escape("ask a process with a signal", "os.kill(F['sleeper'], 0); escaped()"),
    Escape("signal by a handle", "signal.pidfd_send_signal(os.pidfd_open(F['sleeper']), 0); escaped()"),
    Escape("read its environment", "got(open(f\"/proc/{F['sleeper']}/environ\").read())"),
    Escape("read our environment", "got(open(f\"/proc/{F['ours']}/environ\").read()); escaped()"),
    Escape("open its memory", 'open(f"/proc/{F[\'sleeper\']}/mem", "r+b").close(); escaped()'),
    Escape("trace it", "call(101, 117, 16, F['sleeper'], 0, 0); escaped()"),
    Escape(
        "read its memory by a call",
        "b = ctypes.create_string_buffer(8); v = struct.pack('QQ', ctypes.addressof(b), 8)\n"
        "r = struct.pack('QQ', 4096, 8)\n"
        "try:\n    call(310, 270, F['sleeper'], v, 1, r, 1, 0); escaped()\n"
        "except OSError as e:\n    escaped(e.errno == errno.EFAULT)",
    ),
    Escape("take its file by a call", "call(438, 438, os.pidfd_open(F['sleeper']), 0, 0); escaped()"),
    Escape("limit it", "import resource; resource.prlimit(F['sleeper'], resource.RLIMIT_NOFILE, (64, 64)); escaped()"),
    Escape(
        "see its command line", 'escaped(b"sleep" in open(f"/proc/{F[\'sleeper\']}/cmdline", "rb").read())', gap=_SEEN
    ),
    Escape("dump core outside", "os.chdir(OUT); os.abort()", control=False),
    # Network and sockets.
    Escape("connect by TCP", 'tell(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", F["tcp"]))'),
    Escape("connect by IPv6", 'tell(socket.AF_INET6, socket.SOCK_STREAM, ("::1", F["tcp6"]))', control=False),
    Escape(
        "listen by TCP",
        's = socket.create_server(("127.0.0.1", F["free"])); tell(2, 1, s.getsockname())',
        control=False,
    ),
    Escape("send by UDP", 'tell(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", F["udp"]))'),
    Escape("ask a name server", 'tell(socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53))', control=False),
    Escape("open a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); escaped()", network=True),
    Escape("open a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3); escaped()", network=True),
    Escape("connect to a socket file", 'tell(socket.AF_UNIX, socket.SOCK_STREAM, F["unix"])', network=True),
    Escape("send to a socket file", 'tell(socket.AF_UNIX, socket.SOCK_DGRAM, F["datagram"])', network=True),
    Escape(
        "send to a socket file from a pair",
        'a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b"out", F["datagram"]); escaped()',
        network=True,
    ),
    Escape(
        "connect to an abstract socket", 'tell(socket.AF_UNIX, socket.SOCK_STREAM, "\\0" + F["abstract"])', network=True
    ),
    # Ways around through the kernel.
    Escape("make a user namespace", "call(272, 97, 0x10000000); escaped()", control=False, network=True),
    Escape(
        "clone a user namespace",
        "p = call(56, 220, 0x10000011, 0, 0, 0, 0); p or os._exit(0); escaped()",
        control=False,
    ),
    Escape(
        "enter its namespaces",
        "d = os.open(f\"/proc/{F['sleeper']}/ns/mnt\", 0); call(308, 268, d, 0); escaped()",
        control=False,
    ),
    Escape("bind a folder", 'os.mkdir("m"); call(165, 40, OUT.encode(), b"m", 0, 4096, 0); escaped()', control=False),
    Escape("open a tree of mounts", "call(428, 428, -100, OUT.encode(), 1); escaped()", control=False),
    Escape("change the root", "call(161, 51, b'.'); escaped()", control=False),
    Escape("make a device", 'os.mknod("dev", stat.S_IFBLK | 0o666, os.makedev(254, 0)); escaped()', control=False),
    Escape(
        "open a disk", 'd = [n for n in os.listdir("/sys/block")][0]; open("/dev/" + d, "rb"); escaped()', control=False
    ),
    Escape("ring of the kernel", "call(425, 425, 1, ctypes.create_string_buffer(120)); escaped()", control=False),
    Escape(
        "load a program of the kernel",
        "call(321, 280, 0, ctypes.create_string_buffer(128), 128); escaped()",
        control=False,
    ),
    Escape(
        "count the kernel's events",
        "call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0); escaped()",
        control=False,
    ),
    Escape("handle faults", "call(323, 282, 0); escaped()", control=False),
    Escape("look for keys", "call(250, 219, 0, -3, 1, 0, 0); escaped()", control=False),
    Escape(
        "type into the terminal",
        "t = os.open('/dev/tty', os.O_RDWR); fcntl.ioctl(t, 0x5412, b'x'); escaped()",
        control=False,
    ),
    Escape(
        "gain powers by a program",
        'escaped(subprocess.run(["su", "-c", "cat " + SECRET]).returncode == 0)',
        control=False,
    ),
    Escape(
        "powers of root",
        'import re; escaped(not re.search("CapEff:\\\\s+0+\\n", open("/proc/self/status").read()))',
    ),
    Escape(
        "leave the process limit", 'open("/sys/fs/cgroup/pids/cgroup.procs", "w").write("0"); escaped()', control=False
    ),
)
