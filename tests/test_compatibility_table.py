"""Every row and every case of the compatibility table has a test that names it, so that one added later is noticed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "shared" / "reference" / "standards.md"
_CASE = re.compile(r"(?<![A-Za-z0-9])[Ee](\d\d)(?![A-Za-z0-9])")
_ROW = re.compile(r"def test_row_(\w+)")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TABLE.exists(), reason="the compatibility table is not beside this checkout"),
]


def section(number: int) -> str:
    """A section of the table's document."""
    return re.split(r"(?m)^## \d+\. ", TABLE.read_text("utf-8"))[number + 1]


def first_cells(text: str, heading: str) -> list[str]:
    """The first cells of all tables of a section."""
    cells = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    return [cell for cell in cells if cell != heading and set(cell) != {"-"}]


def slug(row: str) -> str:
    """A row's name as the name of a test has it."""
    return "_".join(re.findall(r"[a-z0-9]+", row.lower()))


def all_tests() -> str:
    """The text of every test file but this one."""
    return "\n".join(path.read_text("utf-8") for path in sorted(HERE.rglob("test_*.py")) if path != Path(__file__))


def test_each_case_is_named_by_a_test() -> None:
    cases = first_cells(section(9), "id")
    assert cases == [f"E{number:02}" for number in range(1, len(cases) + 1)]
    assert len(cases) >= 64
    named = {f"E{number}" for number in _CASE.findall(all_tests())}
    assert [case for case in cases if case not in named] == []


def test_each_row_is_named_by_a_test() -> None:
    rows = first_cells(section(8), "convention")
    assert len(rows) >= 12
    named = _ROW.findall(all_tests())
    found = {row for row in rows if any(name == slug(row) or name.startswith(f"{slug(row)}_") for name in named)}
    assert [row for row in rows if row not in found] == []
