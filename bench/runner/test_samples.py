"""python3 -m unittest discover -s bench -t bench"""

import unittest
from types import SimpleNamespace

from runner import lab, scenarios
from runner.samples import Measurement, Samples, Spread, slope
from runner.targets import TARGETS, Target, judge


class SamplesTest(unittest.TestCase):
    def test_a_ratio_is_taken_within_each_repeat(self):
        samples = samples_of("connect", floor=[10.0, 100.0], throng=[20.0, 300.0])
        self.assertEqual(samples.ratio("connect", "throng", "floor", "rate"), Spread(2.5, 2.0, 3.0))

    def test_a_server_that_was_left_out_has_no_ratio(self):
        samples = samples_of("connect", floor=[10.0])
        self.assertIsNone(samples.ratio("connect", "throng", "floor", "rate"))

    def test_the_slope_ignores_what_the_first_connection_found(self):
        steps = [20_000, 110_000, 200_000]
        self.assertAlmostEqual(slope(steps, [9e6 + 256 * step for step in steps]), 256)


class TargetsTest(unittest.TestCase):
    def test_a_target_is_reached_at_its_bound_and_missed_beyond(self):
        target = Target("connect", "rate", "throng", "floor", at_least=0.65)
        self.assertEqual((target.is_reached(0.65), target.is_reached(0.64)), (True, False))

    def test_what_was_not_measured_is_not_called_reached(self):
        samples = samples_of("memory", floor=[1.0])
        self.assertEqual({verdict.text for verdict in judge(samples)}, {"not measured"})

    def test_each_target_names_a_scenario_and_a_server_of_the_plan(self):
        plan = {scenario.name: scenario.servers for scenario in scenarios.plan("all", smoke=False)}
        plan |= {scenario.name: scenario.generators for scenario in lab.plan("load", smoke=False)}
        for target in TARGETS:
            self.assertLessEqual({target.server, target.base} - {None}, set(plan[target.scenario]))


def samples_of(scenario: str, **values_by_server: list[float]) -> Samples:
    samples = Samples()
    for server, values in values_by_server.items():
        for value in values:
            samples.add(SimpleNamespace(name=scenario), server, Measurement({"rate": value}, []))
    return samples


if __name__ == "__main__":
    unittest.main()
