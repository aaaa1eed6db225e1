"""Values that the service knows are masked exactly, in every form, and however a text is cut into pieces."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aircoding.screening.known_values import KnownValues
from aircoding.screening.markers import MARKER
from aircoding.screening.streams import StreamMask, mask_known

KEY = b"k"
VALUES = ('p&ss"w0rd/=+ é', "abcabcabc", "cabcabca-x", "12345678", "two\nlines of it")
KNOWN = KnownValues(VALUES)


@pytest.mark.parametrize("value", VALUES)
def test_each_form_is_masked(value: str) -> None:
    raw = value.encode()
    forms = [
        value,
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        json.dumps(value)[1:-1],
        html.escape(value),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
    ]
    for form in forms:
        masked = mask_known(f"x {form} y", KNOWN, KEY)
        assert MARKER.search(masked), form
        assert form not in masked


@pytest.mark.parametrize("before", ["", "u", "us", "usr", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy", "xyz"])
def test_a_value_is_found_within_a_longer_base64_text(before: str, after: str) -> None:
    value = "correct-Horse+7"
    encoded = base64.b64encode(f"{before}{value}{after}".encode()).decode()
    masked = mask_known(f"Basic {encoded}", KnownValues([value]), KEY)
    left = MARKER.sub("", masked).removeprefix("Basic ")
    assert MARKER.search(masked)
    assert len(left) <= len(encoded) - len(value), "only what stands around it is left"


def test_short_values_and_none_change_nothing() -> None:
    assert not KnownValues(["short", ""])
    assert mask_known("short text", KnownValues(["short"]), KEY) == "short text"


def test_values_that_overlap_leave_no_part_of_one() -> None:
    assert MARKER.fullmatch(mask_known("abcabcabcabca-x", KNOWN, KEY))
    assert MARKER.fullmatch(mask_known("a" * 5_000, KnownValues(["a" * 8]), KEY))


def test_a_marker_is_no_place_of_a_value() -> None:
    known = KnownValues(["REDACTED:known", "deadbeef"])
    text = "[REDACTED:known:deadbeef]"
    assert mask_known(text, known, KEY) == text


PIECES = st.sampled_from(
    [
        *VALUES,
        *(value[: len(value) // 2] for value in VALUES),
        *(value[3:] for value in VALUES),
        "[REDACTED:",
        "[REDACTED:known:",
        "[REDACTED:known:0123abcd]",
        "[",
        "abc",
        "ca",
        "b",
        "\n",
        base64.b64encode(VALUES[1].encode()).decode(),
        quote(VALUES[0], safe=""),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=10).map("".join)


@given(text=TEXTS, data=st.data())
@settings(max_examples=500, deadline=None)
def test_any_split_of_a_text_is_masked_as_the_whole(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    stream = StreamMask(KNOWN, lambda: KEY)
    told = [stream.feed(piece) for piece in pieces]
    assert "".join([*told, stream.close()]) == mask_known(text, KNOWN, KEY)


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_one_character_at_a_time_is_masked_as_the_whole(text: str) -> None:
    stream = StreamMask(KNOWN, lambda: KEY)
    told = "".join(stream.feed(char) for char in text)
    assert all(value not in told for value in VALUES)
    assert told + stream.close() == mask_known(text, KNOWN, KEY)


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_masking_a_masked_text_changes_nothing(text: str) -> None:
    masked = mask_known(text, KNOWN, KEY)
    assert mask_known(masked, KNOWN, KEY) == masked


def test_what_cannot_begin_a_value_is_told_at_once() -> None:
    assert StreamMask(KNOWN, lambda: KEY).feed("a plain line\n") == "a plain line\n"
    assert StreamMask(KNOWN, lambda: KEY).feed("a plain line abcabcab") == "a plain line "
