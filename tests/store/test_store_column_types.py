"""What stands shorter in a row comes back as it was, and what a list of words does not hold is named."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from aircoding.errors import InternalError, StoreError
from aircoding.records.layers import Form, Scope, SegmentKind, Trust
from aircoding.store.column_types import Moment, Places, Usual, Word
from aircoding.store.tables.assemblies import FORMS, KINDS, SCOPES, TRUSTS

DIALECT = sqlite.dialect()
POINTERS = st.lists(
    st.sampled_from(["/messages/", "/system/", "/content/", "/text", "0", "12", "<", ">", "^", "|", "é"])
)


@pytest.mark.parametrize(("words", "named"), [(SCOPES, Scope), (TRUSTS, Trust), (FORMS, Form), (KINDS, SegmentKind)])
def test_every_word_that_a_segment_may_have_has_a_place(words: tuple[str, ...], named: type[Scope]) -> None:
    assert sorted(words) == sorted(one.value for one in named)
    kept = Word(words)
    places = [kept.process_bind_param(one, DIALECT) for one in words]
    assert [kept.process_result_value(place, DIALECT) for place in places] == list(words)


def test_a_word_that_is_not_known_is_named() -> None:
    with pytest.raises(InternalError, match="'planet' is none of turn, session"):
        Word(SCOPES).process_bind_param("planet", DIALECT)
    with pytest.raises(StoreError, match="holds the word 4 of a list that has 4") as caught:
        Word(SCOPES).process_result_value(4, DIALECT)
    assert caught.value.code == "store.damaged"


@given(st.datetimes(timezones=st.just(UTC)).filter(lambda at: at.year >= 1000))
def test_a_time_comes_back_in_the_form_in_which_the_store_writes_it(at: datetime) -> None:
    written = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert Moment().process_result_value(Moment().process_bind_param(written, DIALECT), DIALECT) == written


def test_a_time_of_another_zone_is_the_same_moment() -> None:
    assert Moment().process_bind_param("2026-01-05T10:00:00+02:00", DIALECT) == Moment().process_bind_param(
        "2026-01-05T08:00:00Z", DIALECT
    )
    with pytest.raises(InternalError, match="'soon' is no time"):
        Moment().process_bind_param("soon", DIALECT)


@given(st.lists(st.tuples(POINTERS.map("".join), st.integers(), st.integers())))
def test_places_stay_json_and_come_back(spans: list[tuple[str, int, int]]) -> None:
    written = json.dumps(spans, ensure_ascii=False)
    kept = Places().process_bind_param(written, DIALECT)
    assert kept is not None
    assert [span[1:] for span in json.loads(kept)] == [list(span[1:]) for span in spans]
    assert json.loads(Places().process_result_value(kept, DIALECT) or "") == [list(span) for span in spans]


def test_a_usual_place_takes_a_few_characters() -> None:
    kept = Places().process_bind_param('[["/messages/4/content/0/text",0,9]]', DIALECT)
    assert kept == '[["<4>0^",0,9]]'


def test_the_usual_text_takes_no_room() -> None:
    kept = Usual("conversation")
    assert kept.process_bind_param("conversation", DIALECT) is None
    assert [kept.process_result_value(one, DIALECT) for one in (None, "path src/**")] == ["conversation", "path src/**"]
