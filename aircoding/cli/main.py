"""Entry point: a group whose commands are imported when they are called, and one place where errors end."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from aircoding import __version__
from aircoding.cli.lazy import LazyGroup
from aircoding.cli.output import print_error
from aircoding.cli.terminal import masked_terminal
from aircoding.errors import AirError

__all__ = ["cli", "main"]

_COMMANDS = {
    "conflicts": ("aircoding.cli.conflicts:conflicts", "List, show and rule on contradictions in prompts and plans."),
    "context": (
        "aircoding.cli.context.group:context",
        "Build, show, test and question prompts: blame, why, why-not, who-saw, diff, replay, costs, ...",
    ),
    "db": ("aircoding.cli.db:db", "Upgrade the database, say what is in it, or let go of what is old."),
    "demo": ("aircoding.cli.demo:demo", "Watch a small fleet work, without a key or a network."),
    "doctor": ("aircoding.cli.setup:doctor", "Check this machine and this project; each finding comes with its fix."),
    "emulator": ("aircoding.cli.emulator:emulator", "Serve a scripted Messages API on this machine, for any client."),
    "export": ("aircoding.cli.export:export", "Write a recorded run as a bundle to read elsewhere, or as spans."),
    "hooks": ("aircoding.cli.hooks:hooks", "List hooks of plugins and of the project, trust the project's, try one."),
    "import": ("aircoding.cli.importing:import_bundle", "Take a run that was exported elsewhere into the record."),
    "init": ("aircoding.cli.setup:init", "Prepare a repository: .air/ with commented files."),
    "memory": ("aircoding.cli.memory:memory", "Show, add, edit and remove what agents remember."),
    "permissions": (
        "aircoding.cli.permissions:permissions",
        "Trust a policy or a plan's commands; check, explain, test what a policy says; import other tools'; be a hook.",
    ),
    "plan": ("aircoding.cli.plan:plan", "Check a plan, show its waves and its critical path, estimate what it costs."),
    "profile": ("aircoding.cli.profile:profile", "Make, list and show profiles: identity and memory by name."),
    "reload": ("aircoding.cli.run:reload", "Let a run that goes on take in changed rules, plans, roles and policies."),
    "resume": ("aircoding.cli.run:resume", "Go on with a run that was interrupted."),
    "rules": (
        "aircoding.cli.rules:rules",
        "Say which rule files reach an agent for a path and which are lost, here and in six other tools.",
    ),
    "run": ("aircoding.cli.run:run", "Drive a plan to merged, verified work."),
    "screen": ("aircoding.cli.screen:screen", "Find in files what would instruct an agent; for people and for CI."),
    "skills": ("aircoding.cli.skills:skills", "List, show and check the skills that agents are offered."),
    "status": ("aircoding.cli.status:status", "Show runs, or the tasks of one run."),
}


@click.group(cls=LazyGroup, table=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="aircoding")
def cli() -> None:
    """Drive fleets of coding agents over a task graph, and say for every byte an agent saw where it came from."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code (DESIGN section 12).

    0 ok; 1 tasks failed, or differences found; 2 usage or configuration; 3 internal; 4 credentials
    missing; 5 budget reached, resumable; 130 interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_run(given))


def _run(arguments: list[str]) -> int:
    with masked_terminal():
        return _answer(arguments)


def _answer(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        code = cli.main(arguments, prog_name="aircoding", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        if as_json:
            print_error("usage", error.format_message(), "see --help", as_json=True)
        else:
            error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except AirError as error:
        print_error(error.code, error.message, error.hint, as_json=as_json)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback reaches a person
        if os.environ.get("AIR_DEBUG"):
            traceback.print_exc()
        message = f"{type(error).__name__}: {error}"
        print_error("internal", message, "set AIR_DEBUG=1 for the traceback, and report it", as_json=as_json)
        return 3
    return code if isinstance(code, int) else 0
