"""`context omissions`, `conflicts` and `costs`: the same figures as the manifests and the calls give one by one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.contradicting_runs import contradicting_run
from support.demo_runs import rows

from aircoding.audit.cost_shares import layer_costs
from aircoding.audit.left_out import left_out_of
from aircoding.cli.main import main
from aircoding.records.accounting import PaidCall
from aircoding.records.ids import ManifestId
from aircoding.records.usage import UnitPrices
from aircoding.store import open_store
from aircoding.store.within import Within

Ask = Callable[..., tuple[int, str, dict[str, Any]]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of two tasks of several turns, whose rules contradict each other."""
    return contradicting_run(tmp_path_factory)


@pytest.fixture
def ask(root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Run `aircoding context` on the record and return its code, its text and its JSON."""
    monkeypatch.chdir(root)

    def context(*arguments: str) -> tuple[int, str, dict[str, Any]]:
        with pytest.raises(SystemExit) as ended:
            main(["context", *arguments])
        said = capfd.readouterr()
        return int(ended.value.code or 0), said.out + said.err, json.loads(said.out) if "--json" in arguments else {}

    return context


def last_manifests(root: Path) -> list[str]:
    query = "SELECT manifest_id, max(turn) FROM assemblies GROUP BY session_id"
    return [str(one) for one, _ in rows(root, query)]


def test_omissions_are_those_of_the_last_prompt_of_each_session(root: Path) -> None:
    expected: dict[tuple[object, ...], list[int]] = {}
    with open_store(root / ".air/local/air.db", read_only=True) as store:
        for manifest_id in last_manifests(root):
            for one in left_out_of(store.assemblies.get(ManifestId(manifest_id)).manifest):
                note = one.example
                sums = expected.setdefault((note.uri, note.layer, note.outcome, note.reason, note.by), [0, 0])
                sums[0] += one.tokens
                sums[1] += 1
        found = store.accounting.left_out(Within(run_id="r1"))
        assert found == store.accounting.left_out()
        t1 = store.accounting.left_out(Within(run_id="r1", task_id="T1"))

    keys = [(o.uri, o.layer, o.outcome, o.reason, o.by) for o in (one.example for one in found)]
    assert {key: [one.tokens, one.workers] for key, one in zip(keys, found, strict=True)} == expected
    assert len(expected) == 2
    assert [one.tokens for one in found] == sorted((one.tokens for one in found), reverse=True)
    assert {one.workers for one in t1} == {1}


def test_omissions_name_reason_place_and_remedy(ask: Ask) -> None:
    code, text, _ = ask("omissions", "--reason", "path_not_matched")
    page = ask("omissions", "--limit", "1", "--json")[2]

    assert code == 0
    assert " tokens  L3 .air/shared/rules/licence.md  omitted: path_not_matched" in text
    assert "1 worker: executor; tasks T1" in text
    assert "decided at .air/shared/rules/licence.md:4" in text
    assert "to change it: add a glob" in text
    assert "1 reason in all" in text
    assert len(page["omissions"]) == 1
    assert (page["total"], page["offset"]) == (2, 0)
    assert "1 of" in ask("omissions", "--limit", "1")[1]
    assert ask("omissions", "--layer", "L8", "--reason", "trigger_not_matched")[1] == "nothing was left out\n"


def test_omissions_of_one_assembly(ask: Ask, root: Path) -> None:
    (manifest, _) = rows(root, "SELECT manifest_id, turn FROM assemblies WHERE task_id = 'T2' AND turn = 1")[0]

    found = ask("omissions", "--manifest", str(manifest), "--json")[2]["omissions"]

    assert {one["left_out"]["workers"] for one in found} == {1}
    assert not [one for one in found if one["left_out"]["example"]["reason"] == "path_not_matched"]


def test_conflicts_name_those_in_whose_prompts_they_stood(ask: Ask) -> None:
    code, text, _ = ask("conflicts")
    found = ask("conflicts", "--json")[2]
    of_t2 = ask("conflicts", "--task", "T2", "--run", "all", "--json")[2]
    of_session = ask("conflicts", "--session", "r1:T2:1:executor:1", "--json")[2]

    (one,) = found["conflicts"]
    assert (code, found["total"]) == (0, 1)
    assert one["conflict"]["conflict_id"] in text
    assert "indentation" in text or "indent" in text
    assert (one["sessions"], one["open_sessions"], one["tasks"]) == (2, 2, ["T1", "T2"])
    assert "nobody has won yet" in text
    assert of_t2["conflicts"][0]["sessions"] == 1
    assert of_session["conflicts"] == of_t2["conflicts"]


def test_layers_cost_what_the_manifests_say_one_by_one(root: Path, ask: Ask) -> None:
    with open_store(root / ".air/local/air.db", read_only=True) as store:
        calls = []
        for call in store.queries.calls(run_id="r1"):
            assert call.usage is not None
            assert call.cost is not None
            segments = store.assemblies.get(call.manifest_id).manifest.segments
            parts = [(one.layer.value, one.tokens) for one in segments]
            prices = call.cost.unit_prices or UnitPrices()
            calls.append(PaidCall(parts, call.usage, prices, call.cost.usd, simulated=True))
    expected = layer_costs(calls)

    found = ask("costs", "--by", "layer", "--json")[2]
    layers, whole = found["costs"], found["whole"]

    assert len(calls) == 5
    assert [(one["layer"], one["tokens"]) for one in layers] == [(one.layer, one.tokens) for one in expected]
    for one, other in zip(layers, expected, strict=True):
        assert one["cost_usd"] == pytest.approx(other.cost_usd)
    assert sum(one["cost_usd"] for one in layers) == pytest.approx(whole["cost_usd"], abs=1e-9)
    assert found["basis"] == {"tokens": "simulated", "cost_usd": "simulated", "layers": "estimated shares of it"}
    assert "The rows sum up to the recorded cost" in ask("costs", "--by", "layer")[1]


@pytest.mark.parametrize("by", ["task", "role", "model"])
def test_what_was_billed_adds_up(ask: Ask, root: Path, by: str) -> None:
    (billed, calls) = rows(root, "SELECT sum(cost_usd), count(*) FROM model_calls")[0]

    found = ask("costs", "--by", by, "--json")[2]
    everything = ask("costs", "--by", by, "--run", "all", "--json")[2]

    assert sum(one["cost_usd"] for one in found["costs"]) == pytest.approx(billed)
    assert found["whole"]["paid"] == calls
    assert found["costs"] == everything["costs"]
    assert {one["task_id"] for one in found["costs"]} == ({"T1", "T2"} if by == "task" else {None})
    text = ask("costs", "--by", by)[1]
    assert f"{calls} of {calls} calls were simulated" in text


def test_a_page_of_costs_says_how_much_it_leaves_out(ask: Ask) -> None:
    assert "1 of 2 shown; go on with --offset 1" in ask("costs", "--limit", "1")[1]
    assert "r1" in ask("costs", "--run", "all")[1]


@pytest.mark.parametrize("command", ["omissions", "conflicts", "costs"])
def test_an_unknown_run_is_told(ask: Ask, command: str) -> None:
    code, text, _ = ask(command, "--run", "no-such-run")

    assert code == 2
    assert "no-such-run" in text
    assert "Traceback" not in text


def test_the_commands_of_the_page_run(ask: Ask) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/see-what-it-cost.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("aircoding context ")]

    assert len(lines) == 10
    for line in lines:
        code, text, _ = ask(*shlex.split(line.split(" #")[0])[2:])
        assert code == 0, f"{line}\n{text}"
