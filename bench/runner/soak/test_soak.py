"""python3 -m unittest discover -s bench -t bench"""

import random
import unittest
from xml.etree import ElementTree

from runner.soak import chart, report, slope
from runner.soak.report import Facts, Soaked
from runner.soak.watch import Reading

SECONDS = [float(second) for second in range(600)]


class SlopeTest(unittest.TestCase):
    def test_the_interval_has_the_true_slope_about_as_often_as_it_says(self):
        draw, hits = random.Random(1), 0
        for _ in range(400):
            values = [5.0 + 0.01 * second + draw.gauss(0, 3) for second in SECONDS]
            found = slope.of(SECONDS, values)
            hits += abs(found.per_second - 0.01) <= found.error
        self.assertGreater(hits / 400, 0.92)

    def test_readings_that_resemble_their_neighbours_do_not_make_it_too_sure(self):
        draw, hits = random.Random(2), 0
        for _ in range(400):
            values, level = [], 0.0
            for _second in SECONDS:
                level = 0.95 * level + draw.gauss(0, 1)
                values.append(level)
            found = slope.of(SECONDS, values)
            hits += found.is_within_error
        self.assertGreater(hits / 400, 0.88)

    def test_a_leak_is_beyond_the_error(self):
        draw = random.Random(3)
        found = slope.of(SECONDS, [50e6 + 1000 * second + draw.gauss(0, 20_000) for second in SECONDS])
        self.assertFalse(found.is_within_error)
        self.assertAlmostEqual(found.per_second, 1000, delta=100)

    def test_what_never_moves_has_no_slope_and_no_error(self):
        found = slope.of(SECONDS, [7.0] * 600)
        self.assertEqual((found.per_second, found.error), (0.0, 0.0))
        self.assertTrue(found.is_within_error)

    def test_few_readings_say_nothing(self):
        self.assertIsNone(slope.of(SECONDS[:5], SECONDS[:5]))

    def test_students_quantile_is_that_of_the_tables(self):
        for freedom, quantile in ((6, 2.447), (10, 2.228), (18, 2.101), (100, 1.984)):
            self.assertAlmostEqual(slope.student_quantile(freedom), quantile, delta=0.002)


class ReportTest(unittest.TestCase):
    def test_a_leak_is_told_by_the_hour(self):
        text = report.markdown(soaked(grows=1024 * 1024 / 3600), FACTS, "soak.svg")
        self.assertIn("**memory grows: +1.00 ±", text)

    def test_the_warm_up_is_not_judged(self):
        leaky_start = soaked(grows=0)
        first = [reading(second, rss=second * 10_000_000) for second in range(60)]
        told = report.verdict(
            report.slopes(Soaked(leaky_start.before, first + leaky_start.readings[60:], *LATER), FACTS)["resident memory"]
        )
        self.assertTrue(told.startswith("no growth"), told)

    def test_a_growing_component_is_named(self):
        data = report.data(soaked(grows=0, component=1000.0), FACTS)
        beyond = [name for name, one in data["details"]["slopes"].items() if not one["is_within_error"]]
        self.assertEqual(beyond, ["component topics"])

    def test_lost_messages_and_what_is_left_behind_are_faults(self):
        right = soaked(grows=0)
        self.assertEqual(report.faults(right), [])
        left = Soaked(right.before, right.readings, reading(700, descriptors=40, connections=2), summary(lost=3), [], 4)
        self.assertEqual(
            report.faults(left),
            ["3 lost", "2 connections are left after all users have left", "30 more descriptors than before the first user"],
        )

    def test_a_soak_in_which_nothing_happened_is_a_fault(self):
        right = soaked(grows=0)
        silent = Soaked(right.before, right.readings, right.after, summary(delivered=0), [], 4)
        self.assertEqual(report.faults(silent), ["no delivered"])

    def test_the_picture_is_xml_with_a_line_for_the_fit(self):
        found = slope.of(SECONDS, SECONDS)
        picture = chart.draw("Memory", SECONDS, SECONDS, 60, found)
        ElementTree.fromstring(picture)
        self.assertIn('class="fit"', picture)
        ElementTree.fromstring(chart.draw("Memory", [], [], 0, None))


FACTS = Facts("bench/soak", {"cores": "2"}, {}, seconds=600, users=100, warm_up_s=60)


def reading(second, rss=50_000_000.0, descriptors=10, connections=0, topics=100.0) -> Reading:
    return Reading(float(second), int(rss), descriptors, connections, {"topics": topics})


def summary(**changed) -> dict:
    names = ("users", "connects", "joins", "sent", "delivered", "http", "received")
    counts = {name: 10 for name in names} | {name: 0 for name in ("in_flight", "lost", "late", "duplicates", "errors")}
    return {"counts": counts | changed, "verdict": {"valid": True, "reasons": []}}


LATER = (reading(700), summary(), [], 4)


def soaked(grows: float, component: float = 0.0) -> Soaked:
    draw = random.Random(4)
    readings = [
        reading(second, 50_000_000 + grows * second + draw.gauss(0, 5000), topics=100 + component * second)
        for second in range(600)
    ]
    return Soaked(reading(0), readings, *LATER)


if __name__ == "__main__":
    unittest.main()
