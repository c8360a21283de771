"""What is printed: one line for each budget, or the same as data."""

from runner import kernel
from runner.budgets.book import written
from runner.budgets.verdicts import FAILURES, Verdict

HEADINGS = ("budget", "bound", "measured", "", "verdict")


def text(verdicts: list[Verdict]) -> str:
    """A table, its figures aligned; under it what to do about what is not kept."""
    rows = [HEADINGS, *(_row(verdict) for verdict in verdicts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "─" * max(map(len, lines)))
    lines += [f"\n{v.budget.name}: {v.budget.why}" for v in verdicts if v.state in FAILURES]
    return "\n".join(lines)


def _row(verdict: Verdict) -> tuple[str, ...]:
    budget = verdict.budget
    measured = "–" if verdict.measured is None else written(verdict.measured)
    bound = f"{budget.relation} {written(budget.bound)} ± {written(budget.tolerance_percent)} %"
    return (budget.name, bound, measured, budget.unit, verdict.state.value)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    name, bound, measured, unit, verdict = row
    left = f"{name:<{widths[0]}}  {bound:<{widths[1]}}"
    return f"{left}  {measured:>{widths[2]}} {unit:<{widths[3]}}  {verdict}"


def data(verdicts: list[Verdict], counted_with: str) -> dict:
    """For machines."""
    return {
        "kept": not any(verdict.state in FAILURES for verdict in verdicts),
        "counted_with": counted_with,
        "machine": kernel.machine(),
        "budgets": [_entry(verdict) for verdict in verdicts],
    }


def _entry(verdict: Verdict) -> dict:
    budget = verdict.budget
    return {
        "group": budget.group,
        "name": budget.name,
        "unit": budget.unit,
        "at_most" if budget.is_ceiling else "at_least": budget.bound,
        "tolerance_percent": budget.tolerance_percent,
        "measured": verdict.measured,
        "verdict": verdict.state.value,
    }
