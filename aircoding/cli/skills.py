"""`aircoding skills`: which skills agents are offered, what is in one, and what the specification says of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit, json_option, note, table

if TYPE_CHECKING:
    from aircoding.app.skills import SkillCheck, SkillList, SkillText
    from aircoding.records.diagnostics import Diagnostic
    from aircoding.records.hooks import PluginFault

__all__ = ["skills"]

_DESCRIPTION_CHARS = 60


@click.group()
def skills() -> None:
    """List the skills of this project and yours, show one, check their files."""


@skills.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """List every skill: name, where it lies, description; below, why some are not used."""
    from aircoding.app.skills import list_skills

    found = list_skills(Path.cwd())
    emit(
        "skills",
        found.skills,
        as_json=as_json,
        text=lambda: _listed(found),
        diagnostics=_plain(found.diagnostics),
        faults=_plain(found.faults),
    )


@skills.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the skill NAME: where it lies, its header, its body."""
    from aircoding.app.skills import show_skill

    found = show_skill(Path.cwd(), name)
    emit("skill", found, as_json=as_json, text=lambda: _shown(found))


@skills.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@json_option
def check(paths: tuple[Path, ...], as_json: bool) -> None:
    """Hold skills to the letter of the open specification; exit 1 when there are findings.

    Each of PATHS is a SKILL.md, its folder, or a folder of skills; without one the project's and yours are checked.
    """
    from aircoding.app.skills import check_skills

    found = check_skills(Path.cwd(), paths)
    emit("findings", found.findings, as_json=as_json, text=lambda: _checked(found), files=found.files)
    if found.faults:
        raise click.exceptions.Exit(1)


def _listed(found: SkillList) -> str:
    for one in found.diagnostics:
        note(_remark(one))
    for fault in found.faults:
        note(f"{fault.name} takes no part: {fault.reason}")
    if not found.skills:
        return "no skills; write one to .air/shared/skills/NAME/SKILL.md or ~/.air/skills/NAME/SKILL.md"
    rows = [(one.name, "yes" if one.usable else "no", one.where, _short(one.description)) for one in found.skills]
    return "\n".join([table(("name", "used", "where", "description"), rows), *_reasons(found)])


def _reasons(found: SkillList) -> Iterator[str]:
    """Yield why skills are not used, one reason once."""
    names: dict[str, list[str]] = {}
    for one in found.skills:
        if not one.usable:
            names.setdefault(one.why_not, []).append(one.name)
    for why, named in names.items():
        yield f"not used: {', '.join(named)}: {why}"


def _short(description: str) -> str:
    line = " ".join(description.split())
    return line if len(line) <= _DESCRIPTION_CHARS else f"{line[: _DESCRIPTION_CHARS - 1]}…"


def _shown(found: SkillText) -> str:
    skill = found.skill
    fields = [
        ("where", skill.where),
        ("used", "yes" if skill.usable else f"no: {skill.why_not}"),
        ("description", " ".join(skill.description.split())),
        ("triggers", ", ".join(skill.triggers)),
        ("paths", ", ".join(skill.paths)),
        ("asks for tools", f"{', '.join(skill.allowed_tools)} (grants nothing)" if skill.allowed_tools else ""),
        ("told to agents", "" if skill.model_invocable else "no (disable-model-invocation)"),
        ("called by people", "" if skill.user_invocable else "no (user-invocable)"),
    ]
    known = ("name", "description", "when_to_use", "triggers", "paths", "allowed-tools")
    fields += [(key, str(value)) for key, value in found.header.items() if key not in known]
    head = "\n".join([skill.name, *(f"  {key}: {value}" for key, value in fields if value)])
    return f"{head}\n\n{found.body}" if found.body else head


def _checked(found: SkillCheck) -> str:
    lines = [_remark(one) for one in found.findings]
    count = len(found.faults)
    lines.append(f"{found.files} skill files, {count} findings" if count else f"{found.files} skill files are in order")
    return "\n".join(lines)


def _remark(one: Diagnostic) -> str:
    place = f"{one.uri}:{one.line}" if one.line is not None else one.uri
    return f"{place}: {one.severity}: {one.message}" + (f"; {one.hint}" if one.hint else "")


def _plain(remarks: tuple[Diagnostic | PluginFault, ...]) -> object:
    from aircoding.records.jsonable import jsonable

    return jsonable(remarks)
