"""`aircoding profile`: as whom the agents of this user speak, and whose memory they have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aircoding.cli.output import emit, json_option, table

if TYPE_CHECKING:
    from aircoding.app.profiles import ProfileFile, ProfileView

__all__ = ["profile"]


@click.group()
def profile() -> None:
    """Make, list and show profiles: an identity (SOUL.md) and a memory, by name, in ~/.air/profiles."""


@profile.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the profiles that are there; a star marks the one that is set here."""
    from aircoding.app.profiles import list_profiles

    found = list_profiles(Path.cwd())
    rows = [("*" if one.is_set else "", one.name, one.size_bytes, one.path, one.identity or "") for one in found]
    headings = ("", "profile", "bytes", "folder", "identity")
    legend = "bytes: of SOUL.md, MEMORY.md and USER.md together"
    nothing = "there are no profiles; make one with `aircoding profile create NAME`"
    emit("profiles", found, as_json=as_json, text=lambda: f"{table(headings, rows)}\n{legend}" if rows else nothing)


@profile.command()
@click.argument("name", required=False)
@json_option
def show(name: str | None, as_json: bool) -> None:
    """Show a profile: its files, how full they are, its identity. Without NAME the one that is set."""
    from aircoding.app.profiles import show_profile

    found = show_profile(Path.cwd(), name)
    emit("profile", found, as_json=as_json, text=lambda: _text(found))


@profile.command()
@click.argument("name")
@json_option
def create(name: str, as_json: bool) -> None:
    """Make a profile with the default SOUL.md. One that has a SOUL.md keeps it."""
    from aircoding.app.profiles import make_profile

    done = make_profile(name)
    emit("profile", done, as_json=as_json, text=lambda: f"{'made' if done.made else 'kept'}  {done.path}")


def _text(found: ProfileView) -> str:
    lines = [f"{found.name}{' (set here)' if found.is_set else ''}", *map(_file, found.files)]
    if not found.files:
        lines.append("no files: agents get no identity and no memory from it")
    if found.blocked:
        lines.append(f"the identity is blocked in prompts: {found.blocked}")
    if found.identity:
        lines += ["", found.identity, "", f"in mode minimal: {found.line or 'nothing, since no line of it has words'}"]
    return "\n".join(lines)


def _file(one: ProfileFile) -> str:
    if one.problem is not None:
        return f"  {one.path}: cannot be used: {one.problem}"
    limit = f" of {one.limit_chars}" if one.limit_chars is not None else ""
    return f"  {one.path}: {one.used_chars}{limit} characters"
