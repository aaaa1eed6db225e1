"""Results of context tests as text, as JUnit XML, and as annotations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from aircoding.cli.output import visible, visible_line

if TYPE_CHECKING:
    from aircoding.app.context_checks import CheckReport, TestResult

__all__ = ["check_text", "github_annotations", "junit_xml"]

_MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_text(report: CheckReport) -> str:
    """Return a line a test, what is wrong with those that failed, and how many there are."""
    lines: list[str] = []
    for one in report.results:
        more = f"  ({one.skipped})" if one.skipped else f"  {one.subject}, {one.tokens:,} tokens"
        lines.append(visible_line(f"{_MARKS[one.state]:8}{one.name}{more}"))
        if one.updated is not None:
            lines.append(visible_line(f"        wrote {one.updated}"))
        lines += [f"        {line}" for line in _wrong(one)]
    count = len(report.results)
    tests = f"{count} test{'s' if count != 1 else ''}"
    lines.append(f"{report.failed} of {tests} failed" if report.failed else f"{tests} in order")
    return "\n".join(lines)


def _wrong(one: TestResult) -> list[str]:
    lines: list[str] = []
    for failure in one.failures:
        lines.append(visible_line(f"{one.file}:{failure.line}: {failure.message}"))
        lines += [visible_line(f"    {why}") for why in failure.why]
    return lines


def junit_xml(report: CheckReport) -> str:
    """Return the results as JUnit XML, a suite a file."""
    files = dict.fromkeys(one.file for one in report.results)
    parts = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for file in files:
        own = [one for one in report.results if one.file == file]
        failed, skipped = (sum(one.state == state for one in own) for state in ("failed", "skipped"))
        parts.append(
            f"<testsuite name={_quoted(file)} tests={_quoted(str(len(own)))} failures={_quoted(str(failed))}"
            f" skipped={_quoted(str(skipped))}>"
        )
        parts += [_case(one) for one in own]
        parts.append("</testsuite>")
    return "\n".join([*parts, "</testsuites>", ""])


def _case(one: TestResult) -> str:
    head = f"<testcase name={_quoted(one.name)} classname={_quoted(one.file)} file={_quoted(one.file)}"
    head += f" line={_quoted(str(one.line))}"
    if one.state == "skipped":
        return f"{head}><skipped message={_quoted(one.skipped)}/></testcase>"
    if not one.failures:
        return f"{head}/>"
    first = one.failures[0].message
    return f"{head}><failure message={_quoted(first)}>{escape(_xml(chr(10).join(_wrong(one))))}</failure></testcase>"


def _quoted(text: str) -> str:
    return quoteattr(_xml(visible_line(text)))


def _xml(text: str) -> str:
    """Return a text without what no XML may hold."""
    return _NO_XML.sub("\ufffd", visible(text))


def github_annotations(report: CheckReport) -> str:
    """Return a workflow command for each failure; what others wrote cannot begin another command."""
    lines = []
    for one in report.results:
        for failure in one.failures:
            said = "\n".join((failure.message, *failure.why))
            place = f"file={_property(one.file)},line={failure.line},title={_property(one.name)}"
            lines.append(f"::error {place}::{_data(said)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
