"""What is made of what the server and the programs say; the runs themselves are `bench/run messenger --smoke`."""

import base64
import csv
import json
import os
import sqlite3
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from runner import trials
from runner.messenger import durable, house, people, plan, pgbench, postgres, rooms, startup, visits
from runner.play import SCENARIOS

TOOLS = trials.Tools(Path("/nowhere"), Path("/nowhere/throng"), Path("/nowhere/stampede"))


class PlanTest(unittest.TestCase):
    def test_each_part_is_in_the_whole_and_in_the_small_form(self):
        for smoke in (False, True):
            whole = plan.suite("messenger", smoke, TOOLS).scenarios
            parts = [plan.suite(group, smoke, TOOLS).scenarios for group in plan.GROUPS]
            self.assertEqual([one for part in parts for one in part], whole)

    def test_every_target_is_of_a_scenario_of_the_plan_and_of_one_of_its_subjects(self):
        with mock.patch.object(postgres, "absent", lambda: {}):
            scenarios = {scenario.name: scenario for scenario in plan.suite("messenger", False, TOOLS).scenarios}
        for target in plan.TARGETS:
            subjects = scenarios[target.scenario].subjects
            self.assertIn(target.server, subjects)
            self.assertIn(target.base, (None, *subjects))

    def test_without_postgresql_that_part_alone_is_left_out(self):
        with mock.patch.object(postgres, "absent", lambda: {"pgbench": "install it"}):
            suite = plan.suite("messenger", False, TOOLS)
            self.assertNotIn(plan.ON_POSTGRES, [scenario.name for scenario in suite.scenarios])
            self.assertEqual(list(suite.missing), [plan.ON_POSTGRES])
            self.assertIn("pgbench", plan.suite("messenger-postgres", False, TOOLS).absent)


class PeopleTest(unittest.TestCase):
    def test_each_has_a_partner_who_has_them_and_a_token_for_the_community(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "people.csv"
            people.write(path, 6, rooms=2)
            with path.open(newline="") as file:
                rows = {row["person"]: row for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 6)
        for name, row in rows.items():
            self.assertEqual(rows[row["partner"]]["partner"], name)
            claims = row["token"].split(".")[1]
            told = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            self.assertEqual((told["sub"], told["aud"]), (name, people.COMMUNITY))
        self.assertEqual({row["room"] for row in rows.values()}, {"r0", "r1"})

    def test_what_scenarios_are_fed_is_what_the_file_has(self):
        for path in SCENARIOS.glob("messenger-*.yaml"):
            wanted = set(part.split("}}")[0] for part in path.read_text().split("{{people.")[1:])
            self.assertGreater(len(wanted), 0, path.name)
            self.assertLessEqual(wanted, set(people.COLUMNS), path.name)


class FiguresTest(unittest.TestCase):
    def test_each_line_of_the_program_has_a_subject(self):
        measured = {"what": "one sender", "messages_per_second": 9.0, "ack_ms_p50": 1.0, "ack_ms_p99": 2.0, "messages": 3}
        self.assertEqual(durable.OF_PROGRAM[measured["what"]], durable.STORE_ONE)
        self.assertEqual(durable.figures(measured), {key: measured[key] for key in measured if key != "what"})

    def test_messages_are_counted_in_the_file(self):
        with tempfile.TemporaryDirectory() as name:
            with sqlite3.connect(Path(name) / house.STORE_FILE) as file:
                file.execute("CREATE TABLE messages (sender TEXT)")
                file.executemany("INSERT INTO messages VALUES (?)", [("p1",), ("p2",), ("q1",)])
            furnished = house.House(SimpleNamespace(data_dir=Path(name)), Path(name))
            self.assertEqual([furnished.stored(), furnished.stored("p"), furnished.stored("q")], [3, 2, 1])

    def test_a_process_that_waits_is_seen_to_wake_up(self):
        before = startup.wakeups(os.getpid())
        self.assertGreater(before, 0)
        status = "Name:\tthrong\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n"
        self.assertEqual(startup._voluntary(status), 42)

    def test_memory_has_its_first_and_last_reading_also_where_there_are_too_few_for_a_slope(self):
        found = rooms.memory(os.getpid(), 0.01)
        self.assertEqual(set(found), {"rss_bytes_first", "rss_bytes_last"})

    def test_counters_of_every_kind_are_added_up(self):
        page = 'throng_store_requests_total 7\nthrong_cache_hits_total{kind="a"} 3\nthrong_cache_hits_total{kind="b"} 2\n'
        with mock.patch("runner.metrics.text", lambda _: page):
            asked = visits.Asked.of(SimpleNamespace(server=SimpleNamespace(metrics_url="")))
        self.assertEqual((asked.store, asked.hits, asked.misses), (7.0, 5.0, 0.0))

    def test_what_pgbench_says_is_a_rate(self):
        said = "number of transactions actually processed: 12\ntps = 345.678 (without initial connection time)\n"
        self.assertEqual(pgbench.TRANSACTIONS_PER_SECOND.search(said)[1], "345.678")


if __name__ == "__main__":
    unittest.main()
