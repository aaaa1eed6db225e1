"""What usage says of cache marks, on the provider's scale."""

from __future__ import annotations

import pytest

from aircoding.records.digests import sha256_text
from aircoding.records.manifest import CacheMark
from aircoding.records.usage import Usage
from aircoding.store.cache_marks import counted_prefixes, measured_marks


def marks(*lengths: int, predicted: tuple[str | None, ...] = ()) -> tuple[CacheMark, ...]:
    told = predicted or (None,) * len(lengths)
    return tuple(
        CacheMark(
            mark=f"/m/{n}", after_segment=None, prefix_digest=sha256_text(str(n)), prefix_tokens=length, predicted=said
        )
        for n, (length, said) in enumerate(zip(lengths, told, strict=True))
    )


@pytest.mark.parametrize(
    ("usage", "states"),
    [
        (Usage(cache_read_tokens=6_000, cache_write_5m_tokens=150, input_tokens=90), ["read", "read", "written"]),
        (Usage(cache_read_tokens=3_000, cache_write_5m_tokens=3_150, input_tokens=90), ["read", "written", "written"]),
        (Usage(cache_write_1h_tokens=6_150, input_tokens=90), ["written", "written", "written"]),
        (Usage(cache_read_tokens=6_150, input_tokens=90), ["read", "read", "read"]),
        (Usage(input_tokens=6_240), ["none", "none", "none"]),
    ],
)
def test_usage_says_what_each_mark_did(usage: Usage, states: list[str]) -> None:
    assert [one.measured for one in measured_marks(marks(2_000, 4_000, 4_100), usage)] == states


def test_a_mark_that_was_never_sent_and_lies_behind_what_was_read_was_written() -> None:
    given = marks(4_693, 5_118, 5_268, 5_418, predicted=("read", "read", "written", "written"))
    usage = Usage(cache_read_tokens=3_779, cache_write_5m_tokens=295)

    found = measured_marks(given, usage)

    assert [one.measured for one in found] == ["read", "read", "written", "written"]
    assert counted_prefixes(given, usage) == (3_529, 3_848, 3_961, 4_074)


def test_without_anything_cached_there_is_no_scale() -> None:
    assert counted_prefixes(marks(10, 20), Usage(input_tokens=30)) == (0, 0)
