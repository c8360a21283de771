"""Judges the results of the test-suite: what passes, what fails, and whether every case ran.

A result is an entry of the suite's `index.json`: {"behavior": ..., "behaviorClose": ..., ...} by case
number. The exit code of `wstest` says nothing about them.
"""

from collections import Counter

CASES = 517

# NON-STRICT: allowed by RFC 6455 though not the strictest reading. INFORMATIONAL: there is no right answer.
PASSING = frozenset({"OK", "NON-STRICT", "INFORMATIONAL"})


class Verdict:
    """Counts per behaviour, the failed cases, and how many of the suite's cases are missing."""

    def __init__(self, results):
        self.behaviours = Counter(result["behavior"] for result in results.values())
        self.close_behaviours = Counter(result["behaviorClose"] for result in results.values())
        self.failed = {
            case: (result["behavior"], result["behaviorClose"])
            for case, result in sorted(results.items(), key=lambda entry: case_order(entry[0]))
            if not {result["behavior"], result["behaviorClose"]} <= PASSING
        }
        self.passed = len(results) - len(self.failed)
        self.missing = max(0, CASES - len(results))

    def is_good(self):
        return not self.failed and not self.missing

    def lines(self):
        """The verdict for a person, ending in the line `N passed, N failed`; a missing case has failed."""
        yield f"behaviour:       {counts(self.behaviours)}"
        yield f"closing:         {counts(self.close_behaviours)}"
        for case, (behaviour, close_behaviour) in self.failed.items():
            yield f"case {case}: {behaviour}, closing {close_behaviour}"
        if self.missing:
            yield f"{self.missing} of {CASES} cases did not run"
        yield f"autobahn: {self.passed} passed, {len(self.failed) + self.missing} failed"


def case_order(case):
    return tuple(int(part) for part in case.split("."))


def counts(counter):
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items())) or "none"
