"""The effective policy in words, for L2: what a worker must know before it acts. It informs; the engine enforces."""

from __future__ import annotations

from aircoding.records.policy import Effect, Policy, PolicySubject

__all__ = ["policy_in_words", "task_policy_in_words"]

_MOST_PATTERNS = 24


def policy_in_words(policy: Policy) -> str:
    """Return the part that all workers of a role share: tools, commands, paths, network."""
    lines = [
        "Each tool call is judged before it runs. A refusal is final: do not look for another way to the same act."
    ]
    if not policy.may_write:
        lines.append("You write no files.")
    commands = (
        ("Commands that run", Effect.ALLOW),
        ("Commands that run and are announced", Effect.ANNOUNCE),
        ("Commands that need a person's approval, and are refused without one", Effect.ASK),
        ("Commands that are refused", Effect.DENY),
    )
    lines += [_list(title, policy, PolicySubject.COMMAND, effect) for title, effect in commands]
    lines.append("Any other command needs approval. So does one whose program or path is known only when it runs.")
    lines += [
        _list("Never read or written", policy, PolicySubject.CREDENTIAL, Effect.DENY),
        _list("Never written", policy, PolicySubject.WRITE, Effect.DENY),
        _list("Also never written", policy, PolicySubject.SYSTEM, Effect.DENY),
    ]
    hosts = _patterns(policy, PolicySubject.HOST, Effect.ALLOW)
    lines.append(f"Hosts that may be reached: {', '.join(hosts)}." if hosts else "No host may be reached.")
    return "\n".join(line for line in lines if line)


def task_policy_in_words(policy: Policy) -> str:
    """Return the part that is this task's: its write area and its denied paths."""
    if policy.may_write:
        area = ", ".join(f"`{glob}`" for glob in policy.write_area) or "nothing"
        lines = [f"You may write {area}, and nothing else."]
    else:
        lines = ["You may write nothing."]
    if policy.denied_paths:
        lines.append("This task denies " + ", ".join(f"`{glob}`" for glob in policy.denied_paths) + ".")
    return "\n".join(lines)


def _patterns(policy: Policy, subject: PolicySubject, effect: Effect) -> list[str]:
    return sorted({rule.pattern for rule in policy.rules if rule.subject is subject and rule.effect is effect})


def _list(title: str, policy: Policy, subject: PolicySubject, effect: Effect) -> str:
    patterns = _patterns(policy, subject, effect)
    if not patterns:
        return ""
    shown = ", ".join(f"`{pattern}`" for pattern in patterns[:_MOST_PATTERNS])
    more = f" and {len(patterns) - _MOST_PATTERNS} more" if len(patterns) > _MOST_PATTERNS else ""
    return f"{title}: {shown}{more}."
