"""Costs as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aircoding.audit.cost_shares import LayerCost
from aircoding.cli.output import table
from aircoding.records.accounting import Spent
from aircoding.records.words import counted, dollars

if TYPE_CHECKING:
    from aircoding.app.questions.costs import Costs

__all__ = ["costs_text"]


def costs_text(found: Costs) -> str:
    """Return costs in rows, the sum below, and what they rest on."""
    rows = table(*_layers(found)) if found.by == "layer" else table(*_groups(found))
    return "\n".join([rows, "", *_remarks(found)])


def _groups(found: Costs) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    rows = [one for one in found.costs if isinstance(one, Spent)]
    of_runs = found.by == "task" and found.run_id is None
    names = ("run", "task") if of_runs else (found.by,)
    headings = (*names, "calls", "prompt tokens", "from cache", "output tokens", "cost", "share")
    return headings, [
        (*_key(one, found, of_runs=of_runs), *_figures(one, found.whole))
        for one in (*rows, *([found.whole] if len(rows) > 1 and len(rows) == found.total else []))
    ]


def _key(one: Spent, found: Costs, *, of_runs: bool) -> tuple[str, ...]:
    if one is found.whole:
        return ("all", "") if of_runs else ("all",)
    name = {"task": one.task_id, "role": one.role, "model": one.model}[found.by] or "-"
    return (one.run_id or "-", name) if of_runs else (name,)


def _figures(one: Spent, whole: Spent) -> tuple[object, ...]:
    usage = one.usage
    cached = f"{usage.cache_read_tokens / usage.prompt_tokens:.0%}" if usage.prompt_tokens else "-"
    return one.paid, usage.prompt_tokens, cached, usage.output_tokens, _money(one.cost_usd), _part(one.cost_usd, whole)


def _layers(found: Costs) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    headings = ("layer", "tokens", "read from cache", "written to it", "paid in full", "cost", "share")
    return headings, [
        (
            one.layer,
            one.tokens,
            *(one.read_tokens, one.written_tokens, one.full_tokens),
            _money(one.cost_usd),
            _part(one.cost_usd, found.whole),
        )
        for one in found.costs
        if isinstance(one, LayerCost)
    ]


def _money(usd: float | None) -> str:
    return "unknown" if usd is None else dollars(usd)


def _part(usd: float | None, whole: Spent) -> str:
    return f"{usd / whole.cost_usd:.1%}" if usd is not None and whole.cost_usd else "-"


def _remarks(found: Costs) -> list[str]:
    whole = found.whole
    if not whole.paid:
        return ["no call was paid for"]
    lines = [f"{counted(whole.paid, 'call')}, {_money(whole.cost_usd)} in all"]
    if whole.simulated:
        lines.append(f"{whole.simulated} of {whole.paid} calls were simulated: no provider counted or billed them")
    else:
        lines.append("tokens and money are measured: as the provider counted them, by the prices of each call")
    if whole.unpriced:
        lines.append(f"{counted(whole.unpriced, 'call')} of unknown price: what they cost is in no sum")
    if whole.unpaid:
        lines.append(f"{counted(whole.unpaid, 'try')} brought no usage back and are in no sum")
    if found.by == "layer":
        lines.append(
            "a layer's part is estimated: what a call read from the cache is the beginning of its prompt, what it wrote"
            " into the cache follows, the rest was paid in full; a layer has the part of each in which its text lies."
            " The rows sum up to the recorded cost."
        )
    return lines
