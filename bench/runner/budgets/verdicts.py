"""Whether budgets are kept. Pure: figures in, verdicts out."""

import enum
from dataclasses import dataclass

from runner.budgets.book import Book, Budget, rebound, written


class State(enum.Enum):
    """What a figure says of its budget."""

    KEPT = "kept"
    # Better than the bound by more than noise: the bound can be drawn tighter.
    BETTER = "better"
    REGRESSED = "REGRESSED"
    NOT_MEASURED = "NOT MEASURED"
    # Instructions of another compiler, or a smoke run's speed: no better and no worse.
    NOT_COMPARABLE = "not comparable"


FAILURES = {State.REGRESSED, State.NOT_MEASURED}


@dataclass(frozen=True)
class Verdict:
    """A budget, and what was measured for it."""

    budget: Budget
    measured: float | None
    state: State


def judge(
    book: Book, groups: tuple[str, ...], figures: dict[str, float], incomparable: set[str] = frozenset()
) -> list[Verdict]:
    """Of every budget of these groups; one without a figure is not kept. Figures of incomparable groups are shown."""
    return [_verdict(budget, figures.get(budget.name), incomparable) for budget in book.of(groups)]


def without_budget(book: Book, figures: dict[str, float]) -> list[str]:
    """Figures that nobody bounds: a budget was renamed, or forgotten."""
    return sorted(figures.keys() - {budget.name for budget in book.budgets})


def _verdict(budget: Budget, measured: float | None, incomparable: set[str]) -> Verdict:
    if measured is None:
        return Verdict(budget, None, State.NOT_MEASURED)
    if budget.group in incomparable:
        return Verdict(budget, measured, State.NOT_COMPARABLE)
    worse_by = measured - budget.bound if budget.is_ceiling else budget.bound - measured
    beyond_noise = round(abs(worse_by) - budget.noise, 9) > 0  # a binary fraction's last digit is no regression
    if not beyond_noise:
        return Verdict(budget, measured, State.KEPT)
    return Verdict(budget, measured, State.REGRESSED if worse_by > 0 else State.BETTER)


def updated(text: str, verdicts: list[Verdict], counted_with: str) -> tuple[str, list[str]]:
    """The file with the bounds that these figures give, and a line for each that changed. What lies within noise stays
    as it is, or the bounds would wander."""
    stays = {State.KEPT, State.NOT_MEASURED}
    changed = [verdict for verdict in verdicts if verdict.state not in stays]
    bounds = {verdict.budget.name: verdict.measured for verdict in changed}
    changes = [
        f"{v.budget.name}: {v.budget.relation} {written(v.budget.bound)} → {written(v.measured)} {v.budget.unit}"
        for v in changed
    ]
    counts = any(verdict.budget.group == "instructions" for verdict in verdicts)
    return rebound(text, bounds, counted_with if counts else None), changes
