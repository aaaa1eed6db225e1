"""The options that say which part of the record a question is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

__all__ = ["asked_options", "manifest_option"]

_NAMES = ("run_id", "task_id", "role", "session_id", "since")
manifest_option = click.option("--manifest", "manifest_id", help="Only this assembly.")


def asked_options() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command `--run`, `--since`, `--task`, `--role` and `--session`, as one `asked`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_asked(**given: Any) -> None:
            from aircoding.app.questions.asking import Asked

            command(asked=Asked(**{name: given.pop(name) for name in _NAMES}), **given)

        options = (
            click.option("--run", "run_id", help="A run, or `all`; default the newest one."),
            click.option(
                "--since", help="Runs started since then: 12h, 7d, a date or a time; of all runs, unless --run."
            ),
            click.option("--task", "task_id", help="Only this task's workers."),
            click.option("--role", help="Only this role; default all."),
            click.option("--session", "session_id", help="Only this session."),
        )
        for option in reversed(options):
            with_asked = option(with_asked)
        return with_asked

    return decorate
