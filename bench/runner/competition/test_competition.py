"""python3 -m unittest discover -s bench -t bench"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

from runner.competition import bars, c10k, cores, entrants, page, plan, report, standing, tables
from runner.competition.entrants import Entrant
from runner.competition.facts import Facts
from runner.competition import filed as competition_filed
from runner.competition.plan import AS_LONG_AS_IN_2012, CLIENTS_IN_2012
from runner.filed import Filed
from runner.form import complaints
from runner.samples import Measurement, Samples, Spread

SECONDS = (60, 300)


class PlanTest(unittest.TestCase):
    def test_a_group_is_a_part_and_all_of_them_are_the_competition(self):
        parts = [scenario.name for group in plan.GROUPS for scenario in plan.plan(group, False, *SECONDS)]
        self.assertEqual(parts, [scenario.name for scenario in plan.plan("competition", False, *SECONDS)])

    def test_a_smoke_run_has_one_in_a_hundred(self):
        large, small = ({s.name: s for s in plan.plan("competition", smoke, *SECONDS)} for smoke in (False, True))
        for name in small:
            if small[name].kind != entrants.ECHO:
                self.assertAlmostEqual(small[name].connections, large[name].connections / 100, delta=1)

    def test_a_test_without_seconds_is_left_out(self):
        self.assertEqual(plan.plan("competition-c10k", False, 0, 0), [])
        self.assertEqual(len(plan.plan("competition-c10k", False, 60, 0)), 1)

    def test_every_column_has_a_scenario(self):
        names = {scenario.name for scenario in plan.plan("competition", False, *SECONDS)}
        self.assertLessEqual({column.scenario for column in standing.COLUMNS}, names)
        self.assertLessEqual(set(standing.TESTS), names)

    def test_the_long_test_is_for_throng_and_the_floor(self):
        there = [entrant(name) for name in ("floor", "throng", "other")]
        scenario = plan.plan("competition-c10k", False, *SECONDS)[-1]
        self.assertEqual([e.name for e in there if scenario.is_for(e)], ["floor", "throng"])

    def test_what_fails_is_noted_and_the_next_one_is_measured(self):
        asked = []

        def measure(server, _visit, _tools):
            asked.append(server)
            if server == "broken":
                raise RuntimeError("it does not listen")
            return Measurement({"value": 1.0}, [])

        scenario = SimpleNamespace(
            name="any", kind=entrants.ECHO, connections=1, repeats_max=9, is_for=lambda _: True, measure=measure
        )
        samples = Samples()
        plan.compete([scenario], [entrant("broken"), entrant("sound")], None, 2, samples)
        self.assertEqual(asked, ["broken", "sound"] * 2)
        self.assertEqual(samples.faults, ["any, broken: it does not listen"] * 2)
        self.assertEqual(samples.faulty, {"broken"})
        self.assertEqual(samples.spread("any", "sound", "value"), Spread(1.0, 1.0, 1.0))


class CoresTest(unittest.TestCase):
    def test_a_child_has_the_core_on_which_it_was_started(self):
        before = os.sched_getaffinity(0)
        with cores.on(cores.server()):
            command = [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"]
            child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(child.stdout.split(), [str(cores.server())])
        self.assertEqual(os.sched_getaffinity(0), before)


class C10kTest(unittest.TestCase):
    def test_a_client_that_ended_for_another_reason_has_crashed(self):
        values = c10k.of_summary(summary(users_failed=9, connect_timeouts=4, disconnects=2)).values
        self.assertEqual((values["crashes"], values["connection_timeouts"], values["disconnections"]), (3, 4, 2))
        self.assertEqual(values["latency_ms_p99"], 1.5)
        wrong = c10k.faults(values, clients=101)
        self.assertEqual(wrong[0], "100 of 101 connected")
        self.assertEqual(len(wrong), 4)

    def test_a_run_as_it_should_be_has_no_fault(self):
        self.assertEqual(c10k.faults(c10k.of_summary(summary()).values, clients=100), [])

    def test_the_published_clients_of_2012_add_up(self):
        for server in tables.then()["servers"]:
            # The published figures of Webbit do not.
            if server["title"] != "Java (Webbit)":
                self.assertEqual(server["connections"] + server["connection_timeouts"], 10_000, server["title"])


class StandingTest(unittest.TestCase):
    def test_ours_is_told_with_those_that_are_better(self):
        column = standing.COLUMNS[0]
        samples = samples_of(column, floor=1.0, throng=5.0, fast=3.0, slow=9.0)
        (told,) = standing.told(column, samples, everyone())
        self.assertIn("place 2 of 3, behind the fast 3", told)
        samples = samples_of(column, floor=1.0, throng=2.0, fast=3.0, slow=9.0)
        (told,) = standing.told(column, samples, everyone())
        self.assertIn("first of 3, before the fast 3", told)

    def test_each_of_ours_has_a_place_of_its_own(self):
        column = standing.COLUMNS[0]
        samples = samples_of(column, **{"throng": 5.0, "throng-channels": 2.0}, fast=3.0)
        channels = SimpleNamespace(name="throng-channels", title="the channels")
        first, second = standing.told(column, samples, [*everyone(), channels])
        self.assertIn("the channels 2 bytes, first of 2, before the fast 3", first)
        self.assertIn("the throng 5 bytes, place 2 of 2, behind the fast 3", second)

    def test_the_floor_is_no_competitor(self):
        column = standing.COLUMNS[0]
        self.assertEqual(standing.told(column, samples_of(column, floor=1.0, throng=2.0), everyone()), [])


class ReportTest(unittest.TestCase):
    def test_the_best_server_is_bold_and_beside_the_floor(self):
        column = standing.COLUMNS[0]
        samples = samples_of(column, floor=2.0, throng=5.0, fast=3.0)
        rows = tables.main_table(samples, everyone()).rows
        self.assertEqual(rows[1:], [["the throng", "5\n2.5 ×"], ["the fast", "**3**\n1.5 ×"]])

    def test_a_spread_stands_beneath_its_median(self):
        column = standing.COLUMNS[0]
        samples = samples_of(column, throng=5.0)
        samples.add(SimpleNamespace(name=column.scenario), "throng", Measurement({column.value: 7.0}, []))
        table = tables.main_table(samples, everyone())
        self.assertEqual(table.rows, [["the throng", "**6**\n5–7"]])
        self.assertEqual(table.markdown()[-1], "| the throng | **6**<br>5–7 |")
        self.assertIn("<b>6</b><br><small>5–7</small>", table.html())

    def test_figures_of_the_test_have_their_spread_and_a_mark_only_where_runs_are_invalid(self):
        samples = Samples()
        for name, means, invalid in (("throng", (1.0, 2.0, 4.0), (0, 0, 0)), ("fast", (3.0, 3.0, 3.0), (0, 1, 0))):
            for mean, was_invalid in zip(means, invalid):
                values = c10k.of_summary(summary()).values
                values |= {"latency_ms_mean": mean, "messages": 100 * mean, "invalid_runs": float(was_invalid)}
                samples.add(SimpleNamespace(name=standing.TESTS[0]), name, Measurement(values, []))
        table = tables.test_tables(samples, everyone())[standing.TESTS[0]]
        ours, fast = table.rows[0], table.rows[1]
        self.assertEqual(ours[0], "the throng")
        self.assertEqual(ours[1], "1 / 0.9 / 1.5 / 1.6")
        self.assertEqual(ours[2], "2 / 0.9 / 1.5 / 1.6\n1–4 / 0.9 / 1.5 / 1.6")
        self.assertEqual(ours[3], "200\n100–400")
        self.assertEqual((fast[0], fast[3]), ("the fast †\n1 of 3 runs", "300"))

    def test_a_run_that_was_filed_can_be_told_anew_and_its_data_stays(self):
        column = standing.COLUMNS[0]
        samples = samples_of(column, floor=2.0, throng=5.0, fast=3.0)
        add_test(samples, "throng")
        with tempfile.TemporaryDirectory() as folder:
            facts = replace(facts_of(everyone()), date="2026-01-02 03:04 UTC")
            readable = report.write(samples, facts, "competition", Path(folder))
            told, data = readable.read_text(), readable.with_suffix(".json")
            before = data.read_text()
            readable.unlink()
            again = competition_filed.told_anew(Filed(data, json.loads(before)))
            self.assertEqual((again, again.read_text()), (readable, told))
            self.assertEqual(data.read_text(), before)

    def test_a_result_of_another_kind_is_refused(self):
        with self.assertRaises(competition_filed.NotACompetition):
            competition_filed.read({"kind": "record"})

    def test_words_of_a_peer_do_no_harm_to_the_page(self):
        facts, samples = facts_of([entrant("<script>")]), Samples()
        text = page.page(samples, facts)
        self.assertNotIn("<script>", text)
        self.assertIn("&lt;script&gt;", text)

    def test_all_files_are_written_and_the_markdown_shows_pictures_that_are_there(self):
        column = standing.COLUMNS[0]
        samples = samples_of(column, floor=2.0, throng=5.0, fast=3.0)
        add_test(samples, "throng")
        with tempfile.TemporaryDirectory() as folder:
            readable = report.write(samples, facts_of(everyone()), "competition", Path(folder))
            told = json.loads(readable.with_suffix(".json").read_text())
            shown = [line for line in readable.read_text().splitlines() if line.startswith("![")]
            for line in shown:
                picture = readable.parent / line.rpartition("(")[2].rstrip(")")
                ElementTree.fromstring(picture.read_text())
            page_text = readable.with_suffix(".html").read_text()
        self.assertEqual(len(shown), 1)
        self.assertEqual(complaints(told), [])
        figures = [m for m in told["measurements"] if m["subject"] == "throng" and m["name"] == column.value]
        self.assertEqual([(m["scenario"], m["repeats"]) for m in figures], [(column.scenario, [5.0])])
        self.assertEqual(page_text.count("<svg"), 1)
        self.assertIn("2012: Erlang (Cowboy)", page_text)

    def test_messages_of_2012_say_how_long_they_took_beside_a_shorter_test(self):
        for test, says in ((CLIENTS_IN_2012, True), (AS_LONG_AS_IN_2012, False)):
            samples = Samples()
            add_test(samples, "throng", test)
            cells = [cell for row in tables.test_tables(samples, everyone())[test].rows for cell in row]
            self.assertEqual(any("in 300 s" in cell for cell in cells), says, test)

    def test_bars_are_as_long_as_their_figures(self):
        picture = bars.draw("a & b", [bars.Bar("x", "peer", Spread(1, 1, 1)), bars.Bar("y", "ours", Spread(2, 2, 2))])
        tree = ElementTree.fromstring(picture)
        widths = [float(bar.get("width")) for bar in tree.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertAlmostEqual(widths[1], 2 * widths[0], delta=0.2)


def entrant(name: str) -> Entrant:
    class Server:
        def start(self, _stage):
            from contextlib import nullcontext

            return nullcontext(name)

    visits = {kind: entrants.Visit() for kind in (entrants.MEMORY, entrants.ECHO, entrants.C10K)}
    return Entrant(name, f"the {name}", "any", "any", "1", "none", Server(), visits)


def everyone() -> list[Entrant]:
    return [entrant(name) for name in ("floor", "throng", "fast", "slow")]


def samples_of(column: standing.Column, **values: float) -> Samples:
    samples = Samples()
    for name, value in values.items():
        samples.add(SimpleNamespace(name=column.scenario), name, Measurement({column.value: value}, []))
    return samples


def add_test(samples: Samples, name: str, test: str = AS_LONG_AS_IN_2012) -> None:
    values = c10k.of_summary(summary()).values
    samples.add(SimpleNamespace(name=test), name, Measurement(values, []))


def summary(users_failed: int = 0, connect_timeouts: int = 0, disconnects: int = 0) -> dict:
    time = {"count": 9, "mean_us": 1000.0, "p50_us": 900, "p95_us": 1400, "p99_us": 1500, "max_us": 1600}
    counts = {"connects": 100, "received": 200, "disconnects": disconnects}
    counts |= {"users_failed": users_failed, "connect_timeouts": connect_timeouts}
    return {"counts": counts, "times": {"connect": time, "service_latency": time}, "verdict": {"reasons": []}}


def facts_of(there: list[Entrant]) -> Facts:
    machine = {"cores": "2", "model": "some", "kernel": "6.1", "memory": "1 GiB"}
    return Facts("bench/run competition", machine, False, there, {}, {}, {test: 60 for test in standing.TESTS})


if __name__ == "__main__":
    unittest.main()
