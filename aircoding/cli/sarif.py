"""Findings as SARIF 2.1.0 (OASIS standard of 2020-03-27), for the pages where people review code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from aircoding import __version__
from aircoding.records.diagnostics import Diagnostic

__all__ = ["sarif_log"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(findings: Iterable[Diagnostic], checks: Mapping[str, str]) -> dict[str, Any]:
    """Return a log of one run. Paths are relative to the project root (`%SRCROOT%`)."""
    codes = list(checks)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "aircoding",
                        "version": __version__,
                        "rules": [{"id": code, "shortDescription": {"text": text}} for code, text in checks.items()],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, codes) for one in findings],
            }
        ],
    }


def _result(finding: Diagnostic, codes: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.hint}" if finding.hint else finding.message},
        "locations": [{"physicalLocation": _place(finding)}],
    }
    if finding.code in codes:
        result["ruleIndex"] = codes.index(finding.code)
    return result


def _place(finding: Diagnostic) -> dict[str, Any]:
    scheme, _, path = finding.uri.partition(":")
    inside = scheme == "project" and bool(path)
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path if inside else finding.uri)}}
    if inside:
        place["artifactLocation"]["uriBaseId"] = "%SRCROOT%"
    if finding.line is not None:
        place["region"] = {"startLine": finding.line}
    return place
