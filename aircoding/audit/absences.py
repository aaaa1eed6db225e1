"""Why a subject was never considered, and which source would have had to name it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from aircoding.rules.rule_names import AGENTS_NAMES, Dialect, classify
from aircoding.rules.tree import chain

__all__ = ["Absence", "PathFacts", "absence_of_name", "absence_of_path", "near_names"]

_RULES = ".air/shared/rules/project-rules.md"
_PLAN_FOLDER = ".air/shared/plan/"
_IMPORTING = ("CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md")
"""Rule files that take in others by `@path`."""
_NEAR = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFacts:
    """What is known of a path of the project when nothing is on record of it.

    `state`: `file` (git lists it), `folder`, `ignored` (git leaves it out), `outside` of the project, or `none`: not
    there. `ignored_by` names the line that ignores it. `base_commit` is that of the run, empty when all runs are asked
    about; `in_base` whether it holds the path. `plan_place` is the plan's file, with the line of the task asked about.
    `read_by` are the tasks of the plan that name the path in `reads`. `paths` are all paths of the project.
    """

    path: str
    state: str
    paths: Collection[str]
    ignored_by: str = ""
    base_commit: str = ""
    in_base: bool = True
    plan_place: str = f"{_PLAN_FOLDER}tasks.yaml"
    task_id: str | None = None
    read_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A subject that was never considered: why, where it would have to be named, and what is named almost so.

    `place` is a file, with a line where there is one. `is_name`: the subject is no path, but the name of a rule or a
    text.
    """

    subject: str
    why: str
    place: str
    remedy: str
    near: tuple[str, ...] = ()
    is_name: bool = False


def absence_of_path(facts: PathFacts, known: Collection[str]) -> Absence:
    """Say why no worker was offered a path of the project.

    Args:
        facts: what is known of the path.
        known: names that are on record, for near misses.
    """
    tell = {"outside": _outside, "folder": _folder, "ignored": _ignored, "none": _missing}.get(facts.state)
    if tell is not None:
        return tell(facts, known)
    name = classify(facts.path)
    is_read_by_name = name is not None or facts.path.startswith(_PLAN_FOLDER)
    if is_read_by_name and not facts.in_base:
        return Absence(
            subject=facts.path,
            why=f"the run started from commit {facts.base_commit[:12]}, which does not hold it: it was not committed "
            "yet, or was made in the run",
            place=facts.path,
            remedy=f"commit {facts.path}, and run again",
        )
    if name is not None:
        return _rule_file(facts, name.dialect, name.folder)
    if facts.path.startswith(_PLAN_FOLDER):
        return Absence(
            subject=facts.path,
            why="of the plan's folder AGENTS.md, plan.md, todo.md, adr/*.md and c4/* are read, for the roles whose "
            "profile retrieves them",
            place=facts.plan_place,
            remedy=_name_it(facts),
        )
    return _plain_file(facts)


def _outside(facts: PathFacts, known: Collection[str]) -> Absence:
    return Absence(
        subject=facts.path,
        why="it lies outside of this project; from there only the user's own files are read (~/.air, and the rule "
        "files of other tools in the home folder), and what a rule file imports with your approval",
        place=_RULES,
        remedy="copy what counts into a rule file of the project, or `aircoding rules approve` an import of it",
        near=near_names(facts.path, known),
    )


def _folder(facts: PathFacts, _known: Collection[str]) -> Absence:
    inside = sorted(path for path in facts.paths if path.startswith(f"{facts.path}/" if facts.path else ""))
    return Absence(
        subject=facts.path or ".",
        why="it is a folder: files are considered, not folders",
        place=inside[0] if inside else facts.plan_place,
        remedy="ask about a file in it" if inside else "it holds no file that git lists",
        near=tuple(inside[:_NEAR]),
    )


def _ignored(facts: PathFacts, _known: Collection[str]) -> Absence:
    by = f"git ignores it ({facts.ignored_by})" if facts.ignored_by else "git does not list it"
    return Absence(
        subject=facts.path,
        why=f"{by}: workers start from a commit, and such files are in none",
        place=facts.ignored_by or ".gitignore",
        remedy="take it out of the ignored files and commit it, or put what counts into a rule file",
    )


def _missing(facts: PathFacts, known: Collection[str]) -> Absence:
    near = near_names(facts.path, {*facts.paths, *known})
    return Absence(
        subject=facts.path,
        why="there is no such file in this project, and no such name on record",
        place=near[0] if near else _RULES,
        remedy="check the spelling" if near else "write the rule file, commit it, and run again",
        near=near,
    )


def _rule_file(facts: PathFacts, dialect: Dialect, folder: str) -> Absence:
    where = f"for {folder}/**" if folder else "for the whole project"
    why = f"it is a rule file ({dialect.value}) {where}, and no worker that is asked about was offered it"
    shadowing = _shadowing(facts, dialect)
    if shadowing:
        return Absence(
            subject=facts.path,
            why=f"it is a rule file ({dialect.value}), but {shadowing} in the same folder is read instead of it",
            place=shadowing,
            remedy=f"move what counts into {shadowing}, or delete that file",
        )
    return Absence(
        subject=facts.path,
        why=why,
        place=".air/config.toml",
        remedy="see whether `[rules]` there excludes it, and what `aircoding rules list` says of it; "
        "it may be newer than the run: ask with --run, or run again",
    )


def _shadowing(facts: PathFacts, dialect: Dialect) -> str:
    """Return the file that is read instead of an AGENTS file, if there is one."""
    folder, _, base = facts.path.rpartition("/")
    if dialect is not Dialect.AGENTS or base not in AGENTS_NAMES:
        return ""
    first = f"{folder}/{AGENTS_NAMES[0]}" if folder else AGENTS_NAMES[0]
    return first if base != AGENTS_NAMES[0] and first in facts.paths else ""


def _plain_file(facts: PathFacts) -> Absence:
    if facts.read_by and facts.task_id in (None, *facts.read_by):
        return _unread(facts)
    importer = _importer(facts)
    imports = f"; or import it in {importer} (`@{_relative(facts.path, importer)}`)" if importer else ""
    skill = facts.path.rpartition("/")[2].lower() == "skill.md"
    kind = "its folder is none that skills are looked for in" if skill else "it is no rule file by its name"
    whose = f"task {facts.task_id} does not name it in `reads`" if facts.task_id else "no task names it in `reads`"
    if facts.read_by:
        whose += f" ({_named(facts.read_by)} does)" if len(facts.read_by) == 1 else f" ({_named(facts.read_by)} do)"
    return Absence(
        subject=facts.path,
        why=f"{kind}, no rule file that is read imports it, and {whose}; a worker can still read it with a tool",
        place=facts.plan_place,
        remedy=f"{_name_it(facts)}{imports}",
    )


def _unread(facts: PathFacts) -> Absence:
    tasks = _named(facts.read_by) if facts.task_id is None else facts.task_id
    return Absence(
        subject=facts.path,
        why=f"the plan names it in `reads` of {tasks}, but no prompt of that task is among those that are asked about: "
        "it has not begun, its workers are of another role, or it began from an earlier plan",
        place=facts.plan_place,
        remedy="see with `aircoding status RUN` where the task stands, and ask with `--run all` and `--role all`",
    )


def _named(tasks: Sequence[str]) -> str:
    more = len(tasks) - _NEAR
    return ", ".join(tasks[:_NEAR]) + (f" and {more} more" if more > 0 else "")


def _name_it(facts: PathFacts) -> str:
    whose = f"of {facts.task_id} " if facts.task_id else "of the task "
    return f"name it in `reads` {whose}at {facts.plan_place}"


def _importer(facts: PathFacts) -> str:
    """Return the nearest rule file that could import a path."""
    for folder in reversed(chain(facts.path)):
        for base in _IMPORTING:
            path = f"{folder}/{base}" if folder else base
            if path in facts.paths:
                return path
    return ""


def _relative(path: str, importer: str) -> str:
    folder = importer.rpartition("/")[0]
    inside = f"{folder}/" if folder else ""
    if path.startswith(inside):
        return path.removeprefix(inside)
    shared = 0
    ours, theirs = path.split("/"), folder.split("/")
    while shared < min(len(ours), len(theirs)) and ours[shared] == theirs[shared]:
        shared += 1
    return "/".join([".."] * (len(theirs) - shared) + ours[shared:])


def absence_of_name(subject: str, known: Collection[str], rule_files: Sequence[str]) -> Absence:
    """Say why a rule or section of some name was never considered.

    Args:
        subject: the name.
        known: names that are on record.
        rule_files: the rule files that the workers asked about were offered.
    """
    near = near_names(subject, known)
    read = ", ".join(rule_files[:10]) + (f" and {len(rule_files) - 10} more" if len(rule_files) > 10 else "")
    return Absence(
        subject=subject,
        why=f"no rule or section of that name, and no text like it, is in what was read: {read or 'no rule file'}",
        place=next((name for name in near if "/" in name or name.endswith(".md")), _RULES),
        remedy="check the spelling" if near else f"write it in {_RULES}, commit it, and run again",
        near=near,
        is_name=True,
    )


def near_names(subject: str, known: Collection[str]) -> tuple[str, ...]:
    """Return known names that are almost a subject: by a letter or two, or the same file elsewhere."""
    base = subject.rpartition("/")[2]
    same = sorted(name for name in known if name.rpartition("/")[2] == base and name != subject)
    folded = {name.lower(): name for name in sorted(known, reverse=True)}
    by_base = {name.rpartition("/")[2].lower(): name for name in sorted(known, reverse=True)}
    alike = [folded[one] for one in get_close_matches(subject.lower(), folded, n=_NEAR, cutoff=0.8)]
    alike += [by_base[one] for one in get_close_matches(base.lower(), by_base, n=_NEAR, cutoff=0.8)]
    return tuple(dict.fromkeys([*alike, *same]))[:_NEAR]
