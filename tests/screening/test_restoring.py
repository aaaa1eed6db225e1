"""An edit around markers keeps the bytes of the secrets; a marker that was moved, doubled or forged is refused."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.planted_secrets import planted

from aircoding.screening.markers import MARKER
from aircoding.screening.screener import TextScreener

SCREENER = TextScreener(key=b"k", known_values=["correct-Horse+7"])
VALUES = [
    *(
        one.value
        for kind in ("github token", "assigned password", "jwt", "rsa private key")
        for one in planted(kind, 3)
    ),
    "correct-Horse+7",
]
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="[]\r"), max_size=12).map(lambda text: f"; {text}")


@dataclass(frozen=True)
class Holder:
    """A line that holds a secret."""

    name: str
    value: str
    after: str = ""
    indent: str = ""


Line = Holder | str
HOLDERS = st.builds(
    lambda number, value: Holder(f"password_{number}", value), st.integers(0, 99), st.sampled_from(VALUES)
)
FILES = st.lists(st.one_of(HOLDERS, WORDS), max_size=8)


def real(lines: list[Line]) -> str:
    return "\n".join(
        line if isinstance(line, str) else f'{line.indent}{line.name} = "{line.value}"{line.after}' for line in lines
    )


@st.composite
def edits(draw: st.DrawFn, before: list[Line]) -> list[Line]:
    """Leave out, change and add lines around; secrets keep their names and their order, or go."""
    after: list[Line] = []
    for line in before:
        after += draw(st.lists(WORDS, max_size=1))
        what = draw(st.sampled_from(["keep", "keep", "drop", "change"]))
        if what == "drop":
            continue
        if what == "change":
            line = (
                draw(WORDS)
                if isinstance(line, str)
                else Holder(line.name, line.value, draw(WORDS), draw(st.sampled_from(["", "  ", "export "])))
            )
        after.append(line)
    return after


def masked_of(lines: list[Line], markers: dict[str, str]) -> str:
    return real(
        [
            line if isinstance(line, str) else Holder(line.name, markers[line.value], line.after, line.indent)
            for line in lines
        ]
    )


@given(data=st.data(), before=FILES)
@settings(max_examples=300, deadline=None)
def test_edits_around_the_markers_keep_the_bytes_of_the_secrets(data: st.DataObject, before: list[Line]) -> None:
    original = real(before)
    markers = {value: SCREENER.mask(f'password_1 = "{value}"').split('"')[1] for value in VALUES}
    assert SCREENER.mask(original) == masked_of(before, markers)
    after = data.draw(edits(before))
    restored = SCREENER.restore(masked_of(after, markers), original)
    assert restored == real(after)


@given(data=st.data(), before=st.lists(HOLDERS, min_size=2, max_size=6, unique_by=lambda one: one.name))
@settings(max_examples=150, deadline=None)
def test_a_marker_that_changed_its_place_is_refused(data: st.DataObject, before: list[Holder]) -> None:
    original = real(list(before))
    seen = SCREENER.mask(original).split("\n")
    at, to = data.draw(st.permutations(range(len(before))))[:2]
    marker = MARKER.search(seen[at])
    assert marker is not None
    doubled = [*seen, seen[at]]
    forged = [*seen[:at], seen[at].replace(marker[0], f"[REDACTED:{marker[1]}:00000000]"), *seen[at + 1 :]]
    elsewhere = [*seen, f'sent_to = "{marker[0]}"']
    moved = [*(line for number, line in enumerate(seen) if number != at), f"url = http://x/?{marker[0]}"]
    for wrong in (doubled, forged, elsewhere, moved):
        assert SCREENER.restore("\n".join(wrong), original) is None
    if before[at].value != before[to].value:
        swapped = [*seen]
        swapped[at], swapped[to] = seen[to], seen[at]
        assert SCREENER.restore("\n".join(swapped), original) is None


def test_a_marker_of_another_file_is_refused() -> None:
    other = SCREENER.mask(f'password_1 = "{VALUES[0]}"')
    assert SCREENER.restore(other, 'password_1 = "changeme"\n') is None
    assert SCREENER.restore(other, "") is None


@pytest.mark.parametrize("spelling", ["{name}: '{marker}'", '{{"{name}": "{marker}"}}', "export {name}={marker}"])
def test_a_secret_may_be_written_another_way_under_its_name(spelling: str) -> None:
    value = VALUES[0]
    original = f'API_TOKEN = "{value}"\n'
    marker = MARKER.search(SCREENER.mask(original))
    assert marker is not None
    edit = spelling.format(name="API_TOKEN", marker=marker[0])
    assert SCREENER.restore(edit, original) == edit.replace(marker[0], value)
