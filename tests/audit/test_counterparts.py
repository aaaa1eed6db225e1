"""A recorded text is compared with what of the file stands in its place now."""

from __future__ import annotations

import pytest

from aircoding.audit.counterparts import Counterpart, counterpart
from aircoding.audit.references import Referent
from aircoding.records.digests import sha256_text

HEADER = "---\nkind: project\npaths: [lib/**]\n---\n"
RULE = f"{HEADER}Before all.\n\n## Tabs\n\nUse tabs.\n\n## Names\n\nUse short names.\n"


def _referent(text: str | None, name: str, lines: tuple[int, int] | None = None, *, short: bool = False) -> Referent:
    digest = sha256_text(text or "")
    start, end = lines if lines is not None else (None, None)
    return Referent(
        uri="project:r.md",
        segment_id=f"L3:project:r.md{name}@{digest[:8]}",
        digest=digest,
        text_digest=digest,
        start_line=start,
        end_line=end,
        text=text,
        short=short,
    )


@pytest.mark.parametrize(
    ("one", "file", "expected"),
    [
        (_referent("Use tabs.", "#tabs", (7, 7)), RULE, Counterpart(text="Use tabs.", what="this text", same=True)),
        (
            _referent("Use blanks.", "#tabs", (7, 7)),
            RULE,
            Counterpart(text="## Tabs\n\nUse tabs.", what="section tabs"),
        ),
        (
            _referent("Use blanks.", "#licence", (5, 5)),
            f"{HEADER}Use tabs.\n",
            Counterpart(text="Use tabs.\n", what="all below the header"),
        ),
        (_referent("a\nb", ":2-3", (2, 3)), "1\n2\n3\n4\n", Counterpart(text="2\n3", what="lines 2-3 of 4")),
        (_referent("a\nb", ":2-3", (2, 3)), "1\n", Counterpart(text="1\n", what="the whole file")),
        (_referent("one line", "#reference~short", short=True), RULE, Counterpart(text=RULE, what="the whole file")),
    ],
)
def test_like_is_compared_with_like(one: Referent, file: str, expected: Counterpart) -> None:
    assert counterpart(one, file) == expected
