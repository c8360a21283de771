"""The tables of the competition's report."""

import json
from collections.abc import Callable
from pathlib import Path

from runner import report
from runner.competition import standing
from runner.competition.entrants import FLOOR, Entrant
from runner.competition.markup import Table
from runner.competition.plan import AS_LONG_AS_IN_2012
from runner.competition.standing import Column
from runner.samples import Samples, Spread

THEN = Path(__file__).resolve().parents[2] / "c10k-2012.json"

NOTHING = "–"

# Behind the server's name and its times.
COUNTS = ("messages", "connections", "disconnections", "connection_timeouts", "crashes")
PARTS = ("mean", "median", "p99", "max")


def main_table(samples: Samples, entrants: list[Entrant]) -> Table:
    """A row for each server, a column for each figure; the best that is not the floor's in bold."""
    columns = standing.measured(samples)
    table = Table(["server", *(column.heading for column in columns)])
    best = {column: standing.ranking(column, samples, entrants)[:1] for column in columns}
    for entrant in entrants:
        cells = [_figure(column, samples, entrant, entrant in best[column]) for column in columns]
        if any(cell != NOTHING for cell in cells):
            table.rows.append([entrant.title, *cells])
    return table


def test_tables(samples: Samples, entrants: list[Entrant]) -> dict[str, Table]:
    """The figures of the C10K test, today's and those of 2012 under each other, by scenario."""
    tables = {}
    for name in standing.TESTS:
        if by_entrant := samples.by_scenario.get(name):
            counts = [name.replace("_", " ") for name in COUNTS]
            table = Table(["server", "connection time, ms", "latency, ms", *counts])
            titles = {entrant.name: entrant.title for entrant in entrants}
            table.rows += [_test_row(titles[entrant], samples, name, entrant) for entrant in by_entrant]
            table.rows += [_row_then(server, name) for server in then()["servers"]]
            tables[name] = table
    return tables


def entrant_table(entrants: list[Entrant]) -> Table:
    """Who they are and how they were set."""
    table = Table(["server", "language", "library", "version", "settings"], words=5)
    table.rows = [[e.title, e.language, e.library, e.version, e.settings] for e in entrants]
    return table


def then() -> dict:
    """What was published in 2012."""
    return json.loads(THEN.read_text())


def _figure(column: Column, samples: Samples, entrant: Entrant, is_best: bool) -> str:
    spread = column.spread(samples, entrant.name)
    if spread is None:
        return NOTHING
    median = report.number(spread.median)
    text = f"**{median}**" if is_best else median
    if spread.least != spread.greatest:
        text += f"\n{report.number(spread.least)}–{report.number(spread.greatest)}"
    ratio = None if entrant.name == FLOOR else column.ratio(samples, entrant.name)
    return text if ratio is None else f"{text}\n{times(ratio)}"


def times(ratio: float | None) -> str:
    """A ratio to the floor, where there is one."""
    return "" if ratio is None else f"{report.number(ratio)} ×"


def _test_row(title: str, samples: Samples, scenario: str, entrant: str) -> list[str]:
    def times_of(name: str) -> str:
        parts = [samples.spread(scenario, entrant, f"{name}_ms_{part}") for part in PARTS]
        return NOTHING if None in parts else _with_spread(parts, report.number)

    def count_of(name: str) -> str:
        spread = samples.spread(scenario, entrant, name)
        return NOTHING if spread is None else _with_spread([spread], lambda count: f"{count:,.0f}")

    counted = [count_of(name) for name in COUNTS]
    return [title + _mark(samples, scenario, entrant), times_of("connection_time"), times_of("latency"), *counted]


def _with_spread(spreads: list[Spread], number: Callable[[float], str]) -> str:
    """Medians, and beneath them the least and the greatest where any differ."""
    text = " / ".join(number(spread.median) for spread in spreads)
    ranges = [(number(spread.least), number(spread.greatest)) for spread in spreads]
    if all(least == greatest for least, greatest in ranges):
        return text
    beneath = (least if least == greatest else f"{least}–{greatest}" for least, greatest in ranges)
    return f"{text}\n{' / '.join(beneath)}"


def _mark(samples: Samples, scenario: str, entrant: str) -> str:
    """Behind the name of a server with runs that are invalid; how many, where they are not all."""
    runs = samples.by_scenario[scenario][entrant].get("invalid_runs", [])
    invalid = sum(map(bool, runs))
    if not invalid:
        return ""
    return " †" if invalid == len(runs) else f" †\n{invalid} of {len(runs)} runs"


def _row_then(server: dict, scenario: str) -> list[str]:
    def spread_of(name: str) -> str:
        return " / ".join(report.number(server[name][part] / 1000) for part in PARTS)

    def count_of(name: str) -> str:
        # In today's shorter form, as many messages cannot come.
        is_longer = name == "messages" and scenario != AS_LONG_AS_IN_2012
        return f"{server[name]:,}" + ("\nin 300 s" if is_longer else "")

    counted = [count_of(name) for name in COUNTS]
    return [f"2012: {server['title']}", spread_of("connection_time"), spread_of("latency"), *counted]
