"""The error tree. Every error has a stable code, an exit code, and a message that names the way out.

AirError
├── UsageError                 exit 2   the call or its files are wrong; nothing was done
│   ├── ConfigError                     a setting, policy, role or rule file
│   ├── PlanError                       a plan (carries all its faults)
│   ├── ProjectError                    not a repository, dirty tree, wrong place
│   └── NotFoundError                   no such run, task, manifest
├── CredentialsError           exit 4   a key is missing or refused
├── BudgetError                exit 5   a money or token limit was reached; resumable
├── ProviderError              exit 3   a model call failed; says what to do next
├── StoreError                 exit 3   the database cannot do what was asked
│   ├── FencedError                     another process owns this run now
│   └── UnfitStoreError        exit 2   it is of another version, another program's, or none; nothing was done
├── WorkspaceError             exit 3   git, files or a sandbox failed
│   └── PathRefusedError                a path leaves the worktree or is not a regular file
└── InternalError              exit 3   a broken promise of ours
"""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.records.diagnostics import Diagnostic

__all__ = [
    "AirError",
    "BudgetError",
    "ConfigError",
    "CredentialsError",
    "FencedError",
    "InternalError",
    "NotFoundError",
    "PathRefusedError",
    "PlanError",
    "ProjectError",
    "ProviderError",
    "StoreError",
    "UnfitStoreError",
    "UsageError",
    "WorkspaceError",
]


class AirError(Exception):
    """Root of all errors that are for the person.

    Args:
        message: what happened and where (file, line, key).
        hint: what to do about it.
        code: stable dotted name; the class gives the default.
    """

    code = "error"
    exit_code = 3

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code


class UsageError(AirError):
    """The call is wrong; nothing was done."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A setting, policy, role or rule file is wrong; `diagnostics` name each place."""

    code = "config"

    def __init__(
        self, message: str, *, hint: str = "", code: str | None = None, diagnostics: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.diagnostics = tuple(diagnostics)


class PlanError(ConfigError):
    """A plan cannot be run; `diagnostics` hold every fault, not only the first."""

    code = "plan"


class ProjectError(UsageError):
    """The place is wrong: no repository, a dirty tree, no commit."""

    code = "project"


class NotFoundError(UsageError):
    """A run, task, session or manifest of that name is not on record."""

    code = "not_found"


class CredentialsError(AirError):
    """A key is missing or was refused."""

    code = "credentials"
    exit_code = 4


class BudgetError(AirError):
    """A limit of money or tokens was reached; the run can be resumed with a higher one."""

    code = "budget"
    exit_code = 5


class ProviderError(AirError):
    """A model call failed.

    Args:
        action: `retry` (soon), `wait` (after `retry_after_seconds`), `other_model`, or `stop`.
        retry_after_seconds: what the provider asked for, uncapped; None when it did not say.
        maybe_billed: whether the provider may charge for the call all the same.
        kind: `rate_limit`, `overloaded`, `server`, `timeout`, `cut_stream`, `silent_end`,
            `connection`, `invalid_request`, `too_long`, `credentials`, `refused`, `untrusted_usage`.
    """

    code = "provider"

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        action: str,
        retry_after_seconds: float | None = None,
        maybe_billed: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint, code=f"provider.{kind}")
        self.kind = kind
        self.action = action
        self.retry_after_seconds = retry_after_seconds
        self.maybe_billed = maybe_billed
        if kind == "credentials":
            self.exit_code = 4


class StoreError(AirError):
    """The database cannot do what was asked: read-only, full, too new, damaged."""

    code = "store"


class FencedError(StoreError):
    """Another process took this run over; this one must stop and write nothing more."""

    code = "store.fenced"


class UnfitStoreError(StoreError):
    """The database is of another version of this program, another program's, or not there; nothing was done."""

    code = "store.unfit"
    exit_code = 2


class WorkspaceError(AirError):
    """Git, a file or a sandbox failed."""

    code = "workspace"


class PathRefusedError(WorkspaceError):
    """A path leaves the worktree, goes through a link, or is not a regular file."""

    code = "workspace.path"


class InternalError(AirError):
    """A promise of the program is broken; please report it."""

    code = "internal"
