"""The findings of `aircoding rules lint` as lines that editors and people can follow: `path:line: message [code]`."""

from __future__ import annotations

from aircoding.app.rule_lint import LintReport

__all__ = ["lint_text"]


def lint_text(report: LintReport) -> str:
    """Return a line a finding with what to do below it, and how many there are."""
    lines: list[str] = []
    for finding in report.findings:
        place = finding.uri.removeprefix("project:") + (f":{finding.line}" if finding.line is not None else "")
        lines.append(f"{place}: {finding.message} [{finding.code}]")
        if finding.hint:
            lines.append(f"    {finding.hint}")
    found, files = len(report.findings), report.files
    counted = f"{files} rule file{'s' if files != 1 else ''}"
    lines.append(f"{found} finding{'s' if found != 1 else ''} in {counted}" if found else f"{counted} in order")
    return "\n".join(lines)
