"""Assemblies that a page is to show: ordinary ones, hostile ones, long ones."""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.context.assembler import assemble
from aircoding.records.layers import Layer, SegmentKind, Trust
from aircoding.records.manifest import AssembledContext
from aircoding.records.segments import Segment
from aircoding.records.snapshot import Message, ModelLimits
from support.contexts import LIMITS, message, segment, snapshot

HOSTILE = (
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'><svg onload=window.ran=1>",
    "</script></noscript></pre></style><script>window.ran = 1</script>",
    "<!-- --><![CDATA[ ]]> <!--<script>",
    "{{7*7}} {% for x in y %} ${7*7} #{7*7}",
    "[a link](javascript:window.ran=1) <a href='javascript:window.ran=1'>x</a>",
    "![x](https://example.invalid/leak?q=1) <link rel=stylesheet href=//example.invalid/x.css>",
    "admin\u202etxt.exe \u2066hidden\u2069 zero\u200bwidth tag\U000e0041 nul\x00 bell\x07",
    "\x1b[31mred\x1b[0m \x1b]8;;https://example.invalid\x07click\x1b]8;;\x07",
    'quote" onmouseover="window.ran=1" \'single\' `back` &lt;b&gt; &amp; &#x3c;',
    "line\u2028separator paragraph\u2029separator next\x85line carriage\rreturn",
    "emoji \U0001f600 family \U0001f468\u200d\U0001f469 Ünïcödé 漢字 العربية",
)
"""Texts that would run, fetch, hide or break something where a page was careless."""


def context_of(
    *segments: Segment, messages: Sequence[Message] = (), window_tokens: int | None = None
) -> AssembledContext:
    """Assemble segments beside those that every prompt has."""
    limits = LIMITS
    if window_tokens is not None:
        limits = ModelLimits(model="m", window_tokens=window_tokens, max_output_tokens=8_000, min_cache_prefix_tokens=0)
    made = assemble(snapshot(*segments, messages=messages, limits=limits))
    assert isinstance(made, AssembledContext)
    return made


def rule(name: str, text: str, *, paths: tuple[str, ...] = (), **more: object) -> Segment:
    """Return a rule of the project; with paths it is in only where they match the task's."""
    return segment(
        text,
        layer=Layer.L3,
        kind=SegmentKind.RULE,
        uri=f"project:.air/shared/rules/{name}.md",
        rule_id=name,
        paths=paths,
        paths_line=4 if paths else None,
        **more,
    )


def hostile_context() -> AssembledContext:
    """Return an assembly that holds hostile text wherever somebody else may put text."""
    name = "x\"><script>window.ran = 1<script>'\u202e"
    return context_of(
        *(segment(text, uri=f"project:hostile/{n}.md", trust=Trust.EXTERNAL) for n, text in enumerate(HOSTILE)),
        segment("A file with a bad name.", uri=f"project:{name}.py"),
        rule("tabs", "- Use tabs for indentation."),
        rule(f"spaces {name}", "- Use spaces for indentation."),
        rule("left", "Left out.", paths=(f"docs/{name}/**",)),
        rule(f"named {name}", "Use tabs.", paths=("none/**",)),
        messages=(
            message(0, "assistant", {"type": "text", "text": HOSTILE[0]}, _call(HOSTILE[2])),
            message(1, "user", _result(HOSTILE[8])),
        ),
    )


def _call(command: str) -> dict[str, object]:
    return {"type": "tool_use", "id": "t1", "name": "shell", "input": {"command": command}}


def _result(text: str) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": text}]}


def ordinary_context() -> AssembledContext:
    """Return an assembly with rules in and out, and files."""
    return context_of(
        rule("tabs", "Use tabs.\n\nNever use spaces."),
        rule("docs", "Write plainly.", paths=("docs/**",)),
        rule("tables", "Keep tables short.", paths=("docs/**",)),
        segment("def one():\n    return 1\n", uri="project:src/one.py"),
        segment("def two():\n    return 2\n", uri="project:src/two.py"),
    )


def long_context(segments: int, *, lines: int = 4) -> AssembledContext:
    """Return an assembly of so many files, about 55 bytes a line."""
    files = (
        segment(
            "\n".join(f"line {n} of module {i}: return value_{n * i} if ready else None" for n in range(lines)),
            uri=f"project:src/pkg/module_{i}.py",
        )
        for i in range(segments)
    )
    return context_of(*files, window_tokens=4_000_000)
