"""What the loop and the fleet ask of the world. Edges implement these; `app` chooses which."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from aircoding.records.calls import CallRecord, CallRequest, Reply, ToolCall, ToolRecord, ToolResult
from aircoding.records.events import Event
from aircoding.records.hooks import Contribution, HookResult
from aircoding.records.ids import CallKey, Digest, ManifestId, SessionId, ToolKey
from aircoding.records.layers import Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.policy import Decision
from aircoding.records.runs import Run, TaskState
from aircoding.records.secret_spans import SecretSpan
from aircoding.records.segments import Finding
from aircoding.records.sessions import SessionBrief, SessionOutcome, SteeringEntry
from aircoding.records.skills import SkillText
from aircoding.records.snapshot import Message, ModelLimits, Snapshot
from aircoding.records.usage import Cost, Spending, Usage
from aircoding.records.work import Change, CommandOutcome, CommandRequest, FileText, MergeOutcome, SandboxReport

__all__ = [
    "AssemblyLog",
    "BlobStore",
    "CallLedger",
    "Clock",
    "Engine",
    "EventLog",
    "Gatherer",
    "HookLog",
    "Provider",
    "Repository",
    "RunLog",
    "Sandbox",
    "Screener",
    "SecretScanner",
    "SessionLog",
    "ToolLog",
    "Worktree",
]


class Clock(Protocol):
    """The time, as the one thing that no test can freeze otherwise."""

    def now(self) -> str:
        """Return the present time as RFC 3339 in UTC (`2026-11-30T12:00:00Z`, microseconds kept)."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Screener(Protocol):
    """Looks at text where it enters."""

    def findings(self, text: str, *, uri: str, trust: Trust) -> tuple[Finding, ...]:
        """Return what is suspicious in `text`."""
        ...

    def lift(self, findings: tuple[Finding, ...], *, uri: str, digest: Digest) -> tuple[Finding, ...]:
        """Return the findings of a source as its user lets them count; `digest` is of its raw bytes."""
        ...

    def mask(self, text: str) -> str:
        """Return `text` with each secret as `[REDACTED:kind:id]`."""
        ...

    def mask_part(self, text: str, start: int, end: int) -> str:
        """Return a part of `text`, by character offsets, masked as in the whole: half a secret is masked as well."""
        ...

    def restore(self, text: str, original: str) -> str | None:
        """Put the bytes of `original` back where `text` carries its markers; None if one is not its own, or moved."""
        ...


class SecretScanner(Protocol):
    """Finds secrets by their look, beside our own rules."""

    def find(self, text: str) -> Iterable[SecretSpan]:
        """Return the secrets of `text`; they may overlap. The same text always gives the same."""
        ...


class Provider(Protocol):
    """One way to a model."""

    def limits(self, model: str) -> ModelLimits:
        """Return what the model can take."""
        ...

    def cost(self, model: str, usage: Usage) -> Cost:
        """Return what `usage` costs."""
        ...

    async def call(self, call: CallRequest, *, began: Callable[[], None] | None = None) -> Reply:
        """Make one try at one call.

        `began` is called once when the response begins: from then on other calls can read what the request has put
        into the provider's prompt cache. A call that fails before that never calls it.

        Raises:
            ProviderError: it failed; the error says what to do next. No retry was made here.
        """
        ...


class EventLog(Protocol):
    """Append-only, ordered per run, readable while the run goes on."""

    def append(self, *events: Event) -> tuple[int, ...]:
        """Store events in one transaction and return their sequence numbers (that of the first
        where an event with the same run and key is there already).

        Raises:
            FencedError: another process owns the run.
        """
        ...

    def read(self, run_id: str, *, after: int = 0, limit: int | None = None) -> tuple[Event, ...]:
        """Return the run's events with a sequence number above `after`, in order."""
        ...


class BlobStore(Protocol):
    """Texts by their digest, each once, compressed."""

    def put(self, text: str) -> Digest:
        """Store a text and return the sha256 of its UTF-8 bytes."""
        ...

    def get(self, digest: Digest) -> str | None:
        """Return a text, or None when it is not kept."""
        ...


class RunLog(Protocol):
    """Runs and where their tasks stand (task states are projected from events as they are appended)."""

    def create(self, run: Run) -> None:
        """Record a run; the same run again changes nothing."""
        ...

    def get(self, run_id: str) -> Run:
        """Return a run.

        Raises:
            NotFoundError: no such run.
        """
        ...

    def runs(self) -> tuple[Run, ...]:
        """Return all runs, newest first."""
        ...

    def finish(self, run_id: str, status: str) -> None:
        """Set the status of a run (and `finished_at`, unless it is interrupted or running)."""
        ...

    def task_states(self, run_id: str) -> tuple[TaskState, ...]:
        """Return the state of each task that an event named, in task id order."""
        ...


class SessionLog(Protocol):
    """Sessions: their brief, their messages, how they ended."""

    def open(self, brief: SessionBrief) -> None:
        """Record a session; the same session again changes nothing."""
        ...

    def brief(self, session_id: SessionId) -> SessionBrief:
        """Return what the session was told.

        Raises:
            NotFoundError: no such session.
        """
        ...

    def messages(self, session_id: SessionId) -> tuple[Message, ...]:
        """Return all recorded messages in order."""
        ...

    def append_message(
        self, session_id: SessionId, index: int, role: str, content: Sequence[Mapping[str, Any]]
    ) -> None:
        """Record message number `index`; the same index again changes nothing."""
        ...

    def steer(self, session_id: SessionId, entry: SteeringEntry) -> None:
        """Record a steering entry; the same turn and position again changes nothing."""
        ...

    def steering(self, session_id: SessionId, turn: int) -> tuple[SteeringEntry, ...]:
        """Return what is due in a turn, in order."""
        ...

    def close(self, outcome: SessionOutcome) -> None:
        """Record how a session ended; only the first time counts."""
        ...

    def outcome(self, session_id: SessionId) -> SessionOutcome | None:
        """Return how it ended, or None while it goes on."""
        ...


class AssemblyLog(Protocol):
    """Requests and manifests, committed before anything is sent."""

    def record(self, context: AssembledContext, *, snapshot: Snapshot) -> None:
        """Commit request and manifest, durably; the same session and turn again changes nothing."""
        ...

    def find(self, session_id: str, turn: int) -> AssembledContext | None:
        """Return the assembly of that turn, byte for byte, or None."""
        ...

    def get(self, manifest_id: ManifestId) -> AssembledContext:
        """Return an assembly, byte for byte.

        Raises:
            NotFoundError: no such manifest, or its texts are not kept.
        """
        ...


class CallLedger(Protocol):
    """Model calls: an intent before, the paid result after, never twice."""

    def reply(self, key: CallKey) -> Reply | None:
        """Return the committed reply of a call, or None."""
        ...

    def intend(self, record: CallRecord) -> int:
        """Record that a try is about to be sent; intents of the same call that never ended become
        `abandoned` and `maybe_billed`. Return how many tries came before (0 for the first).
        """
        ...

    def commit(self, key: CallKey, tries: int, reply: Reply, cost: Cost) -> None:
        """Record a paid result with full durability.

        Raises:
            FencedError: another process owns the run.
        """
        ...

    def fail(self, key: CallKey, tries: int, error: str, *, maybe_billed: bool) -> None:
        """Record that a try failed."""
        ...

    def spent_usd(self, run_id: str, *, task_id: str | None = None) -> float:
        """Return the money spent so far (unknown prices count as 0; `spending` shows them)."""
        ...

    def spending(self, run_id: str, *, task_id: str | None = None) -> Spending:
        """Return what the calls of a run, or of one of its tasks, used and cost so far."""
        ...


class ToolLog(Protocol):
    """Tool calls: an intent with digests before, the result after, never applied twice."""

    def find(self, key: ToolKey) -> ToolRecord | None:
        """Return what is known of a tool call, or None."""
        ...

    def intend(
        self, call: ToolCall, decision: Decision, before: Mapping[str, Digest], after: Mapping[str, Digest]
    ) -> None:
        """Record that a mutating call is about to act; `after` is what its files will be, where known."""
        ...

    def commit(self, call: ToolCall, decision: Decision | None, result: ToolResult) -> None:
        """Record the result.

        Raises:
            FencedError: another process owns the run.
        """
        ...

    def interrupt(self, call: ToolCall, decision: Decision | None, result: ToolResult) -> None:
        """Record that a call was cut off between intent and result and its effects are unknown; `result`
        is what the model is told.

        Raises:
            FencedError: another process owns the run.
        """
        ...

    def records(self, session_id: SessionId) -> tuple[ToolRecord, ...]:
        """Return the session's tool calls in order."""
        ...


class HookLog(Protocol):
    """What hooks said in a session: kept before it is used, so that nobody is asked twice about one occasion."""

    def record(self, session_id: SessionId, results: Sequence[HookResult]) -> None:
        """Record the results of one occasion in one transaction; the same again changes nothing.

        Raises:
            FencedError: another process owns the run.
        """
        ...

    def results(self, session_id: SessionId) -> tuple[HookResult, ...]:
        """Return the session's results in the order in which they were recorded."""
        ...


class Worktree(Protocol):
    """One attempt's files. Paths are relative to its root, POSIX style; nothing outside is reachable."""

    @property
    def root(self) -> str:
        """The absolute path on this machine."""
        ...

    def resolve(self, path: str) -> str:
        """Return the real path that `path` names: relative when inside, else absolute.

        Raises:
            PathRefusedError: it cannot be told (a loop, a broken parent).
        """
        ...

    def read(self, path: str, *, max_bytes: int | None = None) -> FileText:
        """Read a regular file inside the worktree.

        Raises:
            PathRefusedError: outside, through a link that leaves, or not a regular file.
            WorkspaceError: missing, unreadable, binary, or larger than `max_bytes`.
        """
        ...

    def write(self, path: str, data: bytes) -> Digest:
        """Write a file atomically (parents are made) and return its digest; same refusals as `read`."""
        ...

    def digest(self, path: str) -> Digest | None:
        """Return the digest of a file, or None when there is none."""
        ...

    def paths(self) -> tuple[str, ...]:
        """Return all paths that git tracks or would track (ignored ones left out), sorted."""
        ...

    def changes(self, base: str) -> tuple[Change, ...]:
        """Return what differs from commit `base`, untracked files included, ignored ones not, sorted."""
        ...

    def diff(self, base: str) -> str:
        """Return the unified diff against `base`, new files included."""
        ...


class SkillShelf(Protocol):
    """The skills that an agent may read on demand, as they are now."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all skills that can be read, sorted."""
        ...

    def resolve(self, name: str, path: str) -> str | None:
        """Return the path of a skill's file (``: the skill itself) as the policy judges it; None: it lies in no file.

        Raises:
            PathRefusedError: the path leads out of the skill's folder, or too deep.
        """
        ...

    def read(self, name: str, path: str) -> SkillText:
        """Return the body of a skill, or with `path` one of its own files.

        Raises:
            PathRefusedError: the path leads out of the skill's folder, or too deep.
            WorkspaceError: there is no such file, or it is no text.
        """
        ...


class Memories(Protocol):
    """The stores of memory that agents may write; what they write is known as theirs from then on.

    A store is named by its kind, `notes` or `project` (`rules.memory_entries.MemoryKind`).
    """

    def closed(self) -> str:
        """Say why no agent may write now; empty: one may."""
        ...

    def entries(self, kind: str) -> tuple[str, ...]:
        """Return the entries of a store as they are now.

        Raises:
            ConfigError: the store cannot be read.
        """
        ...

    def change(self, kind: str, edit: Callable[[tuple[str, ...]], tuple[str, ...]]) -> tuple[str, ...]:
        """Apply `edit` to the entries as they are at that moment, alone; return those that stand there then.

        Raises:
            ConfigError: the store cannot be read, or the change is refused.
            NotFoundError: the entry that is to be changed is not there.
            WorkspaceError: it cannot be written.
        """
        ...


class Sandbox(Protocol):
    """Runs commands, confined as far as this machine can."""

    @property
    def report(self) -> SandboxReport:
        """What confines them."""
        ...

    async def run(self, request: CommandRequest, *, root: str) -> CommandOutcome:
        """Run a shell command in the worktree at `root`; on cancellation nothing of it is left.

        Raises:
            WorkspaceError: it could not be started.
        """
        ...


class Repository(Protocol):
    """The project's git, as the orchestrator uses it. Hooks and helpers of the repository never run."""

    def head(self) -> str:
        """Return the commit of HEAD."""
        ...

    def add_worktree(self, name: str, *, branch: str, commit: str) -> str:
        """Make (or find again) a worktree on a new branch at a commit; return its root."""
        ...

    def open_worktree(self, root: str) -> Worktree:
        """Return the files of a worktree."""
        ...

    def commit_all(self, root: str, message: str, *, key: str) -> str | None:
        """Commit all changes of a worktree; with a commit of that `key` at HEAD already, return it.
        None when there is nothing to commit.
        """
        ...

    def merge(self, root: str, commit: str, message: str, *, key: str) -> MergeOutcome:
        """Merge a commit into the branch of the worktree at `root`; conflicts are left in its files."""
        ...

    def abort_merge(self, root: str) -> None:
        """Give up a merge and restore the branch's own files."""
        ...

    def worktree_head(self, root: str) -> str:
        """Return the commit that a worktree is on."""
        ...

    def reset(self, root: str, commit: str, *, ignored: bool = False) -> None:
        """Put a worktree's branch and files back to a commit; a merge in progress is given up.

        Files that git ignores stay, unless `ignored` says that they go too.
        """
        ...

    def remove_worktree(self, root: str) -> bool:
        """Remove a worktree without changes of its own; False when it holds work (it stays)."""
        ...

    def fast_forward(self, commit: str, *, branch: str | None = None) -> str | None:
        """Move a branch (default: the one checked out) forward to `commit`; return why not, or None when done."""
        ...


class Gatherer(Protocol):
    """Reads every source once and freezes it."""

    def freeze_run(self) -> str:
        """Read all run-scope text, keep it in the blob store, and return the run revision (a digest)."""
        ...

    def gather(
        self,
        brief: SessionBrief,
        *,
        turn: int,
        messages: Sequence[Message],
        frozen: AssembledContext | None,
        epoch: int = 1,
        steering: Sequence[SteeringEntry] = (),
        contributed: Sequence[Contribution] = (),
    ) -> Snapshot:
        """Return the snapshot for one turn; `frozen` is the assembly before it in its epoch, None opens one.

        `contributed` is what plugins and hooks gave for the session and this epoch.
        """
        ...


class Engine(Protocol):
    """Durable steps: a step whose result is recorded is not run again."""

    async def step(self, name: str, body: Callable[[], Awaitable[Any]]) -> Any:
        """Run a step of the present workflow; `body` returns plain JSON (ids and digests, no bodies)."""
        ...

    async def start(self, workflow: str, key: str, *arguments: str) -> None:
        """Start a named workflow under a deterministic id; one that runs or ran already is left alone."""
        ...

    async def result(self, key: str) -> Any:
        """Wait for a workflow and return what it returned."""
        ...

    async def first(self, keys: Iterable[str]) -> str:
        """Wait until one of the workflows has ended and return its key."""
        ...

    async def ended(self, key: str) -> bool:
        """Whether a workflow of that id has ended, well or not; False when there is none."""
        ...

    async def cancel(self, key: str) -> None:
        """Cancel a workflow and its children; they do not go on at a resume."""
        ...

    async def suspend(self) -> None:
        """Stop all workflows in this process; what is unfinished goes on at the next resume."""
        ...
