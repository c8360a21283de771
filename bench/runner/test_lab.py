"""python3 -m unittest discover -s bench -t bench"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from runner import generators, lab, metrics, processes
from runner.servers import Running

SERVER = Running("127.0.0.1:4000", 1, "http://127.0.0.1:4001/metrics")


class MaximumTest(unittest.TestCase):
    def test_the_maximum_is_the_most_that_was_reached_while_more_was_wanted(self):
        wanted = []

        def reached(rate):
            wanted.append(rate)
            return min(rate, 150.0)

        self.assertEqual(lab.max_of(reached, 100.0, factor=2.0), 150.0)
        self.assertEqual(wanted, [100.0, 200.0, 200.0])

    def test_a_rate_beyond_the_maximum_that_does_worse_does_not_lower_it(self):
        self.assertEqual(lab.max_of(lambda rate: rate if rate <= 200 else 50.0, 100.0, factor=2.0), 200)


    def test_one_try_that_fails_ends_nothing(self):
        outcomes = iter([100.0, 0.0, 200.0, 0.0, 0.0])
        self.assertEqual(lab.max_of(lambda _: next(outcomes), 100.0, factor=2.0), 200.0)


class SummaryTest(unittest.TestCase):
    def test_lags_are_read_in_milliseconds(self):
        lag = {"p50_us": 10.0, "p99_us": 1500.0, "max_us": 20_000.0}
        summary = {"times": {"send_lag": lag}, "counts": {"sent": 850, "errors": 2}, "verdict": {"valid": True}}
        found = lab.lag_of(summary, seconds=8)
        lags = {"p50": 0.01, "p99": 1.5, "max": 20.0}
        self.assertEqual(found, {"sent_per_second": 100.0, "valid_per_second": 100.0, "errors": 2} | lags)
        invalid = lab.lag_of(summary | {"verdict": {"valid": False}}, seconds=8)
        self.assertEqual((invalid["sent_per_second"], invalid["valid_per_second"]), (100.0, 0.0))


class ProcessesTest(unittest.TestCase):
    def test_cpu_time_is_read_behind_whatever_name_the_process_has(self):
        self.assertEqual(processes.cpu_ticks("7 (a) b (c)) S 1 7 7 0 -1 4 0 0 0 0 30 12 5 5 20 0 1 0 9"), 42)

    def test_a_tree_has_children_and_their_children(self):
        script = "import subprocess, sys; subprocess.run(['sh', '-c', 'echo ready; read line; true'])"
        command = [sys.executable, "-c", script]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
            parent.stdout.readline()
            self.assertEqual(len(processes.tree(parent.pid)), 2)
            parent.stdin.write("\n")


class MetricsTest(unittest.TestCase):
    def test_a_figure_is_not_mistaken_for_one_whose_name_begins_alike(self):
        text = "# TYPE throng_bytes counter\nthrong_bytes_out_total 12\nthrong_bytes 7\n"
        self.assertEqual(metrics.value_in(text, "throng_bytes"), 7)

    def test_a_missing_figure_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(KeyError, "throng_bytes"):
            metrics.value_in("", "throng_bytes")


class GeneratorsTest(unittest.TestCase):
    def test_tsungs_scenarios_are_well_formed_and_complete(self):
        for name in ("idle", "echo"):
            text = (generators.BENCH / "peers" / "tsung" / f"{name}.xml").read_text()
            tree = ElementTree.fromstring(text.format(host="h", port=1, path="/p", clients=7, arrivals=5))
            self.assertEqual(tree.find(".//users").get("maxnumber"), "7")
            self.assertEqual(tree.find(".//websocket").get("path"), "/p")

    def test_without_go_it_is_said_how_k6_would_have_come(self):
        with tempfile.TemporaryDirectory() as cache, mock.patch("shutil.which", return_value=None):
            binary, reason = generators.find_k6(None, Path(cache))
        self.assertIsNone(binary)
        self.assertIn(f"{generators.K6_MODULE}@{generators.K6_VERSION}", reason)

    def test_a_k6_that_was_built_is_not_built_again(self):
        with tempfile.TemporaryDirectory() as cache:
            binary = Path(cache) / f"k6-{generators.K6_VERSION}" / "k6"
            binary.parent.mkdir()
            binary.touch()
            self.assertEqual(generators.find_k6(None, Path(cache)), (binary, ""))

    def test_a_play_goes_to_the_echo_mount(self):
        self.assertEqual(generators.Play("echo", 1, 1, SERVER).url, "ws://127.0.0.1:4000/echo/websocket")


class PlanTest(unittest.TestCase):
    def test_a_smoke_run_has_fewer_clients_and_each_step_is_larger_than_the_one_before(self):
        for smoke in (False, True):
            memory = lab.plan("load", smoke)[0]
            for steps in memory.steps.values():
                self.assertEqual(steps, sorted(set(steps)))
        self.assertLess(lab.plan("load", True)[0].connections, lab.plan("load", False)[0].connections)

    def test_a_group_is_one_scenario_and_all_of_them_are_load(self):
        parts = [scenario.name for group in lab.GROUPS for scenario in lab.plan(group, smoke=False)]
        self.assertEqual(parts, [scenario.name for scenario in lab.plan("load", smoke=False)])


if __name__ == "__main__":
    unittest.main()
