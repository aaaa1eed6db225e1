"""Real projects in a temporary folder: a git repository with the files that a test names, and a gatherer over it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aircoding.permissions.policy import build_policy
from aircoding.records.digests import sha256_text
from aircoding.records.ids import Digest, SessionId, TaskId
from aircoding.records.layers import Mode
from aircoding.records.policy import Policy
from aircoding.records.profiles import Profile
from aircoding.records.segments import Segment
from aircoding.records.sessions import SessionBrief
from aircoding.records.snapshot import ModelLimits, Snapshot
from aircoding.records.tasks import Plan, TaskSpec
from aircoding.screening.screener import TextScreener
from aircoding.sources.gather import FileGatherer, Project
from aircoding.sources.packaged_policy import packaged_policy_files
from aircoding.sources.role_text import tool_specs
from aircoding.sources.rule_tree import RuleHomes
from aircoding.sources.segments import Intake
from aircoding.workspace.worktree import GitWorktree

NOW = "2026-11-30T12:00:00.250000Z"

_GIT_ENV = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@t.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@t.invalid",
}


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below `root`, their folders with them."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def make_project(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a git repository with the files (nothing is committed; git lists what it would track)."""
    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=_GIT_ENV)
    write_tree(root, files)
    return root


def make_commit(root: Path) -> Path:
    """Commit all files of a project, at a time that is always the same."""
    env = {**_GIT_ENV, "GIT_AUTHOR_DATE": NOW, "GIT_COMMITTER_DATE": NOW}
    for arguments in (["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True, env=env)
    return root


def make_intake() -> Intake:
    """Return an intake over the real screener."""
    return Intake(TextScreener(key=b"a key of the tests"))


class FixedClock:
    """A clock that stands still."""

    def __init__(self, at: str = NOW) -> None:
        self.at = at

    def now(self) -> str:
        return self.at

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits")


class TextsInMemory:
    """A blob store in memory."""

    def __init__(self) -> None:
        self.texts: dict[Digest, str] = {}

    def put(self, text: str) -> Digest:
        digest = sha256_text(text)
        self.texts[digest] = text
        return digest

    def get(self, digest: Digest) -> str | None:
        return self.texts.get(digest)


def effective_policy(profile: Profile, task: TaskSpec | None) -> Policy:
    """Return the policy of packaged floor and defaults for a role, and its task."""
    return build_policy(
        packaged_policy_files(),
        project_trusted=True,
        may_write=profile.writes != "none",
        write_area=task.write_area if task is not None else (),
        denied_paths=task.denied_paths if task is not None else (),
        tools=tuple(tool.name for tool in tool_specs(profile)),
    )


@dataclass(kw_only=True)
class Desk:
    """A gatherer over a project, with everything that it was given within reach."""

    root: Path
    home: Path
    trusted: bool = True
    plan: Plan | None = None
    blobs: TextsInMemory = field(default_factory=TextsInMemory)
    clock: FixedClock = field(default_factory=FixedClock)
    window_tokens: int = 200_000
    system_turns: bool = False
    policy_for: Callable[[Profile, TaskSpec | None], Policy] = effective_policy
    baselines: dict[str, Digest] = field(default_factory=dict)
    homes: RuleHomes = field(default_factory=RuleHomes)

    def gatherer(self, **more: Any) -> FileGatherer:
        """Return a new gatherer, as a new process would have it."""
        return FileGatherer(
            project=Project(root=self.root, home=self.home, trusted=self.trusted, homes=self.homes),
            plan=self.plan,
            open_worktree=GitWorktree,
            blobs=self.blobs,
            screener=TextScreener(key=b"a key of the tests"),
            clock=self.clock,
            policy_for=self.policy_for,
            limits_for=lambda model: ModelLimits(
                model=model,
                window_tokens=self.window_tokens,
                max_output_tokens=8_000,
                min_cache_prefix_tokens=0,
                system_turns=self.system_turns,
            ),
            baselines_of=lambda _session: self.baselines,
            **more,
        )

    def brief(self, role: str = "executor", *, task: TaskSpec | None = None, **more: object) -> SessionBrief:
        """Return the brief of a first session, its run frozen now."""
        spec = task or TaskSpec(id=TaskId("T1"), title="Add a parser", write_area=("src/**",))
        brief = SessionBrief(
            session_id=SessionId(f"r1:{spec.id}:1:{role}:1"),
            role=role,
            model="test-model",
            mode=Mode.FULL,
            task=spec,
            worktree=str(self.root),
            base_commit="0" * 40,
            run_revision="",
            instruction="",
        )
        changed = replace(brief, **more)  # type: ignore[arg-type]
        return changed if changed.run_revision else replace(changed, run_revision=self.gatherer().freeze_run())

    def snapshot(self, brief: SessionBrief, *, touched_paths: Sequence[str] = ()) -> Snapshot:
        """Return the snapshot of the session's first turn."""
        return self.gatherer().gather(brief, turn=1, messages=(), frozen=None, touched_paths=touched_paths)


def by_uri(segments: Sequence[Segment], uri: str) -> list[Segment]:
    """Return the segments of one source, in their order."""
    return [segment for segment in segments if segment.source.uri == uri]
