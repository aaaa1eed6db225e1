"""Run the project's context tests: assemble what they name, compare, and say why something is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from aircoding.app.overflows import OVERFLOW_CODE
from aircoding.app.sides import Side, open_working_tree
from aircoding.app.time_limits import time_limit
from aircoding.app.views import ToolViews, ViewRequest, WorkerViews, path_task
from aircoding.audit.context_tests import MAX_TEST_BYTES, ContextTest, parse_context_tests
from aircoding.audit.expectations import Failure, judge
from aircoding.audit.golden import golden_changes, golden_document, golden_text
from aircoding.audit.views import View
from aircoding.errors import ConfigError, NotFoundError, UsageError
from aircoding.records.segments import place_of
from aircoding.records.tasks import TaskSpec
from aircoding.rules.tools.account import Tool
from aircoding.sources.files import list_folder, read_text_file
from aircoding.sources.project_files import replace_project_text

__all__ = ["CheckReport", "CheckRequest", "TestResult", "check_contexts"]

TESTS = ".air/shared/context-tests"
_SUFFIXES = (".yaml", ".yml")
_GOLDEN_SUFFIX = ".json"
_MOST_SECONDS = 10.0
"""Time for what one test expects: a regular expression may take for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """Which files (none: the project's), whether goldens are written, and as which tool tests without one are run."""

    start: Path
    files: tuple[str, ...] = ()
    update: bool = False
    tool: Tool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """What became of one test. `state` is `passed`, `failed` or `skipped`; `tokens` are of the largest context."""

    file: str
    line: int
    name: str
    subject: str
    state: str
    tokens: int = 0
    failures: tuple[Failure, ...] = ()
    updated: str | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """All results by file and line, and what could not be taken as it is."""

    results: tuple[TestResult, ...]
    notes: tuple[str, ...]

    @property
    def failed(self) -> int:
        """How many failed."""
        return sum(one.state == "failed" for one in self.results)


def check_contexts(request: CheckRequest) -> CheckReport:
    """Run the tests on the files as they are now; nothing is recorded, and nothing of the user's own counts.

    Raises:
        ConfigError: a test file, a settings file, a policy or the plan is wrong.
        NotFoundError: there is no test, or a test names what there is not.
    """
    with open_working_tree(request.start) as side:
        tests = [(name, test) for name in _files(side, request) for test in _read(side.project_root, name)]
        desk = _Desk(side)
        results = [_run(desk, name, test, request) for name, test in tests]
        return CheckReport(results=tuple(results), notes=side.notes)


def _files(side: Side, request: CheckRequest) -> Iterator[str]:
    root = side.project_root
    for given in request.files:
        path = Path(request.start, given).absolute()
        if not path.is_relative_to(root):
            raise UsageError(f"{given} lies outside {root}", hint="name a file of this project")
        yield path.relative_to(root).as_posix()
    if request.files:
        return
    names, problem = list_folder(root / TESTS)
    found = [f"{TESTS}/{name}" for name in names if name.endswith(_SUFFIXES)]
    if problem is not None or not found:
        raise NotFoundError(
            f"there are no context tests in {TESTS}" + (f": {problem}" if problem else ""),
            hint="write one (docs/reference/context-tests.md), or name its file",
            code="context_test.none",
        )
    yield from found


def _read(root: Path, name: str) -> tuple[ContextTest, ...]:
    read = read_text_file(root, name, max_bytes=MAX_TEST_BYTES)
    if read.absent:
        raise NotFoundError(f"there is no file {name}", hint="name a file of context tests")
    if read.problem is not None or read.lossy:
        why = read.problem or "it is no UTF-8 text"
        raise ConfigError(
            f"{name}: cannot be read: {why}", hint="name a regular text file", code="context_test.invalid"
        )
    return parse_context_tests(read.text, name)


class _Desk:
    """Answers for one state of the files; each of its two halves is set up when it is first asked."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.tools = ToolViews(side)
        self._workers: WorkerViews | None = None

    @property
    def workers(self) -> WorkerViews:
        """Prompts of our own workers."""
        if self._workers is None:
            self._workers = WorkerViews(self.side)
        return self._workers

    def task(self, test: ContextTest, place: str) -> TaskSpec:
        """Return the task of a test."""
        if test.task is None:
            return path_task(test.paths, test.tags)
        plan = self.workers.plan
        task = plan.task(test.task) if plan is not None else None
        if task is None:
            known = ", ".join(one.id for one in plan.tasks[:20]) if plan is not None else ""
            raise NotFoundError(
                f"{place}: the plan has no task {test.task}", hint=f"it has {known}" if known else "there is no plan"
            )
        return task


def _run(desk: _Desk, name: str, test: ContextTest, request: CheckRequest) -> TestResult:
    if test.tool is None and request.tool is not None:
        if test.task is not None or not test.paths:
            why = f"it names no path that {request.tool.value} could work on"
            return replace(_result(name, test, "", {}, []), state="skipped", skipped=why)
        test = replace(test, tool=request.tool.value, golden=_golden_of(test.golden, request.tool))
    views, failures = _tool_views(desk, test) if test.tool is not None else _worker_views(desk, name, test)
    updated = None
    if test.golden is not None and views:
        updated, wrong = _golden(desk.side.project_root, name, test, views, update=request.update)
        failures += wrong
    subject = test.tool or f"{test.role}, {f'task {test.task}' if test.task else ', '.join(test.paths) or 'no task'}"
    return replace(_result(name, test, subject, views, failures), updated=updated)


def _result(
    name: str, test: ContextTest, subject: str, views: Mapping[str, View], failures: Sequence[Failure]
) -> TestResult:
    return TestResult(
        file=name,
        line=test.line,
        name=test.name,
        subject=subject,
        state="failed" if failures else "passed",
        tokens=max((view.tokens for view in views.values()), default=0),
        failures=tuple(failures),
    )


def _golden_of(golden: str | None, tool: Tool) -> str | None:
    if golden is None:
        return None
    path = PurePosixPath(golden)
    return str(path.with_name(f"{path.stem}.{tool.value}{path.suffix}"))


def _tool_views(desk: _Desk, test: ContextTest) -> tuple[dict[str, View], list[Failure]]:
    tool = Tool(test.tool or "")
    candidates = {path: file.text for path, file in desk.tools.tree.files.items()}
    views: dict[str, View] = {}
    failures: list[Failure] = []
    for path in test.paths:
        view = views[path] = desk.tools.view(tool, path)
        for failure in _judged(test, view, candidates):
            several = f"for {path}: " if len(test.paths) > 1 else ""
            failures.append(replace(failure, message=f"{several}{failure.message}"))
    return views, failures


def _judged(test: ContextTest, view: View, candidates: Mapping[str, str]) -> Sequence[Failure]:
    try:
        with time_limit(_MOST_SECONDS):
            return tuple(judge(test, view, candidates))
    except TimeoutError:
        why = "a regular expression that repeats what repeats, such as (a+)+, does that: write it otherwise"
        return (Failure(line=test.line, message=f"it was not decided within {_MOST_SECONDS:.0f} s", why=(why,)),)


def _worker_views(desk: _Desk, name: str, test: ContextTest) -> tuple[dict[str, View], list[Failure]]:
    task = desk.task(test, f"{name}:{test.line}")
    asked = ViewRequest(role=test.role, task=task, mode=test.mode, model=test.model, window_tokens=test.window_tokens)
    try:
        snapshot = desk.workers.snapshot(asked)
        view = desk.workers.view(snapshot)
    except UsageError as error:
        if error.code == "role.unknown":
            raise ConfigError(f"{name}:{test.line}: {error.message}", hint=error.hint, code=error.code) from error
        if error.code != OVERFLOW_CODE:
            raise
        return {}, [Failure(line=test.line, message=error.message, why=(error.hint,))]
    candidates = {place_of(one.segment_id): one.text for one in snapshot.segments}
    return {test.role: view}, list(_judged(test, view, candidates))


def _golden(
    root: Path, name: str, test: ContextTest, views: Mapping[str, View], *, update: bool
) -> tuple[str | None, list[Failure]]:
    """Compare with the golden, or write it; return what was written, and what differs."""
    path = str(PurePosixPath(name).parent / (test.golden or ""))
    if not path.endswith(_GOLDEN_SUFFIX):
        raise ConfigError(
            f"{name}:{test.line}: golden: {test.golden} does not end with {_GOLDEN_SUFFIX}",
            hint="name a file of its own, such as NAME.manifest.json: `--update` writes it anew",
            code="context_test.invalid",
        )
    now = golden_document(views)
    read = read_text_file(root, path, max_bytes=MAX_TEST_BYTES * 10)
    if read.absent:
        changes: tuple[str, ...] = ("+ the whole file: it is not there",)
    else:
        try:
            changes = golden_changes(json.loads(read.text) if read.problem is None else None, now)
        except ValueError:
            changes = ("! the file is no JSON",)
    if not changes:
        return None, []
    if update:
        replace_project_text(root, path, golden_text(now))
        return path, []
    message = f"it is not as {test.golden} holds it; `--update` would change"
    return None, [Failure(line=test.line, message=message, why=changes)]
