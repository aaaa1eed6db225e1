"""The group `aircoding context`; each command is imported when it is called."""

from __future__ import annotations

import click

from aircoding.cli.lazy import LazyGroup

__all__ = ["context"]

_COMMANDS = {
    "blame": ("aircoding.cli.context.blame:blame", "Say for each line of a prompt whose it is."),
    "build": ("aircoding.cli.context.build:build", "Assemble what a worker would see now; nothing is recorded."),
    "cache": ("aircoding.cli.context.cache:cache", "Say what a call read from the prompt cache, and why not more."),
    "diff": ("aircoding.cli.context.diff:diff", "Say what changed between two assemblies."),
    "list": ("aircoding.cli.context.show:list_", "List recorded assemblies, the newest first."),
    "replay": ("aircoding.cli.context.replay:replay", "Rebuild a recorded request from the store alone."),
    "show": ("aircoding.cli.context.show:show", "Show a recorded assembly: what is in, and what was left out."),
    "who-saw": ("aircoding.cli.context.why:who_saw", "Say which workers had a rule or file in a prompt, and who not."),
    "why": ("aircoding.cli.context.why:why", "Say where a text stands in prompts, and what let it in."),
    "why-not": ("aircoding.cli.context.why:why_not", "Say why a path or rule was not in a prompt."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def context() -> None:
    """Build, show and question prompts: every byte that an agent saw, and every text that it did not see."""
