"""When a call is tried again: pure, so for all inputs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aircoding.errors import ProviderError
from aircoding.providers.retry import RetryPolicy, next_try, retries

seconds = st.floats(0, 1e6, allow_nan=False)
errors = st.builds(
    ProviderError,
    st.just("failed"),
    kind=st.just("server"),
    action=st.sampled_from(["retry", "wait"]),
    retry_after_seconds=st.none() | seconds,
)
policies = st.builds(
    RetryPolicy,
    max_tries=st.integers(1, 2_000),
    base_seconds=st.floats(0.01, 10),
    factor=st.floats(1, 10),
    cap_seconds=st.floats(1, 100),
    jitter_share=st.floats(0, 1),
    retry_after_cap_seconds=st.floats(0, 1_000),
    budget_seconds=st.just(0.0) | st.floats(1, 1e5),
)
jitters = st.floats(0, 1, exclude_max=True)


@given(errors, st.integers(1, 3_000), seconds, policies, jitters)
def test_a_wait_stays_within_every_limit(
    error: ProviderError, tries: int, spent: float, policy: RetryPolicy, jitter: float
) -> None:
    delay = next_try(error, tries, spent, policy, jitter=jitter)
    if delay is None:
        return
    assert tries < policy.max_tries
    assert 0 <= delay <= max(policy.cap_seconds, policy.retry_after_cap_seconds)
    assert not policy.budget_seconds or spent + delay <= policy.budget_seconds


@given(errors, st.integers(1, 50), policies, jitters)
def test_what_the_provider_asks_for_is_waited_up_to_the_cap(
    error: ProviderError, tries: int, policy: RetryPolicy, jitter: float
) -> None:
    delay = next_try(error, tries, 0.0, policy, jitter=jitter)
    if delay is not None and error.retry_after_seconds is not None:
        assert delay >= min(error.retry_after_seconds, policy.retry_after_cap_seconds)


@given(st.integers(1, 50), policies)
def test_waits_never_shrink_and_jitter_only_shortens_them(tries: int, policy: RetryPolicy) -> None:
    error = ProviderError("x", kind="server", action="retry")
    now, later = (next_try(error, n, 0.0, policy, jitter=0.0) for n in (tries, tries + 1))
    early = next_try(error, tries, 0.0, policy, jitter=0.99)
    assert now is None or later is None or later >= now
    assert now is None or early is None or early <= now


@given(st.sampled_from(["stop", "other_model"]), st.integers(1, 50), policies, jitters)
def test_what_cannot_succeed_is_not_tried_again(action: str, tries: int, policy: RetryPolicy, jitter: float) -> None:
    error = ProviderError("x", kind="refused", action=action, retry_after_seconds=1.0)
    assert next_try(error, tries, 0.0, policy, jitter=jitter) is None


def test_the_plain_sequence() -> None:
    error = ProviderError("x", kind="overloaded", action="retry")
    decide = retries(RetryPolicy(), lambda: 0.0)
    assert [decide(error, tries) for tries in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 16.0, None]
    asked = ProviderError("x", kind="rate_limit", action="wait", retry_after_seconds=9_000)
    assert decide(asked, 1) == 300.0
