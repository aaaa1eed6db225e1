"""What the policy says of one act, asked by a person or by another program; no project of ours is needed for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aircoding.app.policies import read_policies
from aircoding.app.project import find_root
from aircoding.errors import ConfigError, NotFoundError
from aircoding.homes import air_home, user_home
from aircoding.permissions.case_table import CaseResult, judge_cases, parse_case_table
from aircoding.permissions.claude_calls import MalformedCallError, acts_of_call, answer_to_call, is_inert
from aircoding.permissions.engine import decide
from aircoding.permissions.explain import Explanation, explain
from aircoding.records.ids import TaskId
from aircoding.records.policy import Act, CommandAct, Decision, PathAct, Policy
from aircoding.records.tasks import TaskSpec
from aircoding.sources.files import read_text_file

__all__ = ["Asked", "answer_hook", "check_cases", "explain_act", "judge_act"]

_ALL = ("**",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """For whom is asked: a role, and a task of the plan or the globs that may be written (all of the folder)."""

    role: str = "executor"
    task_id: str | None = None
    write_area: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    root: Path
    start: Path
    policy: Policy

    def decide(self, act: Act) -> Decision:
        """Return the stricter decision of an act as it is written and as it is on this disk, where links lead."""
        return max((decide(one, self.policy) for one in self.meant(act)), key=lambda found: found.effect.rank)

    def meant(self, act: Act) -> Sequence[Act]:
        """Return an act as it is written in the folder that is asked from, and as the disk resolves it."""
        if isinstance(act, CommandAct):
            folder = os.path.realpath(os.path.join(self.start, act.cwd))
            return (replace(act, cwd=os.path.relpath(folder, self.root) if _lies_in(folder, self.root) else folder),)
        if not isinstance(act, PathAct) or "\0" in act.path:
            return (act,)
        if act.path.startswith(("~", "file:")):
            return (act, *self._resolved(act, os.path.expanduser(act.path.removeprefix("file://"))))
        written = os.path.join(self.start, act.path)
        return (replace(act, path=written), *self._resolved(act, written))

    def _resolved(self, act: PathAct, path: str) -> tuple[Act, ...]:
        real = os.path.realpath(path)
        return (replace(act, path=real),) if real != path else ()


def judge_act(start: Path, act: Act, asked: Asked) -> Decision:
    """Return what the policy of the folder around `start` says of an act; a relative path begins at `start`.

    Raises:
        ConfigError: a policy file or role file is wrong, or there is no such role.
        NotFoundError: the plan has no such task.
    """
    return _open(start, asked).decide(act)


def explain_act(start: Path, act: Act, asked: Asked) -> Explanation:
    """Return the same with what decided and what would change it."""
    judge = _open(start, asked)
    ways = [explain(one, judge.policy) for one in judge.meant(act)]
    return max(ways, key=lambda one: one.decision.effect.rank)


def check_cases(start: Path, file: Path, asked: Asked) -> tuple[CaseResult, ...]:
    """Judge the cases of a file under the policy of the folder around `start`.

    Raises:
        ConfigError: the file cannot be read, or a case in it is wrong.
    """
    read = read_text_file(file.parent, file.name, inside=False)
    if read.problem is not None or read.lossy:
        raise ConfigError(f"{file}: cannot be read: {read.problem or 'it is no UTF-8 text'}", hint="name a YAML file")
    table = parse_case_table(read.text, uri=str(file))
    if table.diagnostics:
        first = table.diagnostics[0]
        more = f" (and {len(table.diagnostics) - 1} more)" if len(table.diagnostics) > 1 else ""
        raise ConfigError(
            f"{file}:{first.line}: {first.message}{more}",
            hint=first.hint or "correct the file",
            code="cases.invalid",
            diagnostics=list(table.diagnostics),
        )
    area = asked.write_area or table.write_area
    judge = _open(start, replace(asked, write_area=area))
    return judge_cases(table, judge.policy)


def answer_hook(given: Any, asked: Asked, *, headless: bool) -> Mapping[str, Any] | None:
    """Answer one `PreToolUse` call of Claude Code; None where the policy has nothing to say of its tool.

    Raises:
        MalformedCallError: the input is not as the protocol says.
        ConfigError: a policy file is wrong.
    """
    call = _fields(given)
    if is_inert(call.tool):
        return None
    start = Path(os.environ.get("CLAUDE_PROJECT_DIR") or call.cwd)
    judge = _open(start, asked)
    policy = replace(judge.policy, interactive=not headless, tools=(*judge.policy.tools, call.tool))
    judge = replace(judge, policy=policy)
    return answer_to_call(judge.decide(act) for act in acts_of_call(call.tool, call.given, cwd=call.cwd))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    tool: str
    given: Mapping[str, Any]
    cwd: str


def _fields(given: Any) -> _Call:
    if not isinstance(given, Mapping):
        raise MalformedCallError("the input is no JSON object")
    event = given.get("hook_event_name")
    if event != "PreToolUse":
        raise MalformedCallError(f"this answers the event PreToolUse, not {event!r}")
    tool, inner, cwd = given.get("tool_name"), given.get("tool_input"), given.get("cwd")
    if not isinstance(tool, str) or not tool:
        raise MalformedCallError("`tool_name` must be a text")
    if not isinstance(inner, Mapping):
        raise MalformedCallError("`tool_input` must be an object")
    if not isinstance(cwd, str) or not os.path.isabs(cwd) or "\0" in cwd:
        raise MalformedCallError("`cwd` must be an absolute path")
    return _Call(tool=tool, given=inner, cwd=cwd)


def _open(start: Path, asked: Asked) -> _Judge:
    start = Path(os.path.realpath(start))
    root = find_root(start) or start
    policies = read_policies(root, air_home(root), confined=True)
    task = _task(root, asked)
    profile = policies.profile(asked.role)
    policy = policies.for_role(profile, task)
    policy = replace(policy, root=str(root), home=str(user_home()), interactive=True)
    return _Judge(root=root, start=start, policy=policy)


def _task(root: Path, asked: Asked) -> TaskSpec:
    if asked.task_id is None:
        return TaskSpec(id=TaskId("none"), title="what is asked", write_area=asked.write_area or _ALL)
    # A hook asks at every call and names no task: what reads plans is heavy.
    from aircoding.app.plans import load_plan
    from aircoding.app.project import open_project

    task = load_plan(open_project(root), None).task(asked.task_id)
    if task is None:
        raise NotFoundError(f"the plan has no task {asked.task_id}", hint="`aircoding plan show` lists them")
    return task


def _lies_in(folder: str, root: Path) -> bool:
    return folder == str(root) or folder.startswith(str(root).rstrip("/") + "/")
