"""Every way out of `support.escapes`, tried in each sandbox that this machine has; and without one, where it works."""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import shlex
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.escapes import ESCAPES, PRELUDE, Escape
from workspace.conftest import plain_git

from aircoding.errors import ConfigError
from aircoding.records.work import CommandRequest
from aircoding.workspace.sandbox import ConfinedSandbox, PlainSandbox, choose_sandbox

pytestmark = pytest.mark.sandbox

IPC_CREAT, IPC_RMID = 0o1000, 0


@dataclass(frozen=True)
class Scene:
    """A sandbox, and what lies outside of a worktree: files, sockets that listen, a process, shared memory."""

    sandbox: ConfinedSandbox | PlainSandbox
    facts: dict[str, object]

    def state(self) -> dict[str, object]:
        """Everything that is planted, as it is."""
        found: dict[str, object] = {}
        for top in ("outside", "common", "home"):
            for folder, folders, files in os.walk(str(self.facts[top])):
                for path in (Path(folder, name) for name in [*folders, *files]):
                    status = path.lstat()
                    regular = stat.S_ISREG(status.st_mode)
                    found[str(path)] = (status.st_mode, status.st_mtime_ns, path.read_bytes() if regular else b"")
        found["shm"] = Path(str(self.facts["shm"])).read_bytes()
        found["sleeper"] = Path(f"/proc/{self.facts['sleeper']}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return found

    async def attempt(self, way: Escape, *, network: bool) -> str:
        """Return what the program of a way out says."""
        request = CommandRequest(
            command=f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(PRELUDE + way.program)}",
            env=(("FACTS", json.dumps(self.facts)),),
            timeout_seconds=120,
            network=network,
        )
        return (await self.sandbox.run(request, root=str(self.facts["root"]))).output


@contextmanager
def planted(top: Path, sandbox: ConfinedSandbox | PlainSandbox) -> Iterator[Scene]:
    project, outside, home, root = (top / name for name in ("project", "outside", "home", "project/.air/local/w"))
    outside.mkdir(parents=True)
    (outside / "secret").write_text("planted")
    shutil.copy(next(Path("/").glob("*lib*/*/libutil.so*")), outside / "lib.so")
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("planted")
    project.mkdir()
    plain_git(project, "init", "-q", "-b", "main")
    who = ("-c", "user.name=Pat", "-c", "user.email=pat@example.invalid")
    plain_git(project, *who, "commit", "-q", "--allow-empty", "-m", "First")
    plain_git(project, "worktree", "add", "-q", str(root))
    (project / ".air/local/air.db").write_text("planted")
    tag = f"air-test-{secrets.token_hex(4)}"
    shared = Path("/dev/shm", tag)
    shared.write_bytes(b"planted")
    libc, key = ctypes.CDLL(None, use_errno=True), 1 + secrets.randbelow(2**30)
    segment = libc.shmget(key, 16, IPC_CREAT | 0o600)
    assert segment >= 0
    with ExitStack() as stack:
        stack.callback(libc.shmctl, segment, IPC_RMID, None)
        stack.callback(shared.unlink)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        for name, kind in (("engine.sock", socket.SOCK_STREAM), ("log.sock", socket.SOCK_DGRAM), ("", 1)):
            one = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            one.bind(str(outside / name) if name else f"\0{tag}")
            if kind == socket.SOCK_STREAM:
                one.listen()
        held = stack.enter_context((outside / "secret").open())
        env = {"TOKEN": "planted", "PATH": os.environ["PATH"]}
        sleeper = stack.enter_context(subprocess.Popen(["sleep", "600"], stdin=held, cwd=outside, env=env))
        stack.callback(sleeper.kill)
        yield Scene(
            sandbox,
            {
                "tcp": tcp.getsockname()[1],
                "udp": udp.getsockname()[1],
                "unix": f"{outside}/engine.sock",
                "datagram": f"{outside}/log.sock",
                "abstract": tag,
                "secret": f"{outside}/secret",
                "outside": f"{outside}",
                "root": f"{root}",
                "home": f"{home}",
                "common": f"{project}/.git",
                "record": f"{project}/.air/local/air.db",
                "sleeper": sleeper.pid,
                "ours": os.getpid(),
                "shm": f"{shared}",
                "key": key,
            },
        )


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    try:
        sandbox = choose_sandbox(request.param)
    except ConfigError as error:
        pytest.skip(error.message)
    with planted(tmp_path_factory.mktemp("scene"), sandbox) as made:
        yield made


@pytest.mark.parametrize("way", ESCAPES, ids=lambda way: way.name)
async def test_a_way_out_is_closed_or_the_report_says_that_it_is_not(scene: Scene, way: Escape) -> None:
    report = scene.sandbox.report
    open_by_design = way.gap.get(report.backend, "")
    before = scene.state()
    for network in (False, True) if way.network else (False,):
        said = await scene.attempt(way, network=network)
        assert not any(fault in said for fault in ("SyntaxError", "NameError", "AttributeError", "TypeError")), said
        assert ("ESCAPED" in said) == bool(open_by_design), said
    if open_by_design:
        assert any(open_by_design in gap for gap in report.gaps)
    else:
        assert scene.state() == before


@pytest.mark.parametrize("way", [way for way in ESCAPES if way.control], ids=lambda way: way.name)
async def test_without_a_sandbox_it_is_open(way: Escape, tmp_path: Path) -> None:
    with planted(tmp_path / "scene", choose_sandbox("none")) as unconfined:
        said = await unconfined.attempt(way, network=False)
    assert "ESCAPED" in said, said
