"""`aircoding memory`: what agents remember from one session to the next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aircoding.cli.output import emit, json_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from aircoding.app.memory import MemoryChange, MemoryView
    from aircoding.rules.memory_entries import MemoryKind

__all__ = ["memory"]


@click.group()
def memory() -> None:
    """Show what agents remember; add, edit or remove an entry. Sessions that start later have it."""


def _profile_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--profile", help="A profile of ~/.air/profiles instead of the one that is set.")(command)


def _store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--user", "in_user", is_flag=True, help="What is known about you: USER.md.")(command)
    return click.option("--project", "in_project", is_flag=True, help="This project's .air/shared/memory/MEMORY.md.")(
        command
    )


@memory.command()
@_profile_option
@json_option
def show(profile: str | None, as_json: bool) -> None:
    """Show every store with its entries and how full it is."""
    from aircoding.app.memory import show_memory

    found = show_memory(Path.cwd(), profile=profile)
    emit("memory", found, as_json=as_json, text=lambda: "\n\n".join(_text(one) for one in found))


@memory.command()
@click.argument("text")
@_store_options
@_profile_option
@json_option
def add(text: str, in_user: bool, in_project: bool, profile: str | None, as_json: bool) -> None:
    """Remember TEXT."""
    from aircoding.app.memory import add_memory

    done = add_memory(Path.cwd(), text, kind=_kind(in_user, in_project), profile=profile)
    _emit(done, "remembered", "it is remembered already", as_json=as_json)


@memory.command()
@click.argument("which")
@click.argument("text")
@_store_options
@_profile_option
@json_option
def edit(which: str, text: str, in_user: bool, in_project: bool, profile: str | None, as_json: bool) -> None:
    """Put TEXT in the place of the one entry that holds the words WHICH."""
    from aircoding.app.memory import edit_memory

    done = edit_memory(Path.cwd(), which, text, kind=_kind(in_user, in_project), profile=profile)
    _emit(done, "changed", "it says that already", as_json=as_json)


@memory.command()
@click.argument("which")
@_store_options
@_profile_option
@json_option
def remove(which: str, in_user: bool, in_project: bool, profile: str | None, as_json: bool) -> None:
    """Forget the one entry that holds the words WHICH."""
    from aircoding.app.memory import remove_memory

    done = remove_memory(Path.cwd(), which, kind=_kind(in_user, in_project), profile=profile)
    _emit(done, "forgotten", "", as_json=as_json)


def _kind(in_user: bool, in_project: bool) -> MemoryKind:
    from aircoding.rules.memory_entries import MemoryKind

    if in_user and in_project:
        raise click.UsageError("--user and --project name two stores; one at a time")
    return MemoryKind.USER if in_user else MemoryKind.PROJECT if in_project else MemoryKind.NOTES


def _emit(done: MemoryChange, word: str, same: str, *, as_json: bool) -> None:
    where = f"{done.memory.path}: {done.memory.used_chars} of {done.memory.limit_chars} characters"
    emit("change", done, as_json=as_json, text=lambda: f"{word if done.changed else same}; {where}")


def _text(view: MemoryView) -> str:
    lines = [f"{view.kind.value} ({view.path}): {view.used_chars} of {view.limit_chars} characters"]
    for number, entry in enumerate(view.entries, 1):
        author = "  (an agent wrote this)" if number in view.by_agents else ""
        lines.append(f"- {entry}".replace("\n", "\n  ") + author)
    lines += [] if view.entries else ["(empty)"]
    return "\n".join(lines)
