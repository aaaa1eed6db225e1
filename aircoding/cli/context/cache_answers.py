"""What a call read from the prompt cache, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.cli.output import table

if TYPE_CHECKING:
    from aircoding.app.questions.cache_reports import CacheReport

__all__ = ["cache_text"]


def cache_text(report: CacheReport) -> str:
    """Return the marks, the usage, and where too little was read why, with the first segment that differs."""
    head = f"{report.manifest_id}  {report.session_id}  turn {report.turn}  {report.model}"
    if report.marks:
        rows = [
            (mark.mark, mark.after_segment or "-", tokens, mark.predicted or "-", mark.measured or "-")
            for mark, tokens in zip(report.marks, report.prefix_tokens, strict=True)
        ]
        scale = "tokens up to it (about)" if report.counted else "tokens (estimate)"
        marks = table(("mark", "after", scale, "predicted", "measured"), rows)
    elif report.takes_marks:
        marks = "no marks: what could be cached is shorter than the model's minimum"
    else:
        marks = "no marks: this model takes none, so all of them were left out"
    return "\n\n".join([head, marks, _usage_text(report)])


def _usage_text(report: CacheReport) -> str:
    usage = report.usage
    if usage is None:
        return "there is no answer to this request yet"
    written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
    by = " (simulated)" if report.simulated else ""
    read = f"of {usage.prompt_tokens} tokens {usage.cache_read_tokens} were read from the cache, {written} written{by}"
    parts = [read]
    missed = report.missed
    if missed is None:
        parts.append("nothing that an earlier request of this process had left was missed")
        return "\n".join(parts)
    parts.append(
        f"{missed['kind']}: about {missed['expected_tokens']} should have been read ({missed['reason']}"
        f"{': ' if missed['detail'] else ''}{missed['detail']})"
    )
    if missed.get("block"):
        parts.append(f"first that differs: {missed.get('segment_id') or 'bytes of no segment'} at {missed['block']}")
    return "\n".join(parts)
