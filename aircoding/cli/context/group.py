"""The group `aircoding context`; each command is imported when it is called."""

from __future__ import annotations

import click

from aircoding.cli.lazy import LazyGroup

__all__ = ["context"]

_COMMANDS = {
    "blame": ("aircoding.cli.context.blame:blame", "Say for each line of a prompt whose it is."),
    "build": ("aircoding.cli.context.build:build", "Assemble what a worker would see now; nothing is recorded."),
    "cache": ("aircoding.cli.context.cache:cache", "Say what a call read from the prompt cache, and why not more."),
    "check": ("aircoding.cli.context.check:check", "Run the tests of what agents see; fail where a change breaks one."),
    "conflicts": (
        "aircoding.cli.context.omissions:conflicts",
        "Say in whose prompts contradictions stood (to rule on one: `aircoding conflicts`).",
    ),
    "costs": ("aircoding.cli.context.costs:costs", "Say what a run cost by task, role, layer or model."),
    "diff": ("aircoding.cli.context.diff:diff", "Say what changed between two assemblies."),
    "impact": (
        "aircoding.cli.context.impact:impact",
        "Say which roles, tasks and paths a change gives another context, and how.",
    ),
    "expand": ("aircoding.cli.context.expand:expand", "Print the text that a reference in a prompt stands for."),
    "list": ("aircoding.cli.context.show:list_", "List recorded assemblies, the newest first."),
    "omissions": ("aircoding.cli.context.omissions:omissions", "Say what prompts left out, why, and what lets it in."),
    "replay": (
        "aircoding.cli.context.replay:replay",
        "Rebuild a recorded request, or ask what another would have been.",
    ),
    "show": ("aircoding.cli.context.show:show", "Show a recorded assembly: what is in, and what was left out."),
    "who-saw": ("aircoding.cli.context.why:who_saw", "Say which workers had a rule or file in a prompt, and who not."),
    "why": ("aircoding.cli.context.why:why", "Say where a text stands in prompts, and what let it in."),
    "why-not": ("aircoding.cli.context.why:why_not", "Say why a path or rule was not in a prompt."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def context() -> None:
    """Build, show and question prompts: every byte that an agent saw, and every text that it did not see."""
