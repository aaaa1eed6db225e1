"""The comment on a pull request: whatever a file is called and holds, nothing of it is alive; and it has an end."""

from __future__ import annotations

import html
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aircoding.app.changed_files import ChangedFile
from aircoding.app.impact import Impact
from aircoding.audit.impact import ChangedPart, ContextChange, Effect, Reader, RemovedPart, line_diff
from aircoding.audit.views import Part
from aircoding.cli.context.impact_markdown import MAX_CHARS, impact_markdown
from aircoding.records.digests import sha256_text

HOSTILE = (
    *("`", "```", "````diff", "~~~", "</details>", "<details>", "<script>alert(1)</script>", "<img src=x onerror=a>"),
    *(
        "<!--",
        "-->",
        "@team",
        "@org/all",
        "#12",
        "GH-1",
        "](http://x)",
        "![x](",
        "[x]",
        "|",
        "\\",
        "\\|",
        "&lt;",
        "&#64;",
    ),
    *("\n", "\r\n", "\n\n", "# Heading", "---", "- item", "> quote", "\u202e", "\x1b[31m", "\udcff", "word", " ", "é"),
)
TEXTS = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=8).map("".join)
OUR_TAGS = re.compile(r"</?(?:details|summary|code|br)>")


def part(place: str, text: str) -> Part:
    return Part(
        place=place,
        uri=f"project:{place}",
        layer="L3",
        scope="run",
        form="whole",
        text_digest=sha256_text(ascii(text)),
        tokens=len(text),
        text=text,
    )


def impact(name: str, text: str, other: str, *, effects: int = 1) -> Impact:
    before, after = part(name, text), part(name, other)
    change = ContextChange(
        added=(after,),
        removed=(RemovedPart(part=before),),
        changed=(ChangedPart(before=before, after=after, diff=line_diff(text, other)),),
        moved=(before,),
        conflicts_added=(text,),
    )
    reader = Reader(viewer="executor", kind="path", subjects=(name,), shown=(name,), tokens_before=1, tokens_after=2)
    return Impact(
        base=name,
        head=text,
        viewers=("executor",),
        roles=("executor",),
        path_count=1,
        task_count=0,
        tasks_added=(name,),
        tasks_removed=(),
        files=(
            ChangedFile(path=name, status="modified", source=True, state="reaches_nobody"),
            ChangedFile(path=text, status="added", source=True, state="unsure"),
        ),
        effects=tuple(Effect(change=change, readers=(reader,)) for _ in range(effects)),
        unread=(),
        notes=(name, text),
    )


def outside_fences(text: str) -> list[str]:
    """Return the lines outside of fences, as CommonMark tells them; every fence is closed."""
    lines, fence = [], ""
    for line in text.split("\n"):
        opened = re.match(r"(`{3,})diff\Z", line)
        if fence:
            fence = "" if re.fullmatch(rf"`{{{len(fence)},}} *", line) else fence
        elif opened:
            fence = opened[1]
        else:
            lines.append(line)
    assert not fence
    return lines


@settings(max_examples=100)
@given(name=TEXTS, text=TEXTS, other=TEXTS)
@example(name="a`|b", text="```\n````\n@team", other="</details>")
@example(name="@team #12 \\#13 &#64;", text="x", other="`" * 30)
def test_nothing_of_others_is_alive(name: str, text: str, other: str) -> None:
    comment = impact_markdown(impact(name, text, other))
    lines = outside_fences(comment)
    outside = "\n".join(lines)
    assert "<" not in OUR_TAGS.sub("", outside)
    assert outside.count("<details><summary>") == outside.count("</details>") == 1
    assert "\r" not in comment
    assert "\u202e" not in comment
    assert "\x1b" not in comment
    # What is shown as one text, node by node: no mention, no number of an issue.
    nodes = [html.unescape(node) for node in re.split(r"<[a-z/]+>", outside)]
    assert not [node for node in nodes if re.search(r"@\w|#\d", node)]
    # Headings, tables and quotes are ours, and where they are to be.
    assert [line for line in lines if line.startswith("#")] == ["### What agents see"]
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 5 for row in rows)
    unescaped = re.sub(r"\\.", "", "\n".join(line for line in lines if "<summary>" not in line and line not in rows))
    assert set(re.findall(r"[`_\[\]]|[*]+[^*]*[*]+", unescaped)) == {
        "**Changed, and seen by nobody who was compared:**"
    }


def test_a_name_in_a_summary_is_shown_as_it_is() -> None:
    comment = impact_markdown(impact("docs/a_b.c-d.md", "one\n", "two\n"))
    assert "<details><summary>1. L3 docs/a_b.c-d.md</summary>" in comment


@given(effects=st.integers(0, 300), name=TEXTS, size=st.integers(1, 3_000))
@settings(max_examples=12, deadline=None)
@example(effects=300, name="@" * 200, size=3_000)
def test_it_is_never_longer_than_a_comment_may_be(effects: int, name: str, size: int) -> None:
    comment = impact_markdown(impact(name, "@<&\n" * size, "&`\n" * size, effects=effects))
    assert len(comment) <= MAX_CHARS + 200 < 65_536
    outside = "\n".join(outside_fences(comment))
    assert outside.count("<details>") == outside.count("</details>")
    shown = outside.count("<details>")
    assert (shown < effects) is ("details are left out here" in outside)
