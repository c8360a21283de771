import unittest

import verdict


def results(count, **exceptional):
    """`count` good results; `exceptional` replaces the first ones by (behaviour, closing behaviour)."""
    good = {f"1.{number}": {"behavior": "OK", "behaviorClose": "OK"} for number in range(1, count + 1)}
    for number, (behaviour, closing) in enumerate(exceptional.values(), start=1):
        good[f"1.{number}"] = {"behavior": behaviour, "behaviorClose": closing}
    return good


class VerdictTest(unittest.TestCase):
    def test_a_complete_run_without_failures_is_good(self):
        lenient = results(verdict.CASES, a=("NON-STRICT", "OK"), b=("INFORMATIONAL", "INFORMATIONAL"))
        self.assertTrue(verdict.Verdict(lenient).is_good())

    def test_a_missing_case_is_a_failure(self):
        judged = verdict.Verdict(results(verdict.CASES - 1))
        self.assertFalse(judged.is_good())
        self.assertIn("autobahn: 516 passed, 1 failed", list(judged.lines()))

    def test_no_result_at_all_is_a_failure(self):
        self.assertFalse(verdict.Verdict({}).is_good())

    def test_each_other_behaviour_fails_the_run_and_is_named(self):
        for behaviour in ["FAILED", "UNIMPLEMENTED", "WRONG CODE", "UNCLEAN", "FAILED BY CLIENT"]:
            for pair in [(behaviour, "OK"), ("OK", behaviour)]:
                with self.subTest(pair=pair):
                    judged = verdict.Verdict(results(verdict.CASES, a=pair))
                    self.assertFalse(judged.is_good())
                    self.assertIn(f"case 1.1: {pair[0]}, closing {pair[1]}", list(judged.lines()))


if __name__ == "__main__":
    unittest.main()
