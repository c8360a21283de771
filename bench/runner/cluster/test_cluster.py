"""What is made of what nodes, Redis and the crowd say; the runs themselves are `bench/run cluster --smoke`."""

import io
import subprocess
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from runner import processes, report, targets, trials
from runner.cluster import bystanders, killed, plan, redis, rooms, storm
from runner.cluster.nodes import Reading, Span
from runner.cluster.talk import Talk, Talked
from runner.form import complaints
from runner.samples import Measurement

TOOLS = trials.Tools(Path("/nowhere"), Path("/nowhere/throng"), Path("/nowhere/stampede"))


class PlanTest(unittest.TestCase):
    def test_each_part_is_in_the_whole_and_what_is_missing_is_named(self):
        whole = plan.suite("cluster", smoke=False, tools=TOOLS)
        parts = [plan.suite(group, smoke=False, tools=TOOLS).scenarios for group in plan.GROUPS]
        self.assertEqual([part[0].name for part in parts], [scenario.name for scenario in whole.scenarios])
        self.assertLessEqual({"throng", "stampede", "bench-load", "floor"}, whole.absent.keys())

    def test_every_target_is_of_a_scenario_of_the_plan_and_of_one_of_its_subjects(self):
        scenarios = {scenario.name: scenario for scenario in plan.suite("cluster", False, TOOLS).scenarios}
        for target in plan.TARGETS:
            subjects = scenarios[target.scenario].subjects
            self.assertIn(target.server, subjects)
            self.assertIn(target.base, (None, *subjects))

    def test_the_full_load_is_a_step_below_the_most_that_one_node_and_two_carry(self):
        talk = Talk(rooms=10, members=20, messages_per_second=100, seconds=5)
        played = []

        def nodes(limit):
            def play(_tools, _name, plan, _verdicts):
                played.append(plan.messages_per_second)
                late = plan.messages_per_second > limit
                latency_ms = {"latency_ms_p99": rooms.CARRIED_P99_MS + 1.0 if late else 10.0}
                figures = {"messages_per_second": plan.messages_per_second}
                return SimpleNamespace(faults=[], latency_ms=latency_ms, figures=figures)

            return play

        for one, two in ((200, 300), (300, 200)):
            with mock.patch.multiple(rooms, on_one_node=nodes(one), on_two_nodes=nodes(two)):
                self.assertEqual(rooms.most_that_is_carried(TOOLS, talk), 100 * 1.25**3)
                self.assertEqual(rooms.full_load(TOOLS, talk), 100 * 1.25**2)
        self.assertEqual(max(played), 100 * 1.25**4)
        with mock.patch.multiple(rooms, on_one_node=nodes(99), on_two_nodes=nodes(200)), self.assertRaises(RuntimeError):
            rooms.full_load(TOOLS, talk)

    def test_people_talk_as_often_as_is_wanted(self):
        talk = Talk(rooms=10, members=20, messages_per_second=100, seconds=5)
        self.assertEqual((talk.users, talk.interval_s, talk.at(400).interval_s), (200, 2.0, 0.5))


class CountsTest(unittest.TestCase):
    def test_a_delivery_is_a_message_out_that_is_no_answer(self):
        span = Span.between(Reading(1.0, 2.0, 100, 1000), Reading(3.0, 2.5, 150, 2050))
        self.assertEqual((span.seconds, span.cpu_s, span.deliveries), (2.0, 0.5, 1000))

    def test_messages_are_counted_by_their_copies_so_that_heartbeats_are_none(self):
        talked = Talked(Span(2.0, 0.5, 1000), {"times": {"latency": {"count": 0}}}, members=20)
        self.assertEqual(talked.figures["messages_per_second"], 25)

    def test_what_two_nodes_add_is_a_difference(self):
        added = rooms.added({"latency_ms_p50": 0.5, "latency_ms_p99": 2.0}, {"latency_ms_p50": 0.75})
        self.assertEqual(added, {"added_latency_ms_p50_at_half": 0.25})

    def test_a_counter_that_moved_is_named_and_one_that_stood_still_is_not(self):
        still = dict.fromkeys(bystanders.COUNTERS, 3.0)
        self.assertEqual(bystanders.moved([still], [dict(still)]), [])
        [fault] = bystanders.moved([still, still], [still, still | {bystanders.PUBLISHED: 4.0}])
        self.assertIn("from 3 to 4", fault)

    def test_each_client_that_was_forgotten_and_each_message_that_was_lost_is_a_fault(self):
        right = ({"open": 9}, {"cut": 9, "back": 9, "recovered": 9}, {"complete": 9, "lost": 0, "extra": 0})
        self.assertEqual(killed.faults(9, *right), [])
        came, back, heard = right
        wrong = killed.faults(9, came, back | {"recovered": 8}, heard | {"lost": 2, "extra": 1})
        self.assertEqual(len(wrong), 3)

    def test_a_storm_is_wrong_where_somebody_fails_or_comes_back_when_the_pair_has_gone(self):
        counts = dict.fromkeys(("errors", "lost", "duplicates", "users_failed"), 0)
        summary = {"counts": counts, "errors": []}
        self.assertEqual(storm.faults(3.0, 20, summary, summary, {"counts": counts | {"errors": 9}, "errors": []}), [])
        failed = {"counts": counts | {"users_failed": 1}, "errors": []}
        self.assertEqual(len(storm.faults(21.0, 20, summary, summary, failed)), 2)

    def test_a_processs_own_clock_is_finer_than_the_kernels_list(self):
        with subprocess.Popen(["sleep", "60"]) as sleeper:
            self.assertLess(processes.clock_seconds([sleeper.pid]), 60)
            sleeper.kill()
            sleeper.wait()
        with self.assertRaises(OSError):
            processes.clock_seconds([sleeper.pid])


class RedisTest(unittest.TestCase):
    def test_answers_of_every_kind_are_understood(self):
        line = redis.Line.__new__(redis.Line)
        line._stream = io.BytesIO(b"*4\r\n$3\r\nabc\r\n:7\r\n+OK\r\n=7\r\ntxt:yes\r\n>1\r\n:1\r\n-ERR no\r\n")
        self.assertEqual(line.hear(), [b"abc", 7, b"OK", b"yes"])
        self.assertEqual(line.hear(), [1])
        with self.assertRaises(RuntimeError):
            line.hear()

    def test_info_is_read_without_its_headings(self):
        facts = redis.info("# Stats\r\ntotal_reads_processed:12\r\n\r\ncmdstat_publish:calls=3,usec=9\r\n")
        self.assertEqual(facts, {"total_reads_processed": "12", "cmdstat_publish": "calls=3,usec=9"})


class TrialsTest(unittest.TestCase):
    def test_what_goes_wrong_with_one_scenario_is_a_fault_and_the_next_one_follows(self):
        def measure(_tools):
            raise RuntimeError("it broke")

        broken = SimpleNamespace(name="broken", subjects=("a", "b"), repeats=lambda wanted: wanted, measure=measure)
        outcome = trials.Outcome({"a": Measurement({"figure": 2.0}, [])}, [verdict("run")])
        fine = SimpleNamespace(name="fine", subjects=("a",), repeats=lambda _: 1, measure=lambda _: outcome)
        samples, verdicts = trials.measure([broken, fine], TOOLS, 2)
        self.assertEqual(samples.faults, ["broken, b: it broke"] * 2)
        self.assertEqual(samples.spread("fine", "a", "figure").median, 2.0)
        self.assertEqual([one["run"] for one in verdicts], ["run, repeat 1"])

    def test_a_suites_file_has_the_form_of_the_schema_and_its_page_the_ratio_to_the_base(self):
        outcome = {rooms.ONE: 100.0, rooms.TWO: 90.0}
        measured = {name: Measurement({"deliveries_per_cpu_second": value}, []) for name, value in outcome.items()}
        scenario = SimpleNamespace(
            name=plan.ROOMS, subjects=rooms.Rooms.subjects, repeats=lambda _: 1,
            measure=lambda _: trials.Outcome(measured, [verdict("full", valid=False)]),
        )  # fmt: skip
        samples, verdicts = trials.measure([scenario], TOOLS, 1)
        machine = {"cores": "2", "model": "some", "kernel": "6.1-x", "memory": "1 GiB"}
        facts = SimpleNamespace(machine=machine, verdicts=verdicts, bases=("floor", rooms.ONE), kind="cluster")
        options = SimpleNamespace(group="cluster", smoke=False, repeats=1, without=[])
        text, data = report.render(samples, targets.judge(samples, plan.TARGETS), {}, {}, options, facts)
        self.assertEqual(complaints(data), [])
        self.assertIn("0.9 (0.9–0.9)", text)
        self.assertIn("INVALID: late", text)
        self.assertEqual(data["targets"][0]["verdict"], "reached")


def verdict(run: str, valid: bool = True) -> dict:
    return {"run": run, "valid": valid, "reasons": [] if valid else ["late"]}


if __name__ == "__main__":
    unittest.main()
