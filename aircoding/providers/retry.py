"""When a failed call is tried again; pure, the caller waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aircoding.errors import ProviderError

__all__ = ["RetryPolicy", "next_try", "retries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long.

    `max_tries` counts the first one. Waits grow from `base_seconds` by `factor` up to `cap_seconds`, less up to
    `jitter_share` of them, so that workers that failed together do not return together. What the provider asks
    for is honoured up to `retry_after_cap_seconds`. `budget_seconds` bounds the time that one call may take with
    all its tries and waits; 0 for no bound.
    """

    max_tries: int = 6
    base_seconds: float = 1.0
    factor: float = 2.0
    cap_seconds: float = 60.0
    jitter_share: float = 0.25
    retry_after_cap_seconds: float = 300.0
    budget_seconds: float = 1_800.0


def next_try(
    error: ProviderError, tries: int, spent_seconds: float, policy: RetryPolicy, *, jitter: float
) -> float | None:
    """Return how long to wait before the next try, or None to give up.

    Args:
        error: why the last try failed.
        tries: how many tries have failed (1 after the first).
        spent_seconds: how long this call has taken so far, waits included.
        policy: the limits.
        jitter: a number from 0 up to 1, drawn by the caller.
    """
    if error.action not in {"retry", "wait"} or tries >= policy.max_tries:
        return None
    # The exponent is bounded because a float overflows at 2.0 ** 1024.
    grown = min(policy.base_seconds * policy.factor ** min(tries - 1, 64), policy.cap_seconds)
    delay_seconds = grown * (1 - policy.jitter_share * jitter)
    if error.retry_after_seconds is not None:
        delay_seconds = max(delay_seconds, min(error.retry_after_seconds, policy.retry_after_cap_seconds))
    if policy.budget_seconds and spent_seconds + delay_seconds > policy.budget_seconds:
        return None
    return delay_seconds


def retries(policy: RetryPolicy, jitter: Callable[[], float]) -> Callable[[ProviderError, int], float | None]:
    """Return `next_try` in the form that a session takes: failure and failed tries to seconds or None.

    A session does not measure its calls, so the bound in time does not apply there; that in tries does.
    """

    def decide(error: ProviderError, failed_tries: int) -> float | None:
        return next_try(error, failed_tries, 0.0, policy, jitter=jitter())

    return decide
