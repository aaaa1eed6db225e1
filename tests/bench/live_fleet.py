"""`make bench-live MAX_COST=2`: the fleet of test_bench_fleet against the real API, with a hard money stop.

The prompts are those that the fleet sends on the emulator, byte for byte, so the contents and their bound are the
same; of each answer only a few tokens are asked for. It needs ANTHROPIC_API_KEY and costs money; without a key it
says so and does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from support.cache_bound import blocks_of, bound
from support.cache_fleets import MODEL, Gated, Sent, built_fleet, call_of, prices, run_fleet
from support.provider_calls import capabilities

from aircoding.app.models import next_try
from aircoding.errors import ProviderError
from aircoding.ports import Provider
from aircoding.providers.anthropic_messages import AnthropicProvider
from aircoding.providers.prices import cost_of
from aircoding.records.calls import CallRequest, Reply
from aircoding.records.digests import canonical_json
from aircoding.records.ids import SessionId
from aircoding.records.usage import Usage

OUTPUT_TOKENS = 16
AT_ONCE = 8
LEAST_BYTES_PER_TOKEN = 2
"""No text of this fleet comes near so few; what is reserved for a call is more than it can cost."""


class MoneyStop:
    """Lets a call through only while what was spent, what is under way and the call at its dearest fit the limit."""

    def __init__(self, inner: Provider, *, max_usd: float) -> None:
        self._inner, self._max_usd = inner, max_usd
        self.spent_usd, self._reserved_usd = 0.0, 0.0

    async def call(self, call: CallRequest, *, began: Callable[[], None] | None = None) -> Reply:
        tokens = len(canonical_json(call.request)) // LEAST_BYTES_PER_TOKEN
        dearest = cost_of(call.model, Usage(cache_write_5m_tokens=tokens, output_tokens=call.max_output_tokens)).usd
        if dearest is None or self.spent_usd + self._reserved_usd + dearest > self._max_usd:
            raise ProviderError(
                f"The next call could pass the limit: ${self.spent_usd:.3f} of ${self._max_usd:.2f} are spent.",
                kind="refused",
                action="stop",
            )
        self._reserved_usd += dearest
        try:
            reply = await self._inner.call(call, began=began)
        except BaseException as error:
            if not isinstance(error, ProviderError) or error.maybe_billed:
                self.spent_usd += dearest
            raise
        finally:
            self._reserved_usd -= dearest
        cost = cost_of(call.model, reply.usage).usd
        self.spent_usd += dearest if cost is None else cost
        return reply


async def send_live(provider: Gated, sent: Sequence[Sent]) -> tuple[Usage, int, str]:
    """Send all sessions side by side; return what was used, how many calls were answered, and why it stopped."""
    by_session: dict[SessionId, list[CallRequest]] = {}
    for session, body in sent:
        calls = by_session.setdefault(session, [])
        calls.append(call_of(session, len(calls), body, max_output_tokens=OUTPUT_TOKENS))
    wait_for, slots = next_try(), asyncio.Semaphore(AT_ONCE)
    total, answered, stopped = Usage(), 0, ""

    async def one(calls: Sequence[CallRequest]) -> None:
        nonlocal total, answered, stopped
        for call in calls:
            failed = 0
            while not stopped:
                try:
                    async with slots:
                        total += (await provider.call(call)).usage
                    answered += 1
                    break
                except ProviderError as error:
                    failed += 1
                    seconds = wait_for(error, failed)
                    if seconds is None:
                        stopped = error.message
                    else:
                        await asyncio.sleep(seconds)

    await asyncio.gather(*(one(calls) for calls in by_session.values()))
    return total, answered, stopped


async def measure(environ: Mapping[str, str], *, max_usd: float, workers: int, turns: int) -> list[str]:
    """Run the fleet on the emulator, send its prompts to the API, and return the lines of the report."""
    with tempfile.TemporaryDirectory() as folder, built_fleet(Path(folder), workers=workers, turns=turns) as fleet:
        sent, simulated = await run_fleet(fleet)
    provider = AnthropicProvider(capabilities(), environ=environ)
    money = MoneyStop(provider, max_usd=max_usd)
    usage, answered, stopped = await send_live(Gated(money), sent)
    await provider.aclose()
    limit = bound([blocks_of(body) for _, body in sent], prices())
    lines = [f"simulated: {simulated.cache_read_tokens / simulated.prompt_tokens:.2%} read from the cache"]
    if usage.prompt_tokens:
        share = usage.cache_read_tokens / usage.prompt_tokens
        lines.append(
            f"measured with {MODEL} on {datetime.now(UTC):%Y-%m-%d}: {usage.prompt_tokens} prompt tokens in {answered}"
            f" calls, {share:.2%} read from the cache, {share / limit.best_share:.2%} of the best share possible;"
            f" ${money.spent_usd:.3f} at most"
        )
    if stopped:
        lines.append(f"stopped after {answered} of {len(sent)} calls, so the share is of a part: {stopped}")
    return lines


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="make bench-live", description=__doc__)
    parser.add_argument("--max-cost", type=float, default=2.0, help="US dollars that may be spent")
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--turns", type=int, default=12)
    options = parser.parse_args(arguments)
    if not environ.get("ANTHROPIC_API_KEY"):
        print("skipped: ANTHROPIC_API_KEY is not set; this measurement needs a real key and spends money")
        return 0
    report = measure(environ, max_usd=options.max_cost, workers=options.workers, turns=options.turns)
    print("\n".join(asyncio.run(report)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
