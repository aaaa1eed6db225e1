"""Output that is too long for a prompt: kept whole, shown by its head and tail, read on by range."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aircoding.agents.tools.lines import Window, number_lines, split_lines
from aircoding.agents.tools.outputs import screen_output
from aircoding.agents.tools.workbench import Deed, Tool, Workbench, refusal
from aircoding.ports import BlobStore
from aircoding.records.calls import ToolCall, ToolResult
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.policy import Act

__all__ = ["ARTIFACT_READ", "shorten"]

_SHOWN_CHARS = 16_000
"""About 4,000 tokens: a full screen of a test run, small beside any window."""
_HEAD_SHARE = 0.4
"""The tail is worth more: a test run ends with what failed."""

_REFERENCE = re.compile(r"air:artifact/([0-9a-f]{64})")


def shorten(
    text: str, blobs: BlobStore, *, shown_chars: int = _SHOWN_CHARS, whole: str | None = None
) -> tuple[str, Digest | None]:
    """Return `text` as it may be shown, and the digest of the whole where something was left out.

    `text` is masked already: the store holds the same bytes as the conversation. `whole` is what is kept where lines of
    `text` were withheld: whoever reads on in it has them withheld again, by all of it.
    """
    if len(text) <= shown_chars:
        return text, None
    digest = blobs.put(text if whole is None else whole)
    head_chars = int(shown_chars * _HEAD_SHARE)
    head, tail = _head(text, head_chars), _tail(text, shown_chars - head_chars)
    left_out = len(text) - len(head) - len(tail)
    lines = len(split_lines(text))
    note = (
        f"\n[{left_out} characters left out here. The whole output has {lines} lines: air:artifact/{digest}. "
        f'Read more of it with artifact_read {{"artifact": "{digest[:12]}", "start_line": N, "end_line": M}}.]\n'
    )
    return head + note + tail, digest


def _head(text: str, chars: int) -> str:
    """Return about `chars` from the start, whole lines where a line ends within them."""
    end = text.rfind("\n", 0, chars)
    return text[: end if end > chars // 2 else chars]


def _tail(text: str, chars: int) -> str:
    start = text.find("\n", len(text) - chars)
    return text[start + 1 if 0 <= start < len(text) - chars // 2 else len(text) - chars :]


def _acts(_input: Mapping[str, Any], _bench: Workbench) -> tuple[Act, ...]:
    return ()


async def _prepare(call: ToolCall, bench: Workbench, _paths: tuple[str, ...]) -> ToolResult | Deed:
    given, known = str(call.input["artifact"]), _known(bench)
    named = [digest for digest in known if digest.startswith(given)]
    if len(named) != 1:
        fault = "is more than one artifact" if named else "is no artifact of this session"
        return refusal(f"{given} {fault}. Artifacts that you can read: {', '.join(known) or 'none'}.")
    text = bench.blobs.get(named[0])
    if text is None:
        return refusal(f"The text of {given} is no longer kept. Run the command again to see its output.")
    window = Window.of(call.input, whole=len(split_lines(text)))
    if isinstance(window, str):
        return refusal(window)
    shown, found = screen_output(bench, text, uri=f"air:artifact/{named[0]}", trust=Trust.EXTERNAL)
    return ToolResult(text=number_lines(shown, window, again="artifact_read"), screened=found)


def _known(bench: Workbench) -> tuple[Digest, ...]:
    """Return the artifacts that this session made or was told of, so that no other session's output is in reach."""
    made = {record.result.artifact for record in bench.records if record.result and record.result.artifact}
    told = {Digest(found) for evidence in bench.brief.evidence for found in _REFERENCE.findall(evidence.text)}
    return tuple(sorted(made | told))


ARTIFACT_READ = Tool(name="artifact_read", acts=_acts, prepare=_prepare, brings=None)
