"""A slope with its error, of readings that resemble their neighbours.

Ordinary least squares assumes residuals that are independent, of one variance, and about normal. Readings of memory a
second apart are none of that: memory goes up in steps and stays. So the readings are averaged in blocks, which makes
them nearly normal, and what likeness is left between neighbouring blocks widens the error by `(1 + r) / (1 − r)` in
variance, as of a first-order process with autocorrelation `r`. Growth that is not straight (a cache that fills) shows as
a slope of its mean; it is for the picture to tell it from a leak.
"""

import math
import statistics
from dataclasses import dataclass

# Enough for a distribution with 95 % between bounds that are not much wider than the normal one's.
BLOCKS = 20
BLOCKS_LEAST = 8
# Of the normal distribution: 95 % lie within.
NORMAL_QUANTILE = 1.959964
AUTOCORRELATION_MAX = 0.9


@dataclass(frozen=True)
class Slope:
    """Change per second, and half the width of its 95 % confidence interval."""

    per_second: float
    error: float
    autocorrelation: float
    blocks: int

    @property
    def is_within_error(self) -> bool:
        return abs(self.per_second) <= self.error


def of(seconds: list[float], values: list[float]) -> Slope | None:
    """Of readings in order of time; nothing where there are too few."""
    size = len(seconds) // BLOCKS or 1
    xs, ys = blocks(seconds, size), blocks(values, size)
    count = len(xs)
    if count < BLOCKS_LEAST:
        return None
    line = statistics.linear_regression(xs, ys)
    residuals = [y - line.slope * x - line.intercept for x, y in zip(xs, ys)]
    middle = statistics.fmean(xs)
    spread = sum((x - middle) ** 2 for x in xs)
    standard_error = math.sqrt(sum(r * r for r in residuals) / (count - 2) / spread)
    likeness = autocorrelation(residuals)
    widened = standard_error * math.sqrt((1 + likeness) / (1 - likeness))
    return Slope(line.slope, student_quantile(count - 2) * widened, likeness, count)


def blocks(values: list[float], size: int) -> list[float]:
    """The mean of each whole block."""
    return [statistics.fmean(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]


def autocorrelation(residuals: list[float]) -> float:
    """With the next one. Its estimate is low by about (1 + 4r) / n in short series (Marriott and Pope, 1954). Alternation
    is no likeness."""
    power = sum(r * r for r in residuals)
    if power == 0:
        return 0.0
    found = sum(a * b for a, b in zip(residuals, residuals[1:])) / power
    return min(max(found + (1 + 4 * found) / len(residuals), 0.0), AUTOCORRELATION_MAX)


def student_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's distribution, by the expansion about the normal one (Abramowitz and Stegun,
    26.7.5); from six degrees of freedom on right to a thousandth."""
    z = NORMAL_QUANTILE
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
