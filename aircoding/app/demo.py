"""The demo: a real repository, real tools and tests, a scripted model, and one question at the end."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from aircoding.app.plans import show_plan
from aircoding.app.questions.asking import Asked, Page
from aircoding.app.questions.why import who_saw_subject, why_not_subject
from aircoding.app.run_results import RunResult
from aircoding.app.runs import RunRequest, start_run
from aircoding.app.trusting import trust_project
from aircoding.errors import UsageError
from aircoding.records.events import Event
from aircoding.records.words import dollars
from aircoding.sources.resources import resource_root
from aircoding.workspace.git import git

__all__ = ["make_demo_project", "own_command", "run_demo"]

_IDENTITY = {"NAME": "Demo", "EMAIL": "demo@localhost"}
_RULE = ".air/shared/rules/licence-header.md"


def make_demo_project(folder: Path) -> Path:
    """Copy the demo's project to `folder`, make it a git repository, and trust it.

    Raises:
        UsageError: the folder is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", hint="name a folder that is empty or not there yet")
    demo = resource_root() / "demo"
    shutil.copytree(demo / "project", folder, dirs_exist_ok=True)
    shutil.copy2(demo / "script.yaml", folder / ".air" / "demo-script.yaml")
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _IDENTITY.items()}
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", _IDENTITY["NAME"]),
        ("config", "user.email", _IDENTITY["EMAIL"]),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "Start a counting library"),
    ):
        git(folder, *arguments, env=identity)
    trust_project(folder)
    return folder


def run_demo(folder: Path | None, *, report: Callable[[Event], None], say: Callable[[str], None]) -> Iterator[str]:
    """Run the demo and yield what it says on stdout."""
    started = time.monotonic()
    root = make_demo_project(folder if folder is not None else Path(tempfile.mkdtemp(prefix="aircoding-demo-")))
    say(f"a project in {root}: 12 tasks, a scripted model, real worktrees and tests")
    waves = len(show_plan(root, None).waves)
    request = RunRequest(start=root, provider="scripted:.air/demo-script.yaml", concurrency=4, allow_unconfined=True)
    result = start_run(request, report=report, say=say, confirm=lambda _: None)
    yield from _tasks(result)
    yield ""
    yield from _question(root, result)
    yield ""
    yield from _summary(root, result, waves, time.monotonic() - started)


def _tasks(result: RunResult) -> Iterator[str]:
    for task in result.tasks:
        why = f": {task.reason}" if task.reason else ""
        yield f"  {task.task_id}  {task.state:8} {task.title}{why}"


def _question(root: Path, result: RunResult) -> Iterator[str]:
    """Ask why the last task went wrong, and answer from the record."""
    of_run = Asked(run_id=result.run_id, role="executor")
    witnesses = who_saw_subject(root, _RULE, of_run, page=Page()).witnesses
    saw = [one for one in witnesses if one.saw is not None]
    yield "T12 failed: its file has no licence line. There is a rule that asks for one. Who had it in the prompt?"
    yield f"  $ {own_command()} context who-saw {_RULE} --role executor"
    others = ", ".join(str(one.task_id) for one in witnesses if one.saw is None)
    yield f"  {len(saw)} of {len(witnesses)} executors; not {others}"
    yield "Why not T12?"
    yield f"  $ {own_command()} context why-not {_RULE} --task T12 --role executor"
    of_task = replace(of_run, task_id="T12")
    for one in why_not_subject(root, _RULE, of_task, manifest_id=None, page=Page()).considerations[:1]:
        yield f"  {one.outcome.detail}"
        yield f"  decided at {one.outcome.by.removeprefix('project:')}"
        yield f"  to change it: {one.remedy}"


def _summary(root: Path, result: RunResult, waves: int, seconds: float) -> Iterator[str]:
    states = [task.state for task in result.tasks]
    done = states.count("done")
    share = result.cached_tokens / result.prompt_tokens if result.prompt_tokens else 0.0
    yield (
        f"{done} of {len(states)} tasks done in {waves} waves; {result.calls} model calls,"
        f" {result.prompt_tokens} prompt tokens, {share:.0%} of them cached (simulated),"
        f" {dollars(result.cost_usd or 0.0)} (simulated), {seconds:.1f} s"
    )
    air = own_command()
    yield f"The record is in {root}/.air/local. Look around: cd {shlex.quote(str(root))} && {air} context list"
    yield f"On your own repository: {air} init, {air} plan check, {air} run --provider anthropic:MODEL"


def own_command() -> str:
    """Return how a shell in any folder calls this program: its name where that is found, else the path of it."""
    name = "aircoding"
    running = Path(sys.argv[0]).absolute()
    if shutil.which(name):
        return name
    if running.name == name and running.is_file():
        return shlex.quote(str(running))
    return f"{shlex.quote(sys.executable)} -m {name}"
