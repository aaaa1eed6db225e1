"""`aircoding export spans`: a real run as OpenTelemetry spans, complete, as the ledger has it, without content."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fleet.worlds import done, make_fleet, script
from support.demo_runs import air, demo_project, rows
from support.recorded_demo import demo_copy

from aircoding.store.dictionary import inflate

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "export-spans.md"
_HEX = re.compile(r"[0-9a-f]+")
_VALUES = {"stringValue": str, "boolValue": bool, "intValue": str, "doubleValue": float, "arrayValue": dict}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after a run that holds a failure, a repair, a review and a denied command."""
    return demo_copy(tmp_path_factory)


@pytest.fixture(scope="module")
def spans(demo: Path) -> list[dict[str, Any]]:
    """All spans of the run, as they are printed."""
    ended = air(demo, "export", "spans")
    assert ended.code == 0, ended.output
    documents = [json.loads(line) for line in ended.output.splitlines()]
    assert len(documents) == rows(demo, "SELECT count(*) FROM sessions")[0][0] + 1  # type: ignore[operator]
    return [span for document in documents for span in spans_of(document)]


def spans_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The spans of one document, whose form is checked."""
    assert list(document) == ["resourceSpans"]
    (resource,) = document["resourceSpans"]
    assert {each["key"] for each in resource["resource"]["attributes"]} == {"service.name", "service.version"}
    (scope,) = resource["scopeSpans"]
    assert set(scope) == {"scope", "spans"}
    return list(scope["spans"])


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def of(spans: list[dict[str, Any]], operation: str) -> list[dict[str, Any]]:
    return [span for span in spans if attributes(span)["gen_ai.operation.name"] == operation]


def test_every_span_has_the_form_of_the_protocol(spans: list[dict[str, Any]]) -> None:
    wanted = {"traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"}
    for span in spans:
        assert set(span) - {"parentSpanId"} == wanted
        assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
        assert all(_HEX.fullmatch(span[key]) for key in span if key.endswith("Id"))
        assert span["kind"] in {1, 3}
        assert span["status"] in ({}, {"code": 2})
        start, end = (span[key] for key in ("startTimeUnixNano", "endTimeUnixNano"))
        assert isinstance(start, str)
        assert 0 < int(start) <= int(end)
        for attribute in span["attributes"]:
            ((kind, value),) = attribute["value"].items()
            assert type(value) is _VALUES[kind]
            assert kind != "intValue" or str(int(value)) == value
        assert bool(span["status"]) == ("error.type" in attributes(span))
    assert len({span["spanId"] for span in spans}) == len(spans)


def test_row_otel_every_session_call_and_tool_has_its_span_below_its_parent(
    demo: Path, spans: list[dict[str, Any]]
) -> None:
    found = Counter(attributes(span)["gen_ai.operation.name"] for span in spans)
    for operation, table in (("invoke_agent", "sessions"), ("chat", "model_calls"), ("execute_tool", "tool_runs")):
        assert found[operation] == rows(demo, f"SELECT count(*) FROM {table}")[0][0]
        assert found[operation] > 10
    (root,) = of(spans, "invoke_workflow")
    agents = {span["spanId"]: attributes(span)["gen_ai.conversation.id"] for span in of(spans, "invoke_agent")}
    for span in spans:
        if span is root:
            assert "parentSpanId" not in span
        elif span["spanId"] in agents:
            assert span["parentSpanId"] == root["spanId"]
        else:
            assert agents[span["parentSpanId"]] == attributes(span)["gen_ai.conversation.id"]
    assert {span["traceId"] for span in spans} == {root["traceId"]}
    names = {row[0] for row in rows(demo, "SELECT 'execute_tool ' || name FROM tool_runs")}
    assert {span["name"] for span in of(spans, "execute_tool")} == names
    errors = Counter(attributes(span).get("error.type") for span in of(spans, "execute_tool"))
    assert errors["permission_denied"] >= 1, "the denied scp"


def test_e64_the_sums_are_those_of_the_ledger(demo: Path, spans: list[dict[str, Any]]) -> None:
    """E64: input tokens hold the cached ones, over a whole run."""
    ((prompt, read, written, output),) = rows(
        demo,
        "SELECT sum(input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens),"
        " sum(cache_read_tokens), sum(cache_write_5m_tokens + cache_write_1h_tokens), sum(output_tokens)"
        " FROM model_calls",
    )
    sums: Counter[str] = Counter()
    for span in of(spans, "chat"):
        sums.update({key: int(value) for key, value in attributes(span).items() if key.startswith("gen_ai.usage.")})
    assert sums == {
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "gen_ai.usage.output_tokens": output,
    }
    assert read


def test_row_otel_no_text_of_a_prompt_a_reply_or_a_tool_is_there(demo: Path, spans: list[dict[str, Any]]) -> None:
    written = json.dumps(spans, ensure_ascii=False)
    lines = {line.strip() for text in texts(demo) for line in text.splitlines() if len(line.split()) >= 4}
    assert len(lines) > 200
    assert [line for line in lines if line in written] == []
    assert not re.search(r"messages|instructions|arguments|\.result|definitions|\.goal|title", written)


def texts(root: Path) -> list[str]:
    """Every text of the record: prompts, replies, inputs and results of tools."""
    connection = sqlite3.connect(f"file:{root}/.air/local/air.db?mode=ro", uri=True)
    try:
        found = connection.execute("SELECT codec = 1, body FROM texts WHERE body IS NOT NULL").fetchall()
    finally:
        connection.close()
    return [(inflate(body) if is_packed else body).decode("utf-8") for is_packed, body in found]


def test_a_file_holds_the_same_bytes_each_time(demo: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    said = air(demo, "export", "spans", "--output", str(one), "--json").result["export"]
    (run,) = rows(demo, "SELECT run_id FROM runs")[0]
    text = air(demo, "export", "spans", str(run), "--output", str(two), cold=True)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_text() == air(demo, "export", "spans").output
    assert isinstance(said, dict)
    assert (said["run_id"], said["unended"], said["file"]) == (run, 0, str(one))
    assert f"{said['spans']} spans of run {run}" in text.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["r-none"], "There is no run r-none"),
        (["--output", "nowhere/spans.jsonl"], "nowhere/spans.jsonl: cannot be written"),
        (["--json"], "--json needs a file"),
    ],
)
def test_what_cannot_be_done_is_said(demo: Path, arguments: list[str], says: str) -> None:
    ended = air(demo, "export", "spans", *arguments)
    assert (ended.code, says in ended.output) == (2, True), ended.output


def test_what_has_no_end_yet_is_told_and_without_a_run_there_is_nothing(tmp_path: Path) -> None:
    fleet = make_fleet(tmp_path / "project", [{"id": "T1", "title": "One"}], [script("executor", "T1", done())])
    fleet.store.close()
    file = tmp_path / "spans.jsonl"
    ended = air(fleet.root, "export", "spans", "--output", str(file))
    assert (ended.code, "1 span without an end of its own" in ended.output) == (0, True), ended.output
    (span,) = spans_of(json.loads(file.read_text()))
    assert attributes(span)["aircoding.unended"] is True
    fresh = demo_project(tmp_path / "fresh")
    nothing = air(fresh, "export", "spans")
    assert (nothing.code, "nothing is on record in this project yet" in nothing.output) == (2, True)


def test_the_commands_of_the_page_run(demo: Path) -> None:
    blocks = [block.removeprefix("sh\n") for block in PAGE.read_text().split("```")[1::2]]
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("aircoding")]
    assert len(commands) == 2
    (run,) = rows(demo, "SELECT run_id FROM runs")[0]
    try:
        for line in commands:
            _, *arguments = shlex.split(line.replace("RUN", str(run)), comments=True)
            ended = air(demo, *arguments)
            assert ended.code == 0, (line, ended.output)
        assert (demo / "spans.jsonl").read_text().count("\n") > 10
    finally:
        (demo / "spans.jsonl").unlink(missing_ok=True)
