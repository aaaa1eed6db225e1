"""What a failure means, where the wire cannot be made to show it."""

from __future__ import annotations

import pytest

from aircoding.providers.failures import http_failure, retry_after_seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"date": "Mon, 30 Nov 2026 10:00:00 GMT", "retry-after": "Mon, 30 Nov 2026 10:01:30 GMT"}, 90.0),
        ({"date": "Mon, 30 Nov 2026 10:00:00 GMT", "retry-after": "Mon, 30 Nov 2026 09:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2020 09:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers) == seconds


def test_the_type_in_the_body_counts_before_the_status() -> None:
    error = http_failure(200, error_type="rate_limit_error", began=True)
    assert (error.kind, error.action, error.maybe_billed) == ("rate_limit", "retry", True)


def test_a_limit_of_money_cannot_be_waited_for() -> None:
    error = http_failure(429, error_type="rate_limit_error", error_code="enforced_spend_limit_reached")
    assert (error.kind, error.action) == ("refused", "stop")
    assert http_failure(429, error_code="ramp_limit_exceeded").action == "retry"


def test_what_the_server_says_of_retries_is_obeyed() -> None:
    assert http_failure(500, headers={"x-should-retry": "false"}).action == "stop"
    assert http_failure(400, headers={"x-should-retry": "true"}).action == "retry"
    assert http_failure(401, headers={"x-should-retry": "true"}).action == "stop"
    assert http_failure(429, headers={"x-should-retry": "true", "retry-after": "1"}).action == "wait"


@pytest.mark.parametrize("message", ["prompt is too long: 3 tokens > 2 maximum", "Prompt is too long"])
def test_a_prompt_that_is_too_long_is_told_from_other_wrong_requests(message: str) -> None:
    assert http_failure(400, error_type="invalid_request_error", message=message).kind == "too_long"


def test_unknown_statuses_fall_to_their_hundred() -> None:
    assert http_failure(599).action == "retry"
    assert (http_failure(418).kind, http_failure(418).action) == ("invalid_request", "stop")
    assert (http_failure(302).kind, http_failure(302).action) == ("connection", "stop")


def test_a_refused_key_ends_with_the_exit_code_for_credentials() -> None:
    assert http_failure(401).exit_code == 4
    assert http_failure(500).exit_code == 3
