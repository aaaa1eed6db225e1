"""A run as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from aircoding.records.ids import Digest, RunId

__all__ = ["LeftOut", "Run", "TaskState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a task graph. `status` is running, interrupted, done, failed, budget or cancelled.

    `provider` is as given on the command line (`anthropic:MODEL`, `scripted:FILE`), `plan_digest`
    names the plan's text in the blob store, `run_revision` the frozen run-scope text. `sandbox` is what confines its
    commands (bubblewrap, external, none) and `confined` whether the policy counts on it; both are chosen when the run
    starts and hold for every resume, and so does `profile`, the user's profile that its agents speak and remember as.
    `imported_at` says since when a run that went on elsewhere is on record here, `imported_from` is the digest of its
    bundle; None: it is our own. `bodies` is `digests` where its texts go when it has ended, `texts_let_go_at` when
    they went; then its account stands without them.
    """

    run_id: RunId
    goal: str
    status: str
    created_at: str
    project_root: str
    base_commit: str
    target_branch: str | None
    integration_branch: str
    provider: str
    model: str
    concurrency: int
    plan_digest: Digest
    run_revision: str
    max_cost_usd: float | None = None
    finished_at: str | None = None
    sandbox: str | None = None
    confined: bool | None = None
    profile: str | None = None
    imported_at: str | None = None
    imported_from: Digest | None = None
    bodies: str | None = None
    texts_let_go_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """Where a task stands: waiting, running, done, failed, or blocked, and why.

    Of a run that nobody drives a task that was running is shown as held. The reason of one that is done is a remark.
    """

    task_id: str
    title: str
    state: str
    attempt: int
    reason: str = ""
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A text that a worker's prompt did not hold whole for want of space; `tokens` is its estimated size."""

    task_id: str | None
    role: str
    uri: str
    tokens: int
