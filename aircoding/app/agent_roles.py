"""Agents of Claude Code as roles of a project: a file for each that can be used, none over one that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aircoding.errors import ConfigError, WorkspaceError
from aircoding.rules.adoption import is_agent_file
from aircoding.rules.agent_file import parse_agent
from aircoding.rules.agent_role import role_id, role_of_agent
from aircoding.sources.files import read_text_file
from aircoding.sources.project_files import create_project_text
from aircoding.sources.roles import load_profiles, parse_role

__all__ = ["ROLES", "AdoptedAgent", "adopt_agents"]

ROLES = ".air/shared/roles"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedAgent:
    """One agent file. `role` is None where it became none, and `why` says why; `made` tells a new role from a kept one.

    `left` is each key or tool that could not be carried over, with the reason.
    """

    path: str
    role: str | None
    made: bool
    why: str
    left: tuple[str, ...] = ()


def adopt_agents(root: Path, paths: Iterable[str]) -> tuple[AdoptedAgent, ...]:
    """Write a role for each agent of a project that can be used; a role that is there stays as it is.

    Raises:
        WorkspaceError: a file cannot be written.
    """
    agents = sorted({path for path in paths if is_agent_file(path)})
    if not agents:
        return ()
    try:
        known = {role: profile.uri for role, profile in load_profiles(root).items()}
    except ConfigError as error:
        why = f"the project's roles are not in order: {error.message}"
        return tuple(AdoptedAgent(path=path, role=None, made=False, why=why) for path in agents)
    return tuple(_adopted(root, agents, known))


def _adopted(root: Path, agents: list[str], known: dict[str, str]) -> Iterator[AdoptedAgent]:
    packaged = frozenset(load_profiles())
    made: dict[str, str] = {}
    for path in agents:
        found = _read(root, path, packaged)
        if isinstance(found, str):
            yield AdoptedAgent(path=path, role=None, made=False, why=found)
            continue
        role, text, left = found
        place = f"{ROLES}/{role}.md"
        if role in made:
            yield AdoptedAgent(path=path, role=None, made=False, why=f"{made[role]} has the same name", left=left)
            continue
        made[role] = path
        there = read_text_file(root, place)
        if role in known or not there.absent or not _made(root, place, text):
            why = f"{known.get(role, place).removeprefix('project:')} is there and stays as it is"
            yield AdoptedAgent(path=path, role=role, made=False, why=why, left=left)
            continue
        yield AdoptedAgent(path=path, role=role, made=True, why=f"it is {place} now", left=left)


def _read(root: Path, path: str, packaged: frozenset[str]) -> tuple[str, str, tuple[str, ...]] | str:
    """Return role id, role file and what is left of an agent, or why it cannot be used."""
    read = read_text_file(root, path)
    if read.problem is not None:
        return read.problem
    found = parse_agent(read.text, path)
    if found.agent is None:
        fault = next(one for one in found.diagnostics if one.severity == "error")
        return f"line {fault.line}: {fault.message}"
    role = role_id(found.agent.name, packaged)
    if role is None:
        return f"no role id can be made of the name `{found.agent.name}`"
    draft = role_of_agent(found.agent, role=role, source=path)
    try:
        parse_role(draft.text, path)
    except ConfigError as error:
        return error.message
    remarks = tuple(f"line {one.line}: {one.message}" for one in found.diagnostics)
    return role, draft.text, (*remarks, *draft.left)


def _made(root: Path, place: str, text: str) -> bool:
    try:
        return create_project_text(root, place, text)
    except OSError as error:
        raise WorkspaceError(
            f"{root / place}: cannot be written: {error.strerror}", hint="check rights and free space"
        ) from error
