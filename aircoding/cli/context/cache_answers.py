"""What a call read from the prompt cache, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.cli.output import table

if TYPE_CHECKING:
    from aircoding.app.questions.cache_reports import Against, CacheReport

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
    against = [_against_text(report.against, report)] if report.against is not None else []
    return "\n\n".join([head, marks, _usage_text(report), *against])


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


_NEAR = 0.92
"""A usage this near to what the bytes allow is no miss: estimated lengths are a little off."""


def _against_text(against: Against, report: CacheReport) -> str:
    """Return how far the request begins as an earlier one did, and what was made of it."""
    prefix = against.prefix
    what = "the turn before" if prefix.same_session else "another worker"
    when = f"{abs(against.idle_seconds):.0f} s {'earlier' if against.idle_seconds >= 0 else 'later'}"
    head = f"against {against.manifest_id} ({what}: {against.session_id}, turn {against.turn}, {when})"
    lines = [f"{head}: {prefix.same_blocks} of its {prefix.earlier_blocks} blocks are the same"]
    if not prefix.same_model:
        lines.append("it went to another model: nothing of it can be read")
    elif prefix.expected is None:
        lines.append("it had no mark that this request could read")
    elif prefix.complete:
        lines.append(
            f"all up to its mark {prefix.expected.mark} has the same bytes: about {against.readable_tokens} tokens"
        )
    else:
        upto = f"up to {prefix.readable.mark}" if prefix.readable is not None else "nothing up to any mark"
        lines.append(
            f"its mark {prefix.expected.mark} is out of reach; the same bytes reach {upto}: about "
            f"{against.readable_tokens} tokens"
        )
    if prefix.block is not None and not (prefix.complete and prefix.same_session):
        at = f", byte {prefix.offset_bytes}" if prefix.offset_bytes else ""
        lines.append(
            f"first that differs: {prefix.after or prefix.before or 'bytes of no segment'} at {prefix.block}{at}"
        )
        if prefix.before not in (None, prefix.after):
            lines.append(f"  there stood: {prefix.before}")
    usage = report.usage
    if usage is not None and report.missed is None and usage.cache_read_tokens < _NEAR * against.readable_tokens:
        lines.append(
            f"{usage.cache_read_tokens} tokens were read: the bytes are the same, so the entry had expired, was not "
            "begun yet, or the provider let it go"
        )
    return "\n".join(lines)
