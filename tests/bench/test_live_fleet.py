"""The measurement with a real key: it skips without one, and it cannot spend more than it may. No key is used here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bench.live_fleet import MoneyStop, main, send_live
from support.cache_fleets import MODEL, Gated, Sent, built_fleet, emulated
from support.provider_calls import SESSION, call, request, text, user

from aircoding.errors import ProviderError
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.usage import Usage


@dataclass
class Dear:
    """Answers every call with the same usage."""

    usage: Usage
    calls: list[CallRequest] = field(default_factory=list)

    async def call(self, asked: CallRequest, *, began: object = None) -> Reply:
        self.calls.append(asked)
        return Reply(content=(text("a"),), stop_reason="end_turn", usage=self.usage, model=MODEL)


def test_without_a_key_it_says_why_it_does_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], {}) == 0
    assert "skipped: ANTHROPIC_API_KEY is not set" in capsys.readouterr().out


async def test_a_call_that_could_pass_the_limit_is_not_sent() -> None:
    body = request(user(text("x" * 400_000)))  # 200,000 tokens at most: $0.50 to write
    dear = Dear(Usage(cache_write_5m_tokens=200_000))
    money = MoneyStop(dear, max_usd=1.2)
    for _ in range(2):
        await money.call(call(body))
    assert money.spent_usd == pytest.approx(1.0)
    with pytest.raises(ProviderError, match="could pass the limit"):
        await money.call(call(body))
    assert len(dear.calls) == 2
    assert money.spent_usd < 1.2


async def test_a_call_that_broke_off_counts_as_paid() -> None:
    class Broken:
        async def call(self, asked: CallRequest, *, began: object = None) -> Reply:
            raise ProviderError("cut", kind="cut_stream", action="retry", maybe_billed=True)

    money = MoneyStop(Broken(), max_usd=1.2)
    with pytest.raises(ProviderError):
        await money.call(call(request(user(text("x" * 400_000)))))
    assert money.spent_usd == pytest.approx(0.5, rel=0.05)


async def test_the_prompts_of_a_fleet_go_out_whole_and_a_stop_says_so(tmp_path: Path) -> None:
    body = request(user(text("word " * 2_000, cache_control={"type": "ephemeral"})))
    sent: list[Sent] = [(SESSION, body), (SESSION, body)]
    with built_fleet(tmp_path / "project", workers=1, turns=2) as fleet:
        script = (fleet.root / "script.yaml").read_text("utf-8").replace("W0", "T1")
    emulator, provider = emulated(script)
    usage, answered, stopped = await send_live(Gated(provider), sent)
    assert (answered, stopped) == (2, "")
    assert usage.cache_read_tokens > 2_000
    assert [one.json["messages"] for one in emulator.recorder.requests] == [body["messages"]] * 2
    usage, answered, stopped = await send_live(MoneyStop(provider, max_usd=0.0), sent)
    assert (usage, answered) == (Usage(), 0)
    assert "could pass the limit" in stopped
    await provider.aclose()
