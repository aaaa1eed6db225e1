"""Project hooks as real processes: confined, limited, and harmless whatever they do."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agents.conftest import POLICY, rule
from agents.doubles import SCREENER, brief
from agents.test_agents_hooks import MemoryLog
from support.projects import write_tree

from aircoding.agents import hook_child
from aircoding.agents.hook_process import project_hook_call
from aircoding.agents.hooks import HookDispatcher
from aircoding.ports import Sandbox
from aircoding.records.hooks import Hook, HookEvent, HookResult, ProjectHook
from aircoding.records.layers import Layer, Trust
from aircoding.records.policy import Effect, Policy, PolicySubject
from aircoding.sources.project_hooks import HOOKS_FILE, read_project_hooks
from aircoding.workspace.sandbox import choose_sandbox

TEXTS = [event for event in HookEvent if event is not HookEvent.INSTRUCTIONS_LOADED]


class Place:
    """A project with one hook, which is trusted as it is when it is asked first."""

    def __init__(self, root: Path, sandbox: Sandbox, policy: Policy = POLICY) -> None:
        self.root, self.sandbox, self.policy = root, sandbox, policy

    def hook(self, event: HookEvent, how: Mapping[str, Any], *, seconds: float = 10) -> Hook:
        entry = {"name": "h", "event": event.value, "timeout_seconds": seconds, **how}
        write_tree(self.root, {HOOKS_FILE: json.dumps({"version": 1, "hooks": [entry]})})
        found = read_project_hooks(self.root)
        assert found is not None
        assert found.faults == ()
        (spec,) = found.hooks
        assert isinstance(spec, ProjectHook)
        call = project_hook_call(
            spec,
            trusted=found.digest,
            read=lambda: read_project_hooks(self.root),
            sandbox=self.sandbox,
            root=str(self.root),
            policy_for=lambda _role: self.policy,
        )
        return Hook(
            name="hook/h",
            event=event,
            source_uri=spec.source_uri,
            trust=Trust.PROJECT,
            call=call,
            timeout_seconds=spec.timeout_seconds,
        )

    def python(self, event: HookEvent, source: str, **more: Any) -> Hook:
        write_tree(self.root, {"h.py": source})
        return self.hook(event, {"python": "h.py"}, **more)

    def command(self, event: HookEvent, source: str, **more: Any) -> Hook:
        write_tree(self.root, {"h.py": source})
        return self.hook(event, {"command": ["python3", "h.py"]}, **more)


@pytest.fixture
def place(tmp_path: Path, sandbox: Sandbox) -> Place:
    return Place(tmp_path / "project", sandbox)


async def ask(one: Hook, **facts: Any) -> HookResult:
    asker = HookDispatcher([one], MemoryLog(), SCREENER, profile="default", project_root="/project")
    results, _ = await asker.ask(brief(), one.event, "now", turn=1, facts=facts)
    return results[0]


@pytest.mark.parametrize("event", list(HookEvent))
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise SystemExit(7)", "exit code 7"),
        ("1 / 0", "exit code 1: ZeroDivisionError: division by zero"),
        ("import os; os.abort()", "exit code"),
        ("print('{\"context\":')", "its output is no JSON"),
        ("print('[' * 100000)", "its output is no JSON"),
        ("print('[1, 2]')", "it returned a list"),
        ("print('\"a' + chr(92) + 'u0000b\"')", "zero byte"),
        ("print('\"a' + chr(92) + 'ud800b\"')", "surrogate"),
        ("import sys; sys.stdout.write('x' * 5_000_000)", "too large"),
    ],
)
async def test_a_command_that_goes_wrong_is_a_failure(place: Place, event: HookEvent, source: str, said: str) -> None:
    result = await ask(place.command(event, source))
    observed = event is HookEvent.INSTRUCTIONS_LOADED and said in {"zero byte", "surrogate"}
    assert result.state == ("returned" if observed else "failed")
    assert observed or said in result.reason, result.reason


@pytest.mark.parametrize("event", list(HookEvent))
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def hook(facts):\n    raise ValueError('no')", "exit code 1: ValueError: no"),
        ("def other(facts): pass", "exit code 1: h.py has no function hook"),
        ("def hook(:", "SyntaxError"),
        ("def hook(facts): return {1, 2}", "not JSON serializable"),
        ("def hook(facts): return float('nan')", "Out of range float values are not JSON compliant"),
        ("import os\ndef hook(facts): os._exit(0 if facts else 1)", ""),
    ],
)
async def test_a_function_that_goes_wrong_is_a_failure(place: Place, event: HookEvent, source: str, said: str) -> None:
    result = await ask(place.python(event, source))
    assert result.state == ("failed" if said else "returned")
    assert said in result.reason
    assert result.text == ""


@pytest.mark.parametrize("event", list(HookEvent))
async def test_a_hook_that_hangs_is_ended_with_all_that_it_started(place: Place, event: HookEvent) -> None:
    source = "import subprocess\nsubprocess.run(['sleep', '3600'])\n"
    result = await ask(place.command(event, source, seconds=0.5))
    assert (result.state, result.reason) == ("failed", "no answer after 0.5 seconds")
    assert result.duration_seconds < 5


@pytest.mark.parametrize("event", TEXTS)
async def test_plain_text_counts_as_the_text_of_the_event(place: Place, event: HookEvent) -> None:
    result = await ask(place.command(event, "print('The gate is blue.')"))
    layers = {HookEvent.CONTEXT: Layer.L3, HookEvent.BEFORE_PROMPT_BUILD: Layer.L4}
    assert (result.state, result.text.strip(), result.layer) == ("returned", "The gate is blue.", layers.get(event))


async def test_a_function_is_given_the_facts_and_what_it_prints_is_no_answer(place: Place) -> None:
    source = (
        "import sys\n"
        "async def hook(facts):\n"
        "    print('looking', flush=True)\n"
        "    return {'decision': 'ask', 'reason': facts['tool_name'] + ' for ' + facts['role'] + ' \\u00e9'}\n"
    )
    result = await ask(place.python(HookEvent.PRE_TOOL_USE, source), tool_name="shell")
    assert (result.decision, result.reason) == (Effect.ASK, "shell for executor é")


async def test_exit_code_two_refuses_a_tool_call_and_stderr_is_the_reason(place: Place) -> None:
    source = "import sys\nprint('not on a Monday', file=sys.stderr)\nsys.exit(2)\n"
    refused = await ask(place.command(HookEvent.PRE_TOOL_USE, source))
    assert (refused.state, refused.decision, refused.reason) == ("returned", Effect.DENY, "not on a Monday")
    failed = await ask(place.command(HookEvent.POST_TOOL_USE, source))
    assert (failed.state, failed.decision) == ("failed", None)


async def test_it_runs_the_text_that_was_trusted_and_nothing_after_a_change(place: Place) -> None:
    one = place.python(HookEvent.PRE_LLM_CALL, "def hook(facts): return 'trusted'")
    assert (await ask(one)).text == "trusted"
    (place.root / "h.py").write_text("def hook(facts): return 'changed'")
    changed = await ask(one)
    assert (changed.state, changed.text) == ("failed", "")
    assert "it was changed since it was trusted" in changed.reason
    (place.root / HOOKS_FILE).unlink()
    assert (await ask(one)).state == "failed"


async def test_a_deny_of_the_policy_holds_and_an_ask_is_answered_by_the_trust(place: Place) -> None:
    asks = replace(POLICY, rules=(rule(PolicySubject.COMMAND, Effect.ASK, "python3 *", 3),))
    denies = replace(POLICY, rules=(rule(PolicySubject.COMMAND, Effect.DENY, "python3 *", 4),))
    for make in (place.command, place.python):
        source = "def hook(facts): return 'ran'\nif __name__ == '__main__': print('ran')\n"
        one = make(HookEvent.PRE_LLM_CALL, source)
        place.policy = asks
        assert (await ask(one)).text.strip() == "ran"
        place.policy = denies
        denied = await ask(one)
        assert (denied.state, "permissions.yaml:4" in denied.reason) == ("failed", True)


async def test_without_a_sandbox_a_hook_runs_only_where_unconfined_commands_are_allowed(place: Place) -> None:
    """Its trust answers an ask of the policy, and not the one for want of a sandbox."""
    ran = place.root / "ran"
    place.sandbox = choose_sandbox("none")
    for make in (place.command, place.python):
        source = f"def hook(facts): open({str(ran)!r}, 'w')\nif __name__ == '__main__': hook(0)\n"
        one = make(HookEvent.PRE_TOOL_USE, source)
        place.policy = replace(POLICY, confined=False)
        refused = await ask(one)
        assert (refused.state, "not run: no sandbox confines commands here" in refused.reason) == ("failed", True)
        assert not ran.exists()
        place.policy = replace(POLICY, confined=True)
        assert (await ask(one)).state == "returned"
        assert ran.exists()
        ran.unlink()


@pytest.mark.parametrize("said", [("deny", "allow"), ("allow", "deny")])
async def test_an_answer_that_denies_and_allows_denies(place: Place, said: tuple[str, str]) -> None:
    answer = f'{{"decision": "{said[0]}", "decision": "{said[1]}"}}'
    result = await ask(place.command(HookEvent.PRE_TOOL_USE, f"print({answer!r})"))
    assert (result.state, result.decision) == ("returned", Effect.DENY)
    assert result.reason == "its answer denies, and not only: the key decision stands twice"


@pytest.mark.parametrize("event", list(HookEvent))
async def test_an_answer_with_a_key_twice_means_nothing(place: Place, event: HookEvent) -> None:
    result = await ask(place.command(event, 'print(\'{"reason": "a", "reason": "b"}\')'))
    assert (result.state, result.decision) == ("failed", None)
    assert result.reason == "HookProcessError: its output means nothing: the key reason stands twice"


async def test_a_folder_that_a_command_names_is_run_only_as_it_was_trusted(place: Place) -> None:
    place.sandbox = choose_sandbox("none")  # where it could leave byte code in its folder
    write_tree(place.root, {"tools/__main__.py": "import part\nprint(part.SAID)", "tools/part.py": "SAID = 'trusted'"})
    one = place.hook(HookEvent.PRE_LLM_CALL, {"command": ["python3", "tools"]})
    for _ in range(2):
        assert (await ask(one)).text.strip() == "trusted"
    (place.root / "tools/part.py").write_text("SAID = 'changed'")
    changed = await ask(one)
    assert (changed.state, "it was changed since it was trusted" in changed.reason) == ("failed", True)


async def test_a_confined_hook_can_write_nothing_in_the_project(place: Place) -> None:
    if not place.sandbox.report.filesystem:
        pytest.skip("nothing confines commands on this machine")
    source = "def hook(facts):\n    open('written', 'w').close()\n"
    result = await ask(place.python(HookEvent.PRE_LLM_CALL, source))
    assert result.state == "failed"
    assert not (place.root / "written").exists()


async def test_a_program_that_is_not_there_is_a_failure(place: Place) -> None:
    result = await ask(place.hook(HookEvent.PRE_LLM_CALL, {"command": ["no-such-program-at-all"]}))
    assert result.state == "failed"


def test_the_program_of_the_child_needs_nothing_of_ours() -> None:
    """It runs isolated, where this package need not be: from an editable checkout as from an installed wheel."""
    tree = ast.parse(Path(hook_child.__file__).read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names
