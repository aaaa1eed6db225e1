"""Regular expressions that a model wrote, matched where they can be stopped.

Python's `re` can take exponential time and cannot be interrupted from another thread, so the matching runs
in an interpreter of its own that is killed when its time is up.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence

__all__ = ["RegexError", "match_lines"]

_SECONDS = 5.0
_MAX_LINE_CHARS = 4_000
"""Only so much of a line is matched: minified bundles are not what a search is for."""

_MATCHER = """
import json, re, sys
order = json.load(sys.stdin.buffer)
try:
    find = re.compile(order["pattern"]).search
except (re.error, RecursionError, OverflowError) as error:
    json.dump({"fault": str(error)}, sys.stdout)
    sys.exit()
hits = []
for number, text in enumerate(order["texts"]):
    for line_number, line in enumerate(text.split("\\n"), start=1):
        if find(line[: order["line_chars"]].rstrip("\\r")):
            hits.append((number, line_number))
            if len(hits) >= order["limit"]:
                break
    if len(hits) >= order["limit"]:
        break
json.dump({"hits": hits}, sys.stdout)
"""


class RegexError(Exception):
    """A pattern that cannot be used; the message is for the model."""


async def match_lines(
    pattern: str, texts: Sequence[str], *, limit: int, seconds: float = _SECONDS
) -> list[tuple[int, int]]:
    """Return (text, line) of the lines that match, texts from 0 and lines from 1, in order, at most `limit`.

    Raises:
        RegexError: no regular expression, or one that takes longer than `seconds`.
    """
    order = {
        "pattern": pattern,
        "texts": list(texts),
        "limit": limit,
        "line_chars": _MAX_LINE_CHARS,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-W", "ignore", "-c", _MATCHER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(json.dumps(order).encode("ascii")), seconds)
    except TimeoutError:
        raise RegexError(
            f"Matching {pattern!r} took over {seconds:g} seconds and was stopped. "
            "Use plain text, or a pattern without a repeat inside a repeat, or narrower paths."
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise RegexError(f"{pattern!r} could not be matched. Use plain text or a simpler pattern.")
    answer = json.loads(output)
    if "fault" in answer:
        raise RegexError(
            f"{pattern!r} is no regular expression: {answer['fault']}. Leave regex out to search it as text."
        )
    return [(number, line_number) for number, line_number in answer["hits"]]
