"""Small texts are packed with a dictionary that never changes, and what was packed without it is read as before."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aircoding.errors import StoreError
from aircoding.records.digests import sha256_bytes
from aircoding.store.dictionary import DICTIONARY, deflate, inflate


def test_the_dictionary_is_the_one_that_records_were_packed_with() -> None:
    assert sha256_bytes(DICTIONARY)[:32] == "6ff7f97f64eacbf9475971ea20db4135"


@given(st.binary(max_size=2_000))
def test_what_is_packed_comes_back(raw: bytes) -> None:
    assert inflate(deflate(raw)) == raw
    assert inflate(zlib.compress(raw)) == raw


def test_a_skeleton_takes_two_thirds_of_what_it_took() -> None:
    digests = [sha256_bytes(bytes([number])) for number in range(2)]
    texts, wholes = f'[["/content/0/text",["{digests[0]}"]]]', f'[["/content/1","{digests[1]}"]]'
    raw = f'[{{"role":"assistant","content":[{{"type":"text","text":""}},null]}},{texts},{wholes}]'.encode()
    assert len(deflate(raw)) < 2 / 3 * len(zlib.compress(raw))


@pytest.mark.parametrize("damaged", [b"", b"x", b"no stream at all", zlib.compress(b"text")[:-3]])
def test_damaged_bytes_are_named(damaged: bytes) -> None:
    with pytest.raises(StoreError, match="cannot be unpacked") as caught:
        inflate(damaged)
    assert caught.value.code == "store.damaged"
