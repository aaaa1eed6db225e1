"""What a tool brought is screened before a model sees it: lines that block are withheld, the rest is given."""

from __future__ import annotations

from collections.abc import Sequence

from aircoding.agents.tools.workbench import Workbench
from aircoding.ports import Screener
from aircoding.records.calls import Screened, ToolRecord
from aircoding.records.ids import Digest
from aircoding.records.layers import Trust
from aircoding.records.segments import Finding
from aircoding.records.snapshot import Message, ScreenedBlock
from aircoding.screening.withholding import withhold

__all__ = ["screen_output", "screened_blocks", "withheld", "withhold_findings"]

_KEPT = 100
"""Findings of one text that go on record; what was withheld is there whole."""


def screen_output(
    bench: Workbench, text: str, *, uri: str, trust: Trust, digest: Digest | None = None
) -> tuple[str, Screened | None]:
    """Return a masked text as a model may see it, and what was found in it, if anything.

    Args:
        bench: of the call.
        text: whole, before it is cut or numbered.
        uri: names its source.
        trust: of what stands in the text; it says which findings block.
        digest: of the source's raw bytes, where the user can have allowed a finding.
    """
    findings = bench.screener.findings(text, uri=uri, trust=trust)
    if digest is not None:
        findings = bench.screener.lift(findings, uri=uri, digest=digest)
    return withhold_findings(bench, text, findings, uri=uri)


def withhold_findings(
    bench: Workbench, text: str, findings: Sequence[Finding], *, uri: str
) -> tuple[str, Screened | None]:
    """Return a text without the lines that its findings block, and what goes on record of them."""
    if not findings:
        return text, None
    name = bench.screener.mask(uri)  # a file can be named like a secret
    shown = withhold(text, findings, uri=name)
    original = bench.blobs.put(text) if shown != text else None
    first = sorted(findings, key=lambda one: not one.blocks)[:_KEPT]
    return shown, Screened(source_uri=name, findings=tuple(first), original=original)


def withheld(screener: Screener, text: str, *, uri: str, trust: Trust = Trust.EXTERNAL) -> str:
    """Return words of somebody else within our own, such as names in a list, without the lines that block."""
    return withhold(text, screener.findings(text, uri=uri, trust=trust), uri=uri)


def screened_blocks(records: Sequence[ToolRecord], messages: Sequence[Message]) -> tuple[ScreenedBlock, ...]:
    """Return the results among `messages` in which something was found, by the session's tool calls."""
    found = {
        record.call.tool_use_id: record.result.screened
        for record in records
        if record.result is not None and record.result.screened is not None
    }
    if not found:
        return ()
    return tuple(
        ScreenedBlock(uri=f"{message.uri}/block/{number}", source_uri=one.source_uri, findings=one.findings)
        for message in messages
        for number, block in enumerate(message.content)
        if block["type"] == "tool_result" and (one := found.get(str(block["tool_use_id"]))) is not None
    )
