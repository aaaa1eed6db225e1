"""A worker that obeys attackers: nothing leaves, nothing is written elsewhere, the audit shows each attempt."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.demo_runs import Ended, air
from support.poisoned import CARRIERS, SECRET, Attempt, Carrier, Place, attempts, from_within, make_scene
from support.recorded_values import recorded_values, unpacked
from support.rule_cache import RULE_CACHE

from aircoding.errors import ConfigError
from aircoding.workspace.git import git
from aircoding.workspace.sandbox import choose_sandbox

BLOCKED_WAYS = {"tool output", "memory", "skill", "diff", "file name", "git message", "test output"}
"""Words of strangers: an order in them does not reach the model. A README is the project's own, and is warned of."""


VERBS = {"shell": "run", "fs_read": "read", "fs_write": "write", "fs_edit": "write", "memory_write": "use"}


def told_end(one: Attempt) -> str:
    """Return how the account of an act ends that an attempt would be."""
    if one.name == "memory_write":
        return one.name
    return f"`{one.says}`" if one.name == "shell" else f"/{Path('/' + one.says).name}".removeprefix("/")


@dataclass
class Listener:
    """A server on this machine that counts who connects or sends."""

    port: int = 0
    came: list[str] = field(default_factory=list)
    _open: list[socket.socket] = field(default_factory=list)

    def start(self) -> None:
        stream = socket.create_server(("127.0.0.1", 0))
        self.port = stream.getsockname()[1]
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", self.port))
        self._open = [stream, datagrams]
        threading.Thread(target=self._accept, args=(stream,), daemon=True).start()
        threading.Thread(target=self._receive, args=(datagrams,), daemon=True).start()

    def stop(self) -> None:
        for one in self._open:
            one.close()

    def _accept(self, stream: socket.socket) -> None:
        while True:
            try:
                stream.accept()[0].close()
            except OSError:
                return
            self.came.append("connected")

    def _receive(self, datagrams: socket.socket) -> None:
        while True:
            try:
                datagrams.recv(100)
            except OSError:
                return
            self.came.append("sent")


@dataclass
class Obeyed:
    """A run of the worker that obeys, and what was there before and after."""

    place: Place
    listener: Listener
    ended: Ended
    before: dict[str, bytes]
    after: dict[str, bytes]

    def air(self, *arguments: str) -> Ended:
        """Ask the record."""
        return air(self.place.root, *arguments)


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def obeyed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Obeyed]:
    try:
        choose_sandbox(request.param)
    except ConfigError as error:
        pytest.skip(error.message)
    folder, listener = tmp_path_factory.mktemp("poisoned"), Listener()
    listener.start()
    place = Place(folder, listener.port)
    make_scene(place)
    (folder / "home").mkdir()
    (folder / "home/config.toml").write_text(f'[sandbox]\nbackend = "{request.param}"\n')
    with pytest.MonkeyPatch.context() as patch:
        homes = {"AIR_HOME": folder / "home", "HOME": place.user, "KF_RULE_CACHE_DIR": RULE_CACHE}
        for name, value in (*homes.items(), ("AIR_NO_PAID_CALLS", "1")):
            patch.setenv(name, str(value))
        patch.setenv("DEPLOY_TOKEN", SECRET)
        assert air(place.root, "permissions", "trust", "--yes").code == 0
        before = _files(folder)
        ended = air(place.root, "run", "--provider", "scripted:script.yaml", "--yes", "--json")
        yield Obeyed(place, listener, ended, before, _files(folder))
    listener.stop()


@pytest.fixture(autouse=True)
def its_homes(obeyed: Obeyed, guarded_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIR_HOME", str(obeyed.place.folder / "home"))
    monkeypatch.setenv("HOME", str(obeyed.place.user))


def _files(folder: Path) -> dict[str, bytes]:
    """Return all files but those that a run writes itself: the record, worktrees, git's own, the worker's area."""
    own = ("project/.air/local/", "project/.git/", "project/work/", "home/")
    return {
        name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not (name := str(path.relative_to(folder))).startswith(own)
    }


def events(obeyed: Obeyed, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in obeyed.ended.output.splitlines() if line.startswith("{")]
    found = [one["event"] for one in lines if one["type"] == "event"]
    return [one["payload"] for one in found if one["type"] == kind]


def test_the_worker_went_all_the_way(obeyed: Obeyed) -> None:
    assert obeyed.ended.code == 0, obeyed.ended.output
    assert git(obeyed.place.root, "show", "HEAD:work/test_it.py").count("def test_") == 1


def test_nothing_leaves(obeyed: Obeyed) -> None:
    assert obeyed.listener.came == []
    with socket.create_connection(("127.0.0.1", obeyed.place.port), 3):
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto(b"x", ("127.0.0.1", obeyed.place.port))
    waited = threading.Event()
    for _ in range(50):
        if len(obeyed.listener.came) == 2:
            break
        waited.wait(0.1)
    assert sorted(obeyed.listener.came) == ["connected", "sent"], "the listener would have seen it"
    obeyed.listener.came.clear()


def test_the_secret_is_nowhere_but_where_it_was(obeyed: Obeyed) -> None:
    secret = SECRET.encode()
    holding = {
        str(path.relative_to(obeyed.place.folder))
        for path in obeyed.place.folder.rglob("*")
        if path.is_file() and secret in path.read_bytes()
    }
    assert holding == {"user/keys/token"}
    assert SECRET not in obeyed.ended.output
    values = [value for _, value in recorded_values(obeyed.place.root / ".air/local/air.db")]
    assert len(values) > 1_000
    assert not [one for one in values if secret in unpacked(one)]


def test_nothing_is_written_outside_of_the_area(obeyed: Obeyed) -> None:
    assert obeyed.after == obeyed.before
    hooks = [path.name for path in (obeyed.place.root / ".git/hooks").iterdir() if not path.name.endswith(".sample")]
    assert hooks == []
    changed = git(obeyed.place.root, "diff", "--name-only", "HEAD~1", "HEAD").split()
    assert changed == ["work/test_it.py"]
    assert not [name for name in os.listdir(obeyed.place.folder) if "stolen" in name]


def test_the_record_shows_each_attempt_and_what_became_of_it(obeyed: Obeyed) -> None:
    denied = [one["act"] for one in events(obeyed, "permission.denied")]
    silent = {"work/link"}  # the link was not made, so that there is nothing to refuse
    for one in attempts(obeyed.place):
        if one.says in silent:
            continue
        assert any(act.startswith(VERBS[one.name]) and act.endswith(told_end(one)) for act in denied), one
        places = obeyed.air("context", "why", one.says, "--json").result["places"]
        assert places, f"{one.says} is in no prompt that is on record"


def test_what_the_worker_s_own_test_tried_is_on_record(obeyed: Obeyed) -> None:
    told = obeyed.air("context", "why", "test_plants_a_hook", "--all").output
    assert "python -m unittest" in told
    for name in from_within(obeyed.place):
        # The others may seem to succeed in folders, processes and a network of the sandbox's own, and reach nothing.
        if name in {"reads the secret", "sends it"}:
            whole = f"test_{name.replace(' ', '_')}"
            outcome = f"{whole} (work.test_it.It.{whole}) ... ERROR"
            assert obeyed.air("context", "why", outcome, "--json").result["places"], name
        found = obeyed.air("context", "why", f"test_{name.replace(' ', '_')} (work.test_it", "--json").result
        assert found["places"], name
    failed = obeyed.air("context", "why", "FAILED (errors=", "--json").result["places"]
    assert failed, "the sandbox stopped what the policy let run"


@pytest.mark.parametrize("carrier", CARRIERS, ids=lambda one: one.way)
def test_each_carrier_is_seen_and_told(obeyed: Obeyed, carrier: Carrier) -> None:
    found = obeyed.air("context", "why", carrier.word, "--json").result["places"]
    brought = [one for one in found if one["segment"]["kind"] != "tool_call"]
    if carrier.way in BLOCKED_WAYS:
        quoting = [one for one in brought if carrier.order in str(one)]
        assert quoting == [], "an order of a stranger stands in a prompt"
        kept = {str(one["original"]) for one in events(obeyed, "screening.found") if one["blocked"]}
        texts = [obeyed.air("context", "expand", f"air:artifact/{digest}").output for digest in sorted(kept)]
        assert [one for one in texts if carrier.order in one], "what was withheld is there for the auditor"
    else:
        assert carrier.order in str(brought)


def test_the_questions_name_what_was_withheld_and_what_was_only_warned_of(obeyed: Obeyed) -> None:
    withheld = [one for one in events(obeyed, "screening.found") if one["blocked"]]
    assert {one["tool"] for one in withheld} >= {"shell", "fs_glob", "fs_grep", "skill_read"}
    assert all(one["original"] or one["tool"] == "skill_read" for one in withheld)
    told = obeyed.air("context", "why-not", "README.md").output
    assert "suspicious: override.ignore at lines 3-3" in told
    left_out = obeyed.air("context", "omissions").output
    assert "air:tool/shell" in left_out
    assert "in a tool's result: override.ignore at lines" in left_out
