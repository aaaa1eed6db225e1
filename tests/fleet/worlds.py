"""A run on a real repository with the real record, tools and sandbox; only the model is scripted."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aircoding.app.models import open_provider
from aircoding.app.plans import load_plan
from aircoding.app.policies import open_policies
from aircoding.app.project import open_project
from aircoding.app.trusting import trust_project
from aircoding.app.wiring import ReportingLog, World, freeze_run, wire
from aircoding.fleet.deps import FleetDeps, append
from aircoding.fleet.drive import drive, workflows
from aircoding.fleet.engine import DirectEngine, DurableEngine, Workflow
from aircoding.ports import Sandbox
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.records.runs import Run
from aircoding.store import Store, open_store
from aircoding.workspace.sandbox import choose_sandbox

RUN = RunId("r1")
_DATABASE = ".air/local/air.db"
_GIT = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")


def git(root: Path, *arguments: str) -> str:
    """Run git in a repository of a test."""
    done = subprocess.run(["git", *_GIT, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def use(name: str, /, **given: Any) -> dict[str, Any]:
    """Return a turn with one tool call."""
    return {"tools": [{"name": name, "input": given}]}


def write(path: str, content: str) -> dict[str, Any]:
    """Return a turn that reads a file, where there is one, and writes it."""
    return {"tools": [*use("fs_read", path=path)["tools"], *use("fs_write", path=path, content=content)["tools"]]}


def done(**more: Any) -> dict[str, Any]:
    """The turn in which an executor says that it is done."""
    return use("finish", **{"status": "done", "summary": "Done.", "changed_files": [], "verification": [], **more})


def fixed(**more: Any) -> dict[str, Any]:
    """The turn in which a debugger says that it has fixed it."""
    result = {
        "status": "fixed",
        "cause": "The word was wrong.",
        "failure_signature": "exit code 1",
        "evidence": ["a.txt:1"],
        "changed_files": [],
        "verification": [],
    }
    return use("finish", **{**result, **more})


def verdict(word: str, *findings: str) -> dict[str, Any]:
    """The turn in which a reviewer gives its verdict."""
    listed = [
        {"dimension": "correctness", "severity": "major", "file": "a.txt", "line": 1, "message": one}
        for one in findings
    ]
    return use("finish", verdict=word, summary=f"{word}.", findings=listed, follow_ups=[])


def script(role: str, name: str, *turns: dict[str, Any], **match: int) -> dict[str, Any]:
    """Return one script of the model."""
    return {"match": {"role": role, "task": name, **match}, "turns": list(turns)}


@dataclass
class Fleet:
    """A run that can be driven, stopped, and driven again by another process's worth of objects."""

    root: Path
    store: Store
    sandbox: Sandbox
    run: Run
    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of FleetDeps that the test replaces."""

    def deps(self) -> FleetDeps:
        """Wire the fleet as a new process does."""
        project = open_project(self.root)
        policies = open_policies(project, confined=True)
        provider, _ = open_provider(self.run.provider, project.settings, base=self.root)
        world = World(
            project=project,
            policies=policies,
            provider=provider,
            sandbox=self.sandbox,
            store=self.store,
            report=lambda _: None,
        )
        deps, _ = wire(world, self.run, load_plan(project, None))
        return replace(deps, **self.changes)

    def durable(self, *, watch: Callable[[Event], None] = lambda _: None) -> tuple[FleetDeps, DurableEngine]:
        """Return the fleet on a durable engine of its own, which is not launched yet; `watch` sees each event."""
        holder: list[FleetDeps] = []

        def late(name: str) -> Workflow:
            async def workflow(*arguments: str) -> Any:
                return await workflows(holder[0])[name](*arguments)

            return workflow

        engine = DurableEngine(
            str(self.root / ".air/local/engine.db"),
            executor_id=RUN,
            workflows={name: late(name) for name in ("attempt", "session")},
        )
        deps = self.deps()
        log = ReportingLog(deps.events, watch, deps.session.screener.mask, seen=len(self.events()))
        session = replace(deps.session, engine=engine, events=log)
        holder.append(replace(deps, engine=engine, session=session, events=log))
        return holder[0], engine

    def drive(self, stop: asyncio.Event | None = None) -> str:
        """Drive the run without durability: one process that does not die."""
        return asyncio.run(self._drive(stop))

    async def _drive(self, stop: asyncio.Event | None) -> str:
        deps = self.deps()
        engine = DirectEngine()
        deps = replace(deps, engine=engine, session=replace(deps.session, engine=engine))
        engine.use(workflows(deps))
        return await drive(deps, stop=stop or asyncio.Event())

    def resumed(self, **changes: Any) -> Fleet:
        """Say in the log that the run goes on, as `resume` does."""
        self.run = replace(self.run, **changes)
        deps = self.deps()
        append(deps, "run.resumed", {}, key=str(len(self.events())))
        return self

    def events(self, kind: str | None = None, task: str | None = None) -> list[Event]:
        """Return the events of a type, in order."""
        return [one for one in self.store.events.read(RUN) if kind in (None, one.type) and task in (None, one.task_id)]

    def kinds(self, task: str) -> list[str]:
        """Return the types of a task's events in order, without those of sessions and calls."""
        return [one.type for one in self.events(task=task) if not one.type.startswith(("session.", "context."))]

    def state(self, task: str) -> tuple[str, int, str]:
        """Return state, attempts and reason of a task as the record has it."""
        found = next(one for one in self.store.runs.task_states(RUN) if one.task_id == task)
        return found.state, found.attempt, found.reason

    def file(self, path: str, *, commit: str = "main") -> str:
        """Return a file as it is on the branch that the run was started from."""
        return git(self.root, "show", f"{commit}:{path}")

    def roles(self, task: str) -> list[str]:
        """Return the roles whose sessions a task had, in order."""
        return [one.payload["role"] for one in self.events("session.started", task)]

    def brief_texts(self, session: str) -> dict[str, str]:
        """Return the evidence of a session by its title."""
        brief = self.store.sessions.brief(session)  # type: ignore[arg-type]
        return {one.title: one.text for one in brief.evidence}


def make_fleet(
    root: Path,
    tasks: list[dict[str, Any]],
    scripts: list[dict[str, Any]],
    *,
    files: Mapping[str, str] | None = None,
    config: str = "",
    concurrency: int = 4,
    sandbox: Sandbox | None = None,
    **run: Any,
) -> Fleet:
    """Make a repository with a plan and a scripted model, trust it, and record a run of it."""
    plan = {"version": 1, "goal": "test", "tasks": tasks}
    tree = {
        ".gitignore": ".air/local/\n*.cache\n",
        ".air/shared/plan/tasks.yaml": json.dumps(plan, indent=1),
        ".air/config.toml": config,
        "script.yaml": json.dumps({"scripts": scripts}, indent=1),
        "a.txt": "one\n",
        "b.txt": "one\n",
        **(files or {}),
    }
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "init", "-q", "--initial-branch=main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "First")
    trust_project(root)
    store = open_store(root / _DATABASE)
    project = open_project(root)
    provider, model = open_provider("scripted:script.yaml", project.settings, base=root)
    world = World(
        project=project,
        policies=open_policies(project, confined=True),
        provider=provider,
        sandbox=sandbox or choose_sandbox("auto"),
        store=store,
        report=lambda _: None,
    )
    values: dict[str, Any] = {
        "goal": "test",
        "status": "running",
        "created_at": "2026-11-30T12:00:00Z",
        "project_root": str(root),
        "base_commit": project.repository.head(),
        "target_branch": "main",
        "integration_branch": "air/r1/integration",
        "provider": "scripted:script.yaml",
        "model": model,
        "concurrency": concurrency,
        "plan_digest": store.texts.put(json.dumps(plan)),
        "run_revision": freeze_run(world, load_plan(project, None)),
    }
    recorded = Run(run_id=RUN, **{**values, **run})
    store.runs.create(recorded)
    store.claim(RUN)
    return Fleet(root=root, store=store, sandbox=world.sandbox, run=recorded)


def open_fleet(root: Path) -> Fleet:
    """Open the run that another process recorded, as `resume` does."""
    store = open_store(root / _DATABASE)
    store.claim(RUN)
    return Fleet(root=root, store=store, sandbox=choose_sandbox("auto"), run=store.runs.get(RUN))


__all__ = ["Fleet", "done", "fixed", "git", "make_fleet", "open_fleet", "script", "use", "verdict", "write"]
