"""`context cache`: what a call read, what it should have read, and the reason in words."""

from __future__ import annotations

from pathlib import Path

from fleet.worlds import done, git, make_fleet, script, use
from support.demo_runs import air, rows

from aircoding.app.questions.cache_reports import CacheReport
from aircoding.cli.context.cache_answers import cache_text
from aircoding.records.digests import sha256_text
from aircoding.records.manifest import CacheMark
from aircoding.records.usage import Usage

MARK = CacheMark(
    mark="/system/0",
    after_segment="L1:x@1",
    prefix_digest=sha256_text("x"),
    prefix_tokens=900,
    predicted="read",
    measured="written",
)


def report(**more: object) -> CacheReport:
    values = {"manifest_id": "m-1", "session_id": "r1:T1:1:executor:1", "turn": 2, "model": "m", "marks": (MARK,)}
    scale = {
        "prefix_tokens": tuple(810 for _ in more.get("marks", (MARK,))),
        "counted": True,
        "simulated": True,
        "takes_marks": True,
    }  # type: ignore[attr-defined]
    return CacheReport(**{**values, "usage": None, "missed": None, **scale, **more})  # type: ignore[arg-type]


def test_a_run_on_record_is_explained(tmp_path: Path) -> None:
    tasks = [{"id": "T1", "title": "One"}, {"id": "T2", "title": "Two"}]
    slow = {**use("fs_read", path="a.txt"), "delay_seconds": 0.5}
    scripts = [script("executor", name, slow, done()) for name in ("T1", "T2")]
    rules = "\n".join(f"- Rule {n}: keep it small and say what it is for." for n in range(300))
    fleet = make_fleet(tmp_path / "project", tasks, scripts, files={"AGENTS.md": rules})
    assert fleet.drive() == "done"
    fleet.store.close()
    second = rows(fleet.root, "SELECT manifest_id FROM assemblies WHERE turn = 2 LIMIT 1")[0][0]

    ended = air(fleet.root, "context", "cache", str(second), "--json")
    text = air(fleet.root, "context", "cache", str(second)[:10]).output

    found = ended.result["cache"]
    assert isinstance(found, dict)
    assert found["usage"]["cache_read_tokens"] > 1_000
    assert found["missed"] is None
    assert {mark["measured"] for mark in found["marks"]} == {"read", "written"}
    assert "nothing that an earlier request of this process had left was missed" in text
    assert git(fleet.root, "status", "--porcelain") == ""


def test_a_miss_names_the_reason_and_the_first_segment_that_differs() -> None:
    missed = {
        "kind": "miss",
        "expected_tokens": 900,
        "reason": "system_changed",
        "detail": "first other bytes at /system/0",
        "block": "/system/0",
        "segment_id": "L1:x@2",
    }
    text = cache_text(report(usage=Usage(input_tokens=100, cache_write_5m_tokens=900), missed=missed))
    assert "of 1000 tokens 0 were read from the cache, 900 written" in text
    assert "900 written (simulated)" in text
    assert "tokens up to it (about)" in text
    assert " 810 " in text
    assert "miss: about 900 should have been read (system_changed: first other bytes at /system/0)" in text
    assert "first that differs: L1:x@2 at /system/0" in text


def test_a_call_without_answer_or_marks_says_so() -> None:
    """E54, E59: marks that were withheld are said to be, with the reason."""
    assert "no marks: this model takes none, so all of them were left out" in cache_text(
        report(marks=(), takes_marks=False)
    )
    text = cache_text(report(marks=()))
    assert "no marks: what could be cached is shorter than the model's minimum" in text
    assert "there is no answer to this request yet" in text


def test_an_unknown_id_is_told(tmp_path: Path) -> None:
    fleet = make_fleet(tmp_path / "project", [{"id": "T1", "title": "One"}], [script("executor", "T1", done())])
    fleet.store.close()
    ended = air(fleet.root, "context", "cache", "m-none")
    assert (ended.code, "no assembly m-none is on record" in ended.output) == (2, True)
