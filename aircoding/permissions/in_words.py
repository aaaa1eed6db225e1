"""The effective policy in words, for L2: what a worker must know before it acts. It informs; the engine enforces.

The same lines give the same words, whatever order the files have them in: these bytes stand in every prompt of a role.
"""

from __future__ import annotations

from collections.abc import Iterable

from aircoding.records.policy import Effect, Policy, PolicySubject

__all__ = ["policy_in_words", "task_policy_in_words"]

_MOST_PATTERNS = 120
"""Patterns of one kind that are spelled out; more are counted."""


def policy_in_words(policy: Policy) -> str:
    """Return the part that all workers of a role share: what may be read, written, run, announced, reached."""
    lines = [
        "Every tool call is judged before it runs. A refusal is final: seek no other way to the same act.",
        "",
        "Files:",
        "- You may read the worktree.",
        _list("- You may also read", policy, PolicySubject.READ, Effect.ALLOW, leave_out=("./**", "**")),
        _list("- Reading needs approval", policy, PolicySubject.READ, Effect.ASK),
        _list("- Never read", policy, PolicySubject.READ, Effect.DENY),
        _list("- Credentials, never read or written", policy, PolicySubject.CREDENTIAL, Effect.DENY),
        "- You write only in your task's write area." if policy.may_write else "- Your role writes no files.",
    ]
    if policy.may_write:
        lines += [
            _list("- Writing is announced", policy, PolicySubject.WRITE, Effect.ANNOUNCE),
            _list("- Writing needs approval", policy, PolicySubject.WRITE, Effect.ASK),
            _list("- Never written", policy, PolicySubject.WRITE, Effect.DENY),
            _list("- The system's, never written", policy, PolicySubject.SYSTEM, Effect.DENY),
            *([f"- Except: {_spelled(policy.floor_exceptions)}."] if policy.floor_exceptions else []),
        ]
    lines += [
        "",
        "Commands (each command of a line is judged, at every depth; a file that one names is judged as a file):",
        _list("- Run", policy, PolicySubject.COMMAND, Effect.ALLOW),
        _list("- Run and are announced", policy, PolicySubject.COMMAND, Effect.ANNOUNCE),
        _list("- Need approval", policy, PolicySubject.COMMAND, Effect.ASK),
        _list("- Are refused", policy, PolicySubject.COMMAND, Effect.DENY),
        "- Any other program needs approval, and so does a program, path or host that is known only when it runs.",
        "" if policy.interactive else "- Nobody can be asked now: what needs approval is refused.",
        "" if policy.confined else "- No sandbox confines commands here, so each of them needs approval.",
        "",
        "Network:",
        _list("- Hosts that may be reached", policy, PolicySubject.HOST, Effect.ALLOW) or "- No host may be reached.",
        _list("- Hosts that need approval", policy, PolicySubject.HOST, Effect.ASK),
        _list("- Hosts that are refused", policy, PolicySubject.HOST, Effect.DENY),
        "",
        _list("Tools that need approval", policy, PolicySubject.TOOL, Effect.ASK),
        _list("Tools that are refused", policy, PolicySubject.TOOL, Effect.DENY),
    ]
    tools = (
        _list("- Tools that need approval", policy, PolicySubject.TOOL, Effect.ASK),
        _list("- Tools that are refused", policy, PolicySubject.TOOL, Effect.DENY),
    )
    lines += ["", "Tools:", *tools] if any(tools) else []
    return _without_gaps(lines)


def task_policy_in_words(policy: Policy) -> str:
    """Return the part that is this task's: its write area and its denied paths."""
    if policy.may_write and policy.write_area:
        lines = [f"You may write: {_spelled(policy.write_area)}. Writing elsewhere needs approval."]
    else:
        lines = ["You may write no files."]
    if policy.denied_paths:
        lines.append(f"You may neither read nor write: {_spelled(policy.denied_paths)}.")
    return "\n".join(lines)


def _list(
    title: str, policy: Policy, subject: PolicySubject, effect: Effect, *, leave_out: tuple[str, ...] = ()
) -> str:
    patterns = {rule.pattern for rule in policy.rules if rule.subject is subject and rule.effect is effect}
    shown = sorted(patterns - set(leave_out))
    if subject is PolicySubject.COMMAND:
        shown = _by_program(shown)
    return f"{title}: {_spelled(shown)}." if shown else ""


def _by_program(patterns: Iterable[str]) -> list[str]:
    """Return commands by program: `git diff|log|show` says three lines in one."""
    subcommands: dict[str, set[str]] = {}
    for pattern in patterns:
        program, _, rest = pattern.removesuffix(" *").partition(" ")
        subcommands.setdefault(program, set()).add(rest)
    said: list[str] = []
    for program, rests in sorted(subcommands.items()):
        if "" in rests:
            said.append(program)
        if rests - {""}:
            said.append(f"{program} {'|'.join(sorted(rests - {''}))}")
    return said


def _spelled(patterns: Iterable[str]) -> str:
    every = list(patterns)
    more = f", and {len(every) - _MOST_PATTERNS} more" if len(every) > _MOST_PATTERNS else ""
    return ", ".join(f"`{pattern}`" for pattern in every[:_MOST_PATTERNS]) + more


def _without_gaps(lines: list[str]) -> str:
    """Drop what has nothing to say; keep one empty line before each heading."""
    kept: list[str] = []
    for line in lines:
        if line.endswith(":") and kept:
            kept.append("")
        if line:
            kept.append(line)
    return "\n".join(kept)
