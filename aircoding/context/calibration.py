"""What came back teaches the estimates: state in, sample in, state out; the state gives an estimator.

An estimator's name holds its numbers. So the manifest of an epoch's first turn says with what the later turns are
measured, and a recorded estimate can be traced back to the raw count that it was made of.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from aircoding.records.snapshot import Estimator
from aircoding.records.usage import UsageSample

__all__ = ["ENOUGH_SAMPLES", "RECENT_SAMPLES", "Calibration", "calibrated", "estimator_named", "observe"]

ENOUGH_SAMPLES = 20
"""Before so many calls were counted, no factor is below 1 and the range is as wide as without any."""
RECENT_SAMPLES = 200
"""How many of the newest ratios the range is taken from."""

_PLAIN = Estimator()
_SMALLEST_TOKENS = 1_000
"""A smaller request says more of the provider's own overhead than of its text."""
_LEAST_RATIO, _MOST_RATIO = 0.25, 4.0
"""Outside of these the count is of something else: a broken proxy, a provider that adds a prompt of its own."""
_NEW_PART = 0.1
"""What a new ratio counts in the mean, once there are ten."""
_LEAST_HIGH, _MOST_LOW = 1.15, 0.9
"""How narrow the range may become: a safety of 15 % for hard limits stays, whatever the samples say."""
_NAME = re.compile(
    re.escape(_PLAIN.name)
    + r":factor=([0-9]+\.[0-9]{4}):low=([0-9]+\.[0-9]{4}):high=([0-9]+\.[0-9]{4}):samples=([0-9]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What is known of one model: `mean` and `recent` are ratios of counted tokens to raw estimated ones."""

    samples: int = 0
    mean: float = 1.0
    recent: tuple[float, ...] = ()


def observe(state: Calibration, sample: UsageSample) -> Calibration:
    """Return the state with one more sample; one that cannot be compared changes nothing."""
    estimator = estimator_named(sample.estimator)
    if estimator is None or sample.expected_tokens < _SMALLEST_TOKENS:
        return state
    ratio = sample.actual_tokens * estimator.factor / sample.expected_tokens
    if not _LEAST_RATIO <= ratio <= _MOST_RATIO:
        return state
    samples = state.samples + 1
    part = max(_NEW_PART, 1 / samples)
    return replace(
        state,
        samples=samples,
        mean=state.mean + part * (ratio - state.mean),
        recent=(*state.recent, ratio)[-RECENT_SAMPLES:],
    )


def calibrated(state: Calibration) -> Estimator:
    """Return the estimator of a state, safe on the high side.

    With few samples the largest ratio is the upper end, later the 95th percentile of the newest ones.
    """
    if not state.samples:
        return _PLAIN
    ratios = sorted(state.recent)
    if state.samples < ENOUGH_SAMPLES:
        factor = max(1.0, state.mean)
        low, high = min(_PLAIN.low, ratios[0] / factor), max(_PLAIN.high, ratios[-1] / factor)
    else:
        factor = state.mean
        low, high = min(_MOST_LOW, _rank(ratios, 0.05) / factor), max(_LEAST_HIGH, _rank(ratios, 0.95) / factor)
    up, low, high = _up(factor), math.floor(low * 10_000) / 10_000, _up(high)
    name = f"{_PLAIN.name}:factor={up:.4f}:low={low:.4f}:high={high:.4f}:samples={state.samples}"
    return Estimator(name=name, factor=up, low=low, high=high, samples=state.samples)


def _rank(ratios: list[float], part: float) -> float:
    """Return the smallest of the sorted ratios that so great a part of them does not exceed."""
    return ratios[max(math.ceil(part * len(ratios)) - 1, 0)]


def _up(value: float) -> float:
    return math.ceil(value * 10_000) / 10_000


def estimator_named(name: str) -> Estimator | None:
    """Return the estimator of that name; None for one of another version, whose raw counts are others."""
    if name == _PLAIN.name:
        return _PLAIN
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    factor, low, high = (float(number) for number in found.group(1, 2, 3))
    return Estimator(name=name, factor=factor, low=low, high=high, samples=int(found[4]))
