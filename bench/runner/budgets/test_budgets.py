"""python3 -m unittest discover -s bench -t bench"""

import unittest
from pathlib import Path
from types import SimpleNamespace

from runner.budgets import CannotMeasure, beside_floor, book, callgrind, table, whole_server
from runner.budgets.comparable import complaint, differences
from runner.budgets.verdicts import State, judge, updated, without_budget
from runner.samples import Measurement, Samples

BENCH = Path(__file__).resolve().parents[2]

TEXT = """# A word about it.
[bytes]
where = "here"
tolerance_percent = 1

[bytes.per_member]
unit = "bytes"
at_most = 140 # a struct and its place
why = "memory is the product"

[instructions]
where = "there"
tolerance_percent = 2
counted_with = "rustc 1"

[instructions.per_reply]
unit = "instructions"
at_most = 2000
why = "talk is cheap"

[measured]
where = "on a quiet machine"
tolerance_percent = 10

[measured.rate]
unit = "× floor"
at_least = 0.8
why = "storms"
"""
BOOK = book.read(TEXT)
FIGURES = {"per_member": 140.0, "per_reply": 2000.0, "rate": 0.8}


def states(figures: dict[str, float], incomparable: set[str] = frozenset()) -> dict[str, State]:
    verdicts = judge(BOOK, book.GROUPS, FIGURES | figures, incomparable)
    return {verdict.budget.name: verdict.state for verdict in verdicts}


class VerdictTest(unittest.TestCase):
    def test_sixty_four_bytes_more_regress(self):
        self.assertEqual(states({})["per_member"], State.KEPT)
        self.assertEqual(states({"per_member": 140.0 + 64})["per_member"], State.REGRESSED)

    def test_noise_is_kept_and_what_lies_beyond_it_is_not(self):
        self.assertEqual(states({"per_member": 141.4})["per_member"], State.KEPT)
        self.assertEqual(states({"per_member": 141.5})["per_member"], State.REGRESSED)
        self.assertEqual(states({"per_member": 138.5})["per_member"], State.BETTER)

    def test_of_a_rate_less_is_worse(self):
        self.assertEqual(states({"rate": 0.73})["rate"], State.KEPT)
        self.assertEqual(states({"rate": 0.71})["rate"], State.REGRESSED)
        self.assertEqual(states({"rate": 0.89})["rate"], State.BETTER)

    def test_what_must_be_nothing_may_not_be_little(self):
        nothing = book.read(TEXT.replace("at_most = 140", "at_most = 0"))
        for measured, state in ((0.0, State.KEPT), (0.001, State.REGRESSED)):
            verdict = judge(nothing, ("bytes",), {"per_member": measured})[0]
            self.assertEqual(verdict.state, state)

    def test_a_budget_without_a_figure_is_not_kept(self):
        verdicts = judge(BOOK, ("bytes",), {})
        self.assertEqual([verdict.state for verdict in verdicts], [State.NOT_MEASURED])
        self.assertFalse(table.data(verdicts, "")["kept"])

    def test_a_figure_without_a_budget_is_named(self):
        self.assertEqual(without_budget(BOOK, FIGURES | {"per_topic": 1.0}), ["per_topic"])

    def test_figures_that_cannot_be_compared_are_not_judged_and_others_are(self):
        found = states({"per_reply": 9000.0, "per_member": 204.0}, {"instructions"})
        self.assertEqual(found["per_reply"], State.NOT_COMPARABLE)
        self.assertEqual(found["per_member"], State.REGRESSED)


class UpdateTest(unittest.TestCase):
    def update(self, figures: dict[str, float], counted_with: str = "rustc 1") -> tuple[str, list[str]]:
        incomparable = {"instructions"} if counted_with != BOOK.counted_with else set()
        return updated(TEXT, judge(BOOK, book.GROUPS, FIGURES | figures, incomparable), counted_with)

    def test_only_bounds_change_and_each_change_is_told(self):
        text, changes = self.update({"per_member": 204.0, "rate": 0.9})
        wanted = TEXT.replace("at_most = 140 #", "at_most = 204 #").replace("at_least = 0.8", "at_least = 0.9")
        self.assertEqual(text, wanted)
        self.assertEqual(changes, ["per_member: ≤ 140 → 204 bytes", "rate: ≥ 0.8 → 0.9 × floor"])

    def test_what_lies_within_noise_stays(self):
        self.assertEqual(self.update({"per_member": 141.0, "rate": 0.81}), (TEXT, []))

    def test_with_another_compiler_its_counts_and_its_name_are_written(self):
        text, changes = self.update({"per_reply": 2010.4}, counted_with="rustc 2")
        self.assertEqual(text, TEXT.replace("2000", "2010").replace("rustc 1", "rustc 2"))
        self.assertEqual(len(changes), 1)


class ComparableTest(unittest.TestCase):
    BOUNDED = "rustc 1.95.0, x86_64-unknown-linux-gnu, glibc 2.36, valgrind 3.19.0, avx2"

    def test_what_is_the_same_differs_in_nothing(self):
        self.assertEqual(differences(self.BOUNDED, self.BOUNDED), [])

    def test_each_tool_that_differs_is_named_and_fails_an_automatic_check_alone(self):
        for before, after, what in (
            ("rustc 1.95.0", "rustc 1.96.0", "compiler"),
            ("x86_64", "aarch64", "target"),
            ("glibc 2.36", "glibc 2.41", "C library"),
            ("valgrind 3.19.0", "valgrind 3.24.0", "valgrind"),
        ):
            with self.subTest(what):
                found = differences(self.BOUNDED, self.BOUNDED.replace(before, after))
                self.assertEqual([one.what for one in found], [what])
                words, fails = complaint(found, is_ci=True)
                self.assertTrue(fails)
                self.assertRegex(words, f"{what}: bounded with .*, here .*--update")
                self.assertFalse(complaint(found, is_ci=False)[1])

    def test_another_kind_of_processor_alone_is_told_and_fails_nothing(self):
        without = self.BOUNDED.removesuffix(", avx2")
        for bounded, here in ((self.BOUNDED, without), (without, self.BOUNDED)):
            words, fails = complaint(differences(bounded, here), is_ci=True)
            self.assertFalse(fails)
            self.assertRegex(words, "kind of processor: bounded with .*avx2")

    def test_another_processor_excuses_no_other_compiler(self):
        here = self.BOUNDED.removesuffix(", avx2").replace("1.95.0", "1.96.0")
        self.assertTrue(complaint(differences(self.BOUNDED, here), is_ci=True)[1])


class BookTest(unittest.TestCase):
    def test_the_book_is_sound_and_each_of_its_figures_has_a_source(self):
        real = book.load(BENCH / "budgets.toml")
        counted = whole_server.figures_of(whole_server.FULL, floors=lambda rounds: rounds, ours=lambda rounds: rounds)
        self.assertEqual({budget.name for budget in real.of(("measured",))}, {*beside_floor.SOURCES, *counted})
        self.assertEqual({budget.group for budget in real.budgets}, set(book.GROUPS))
        source = "".join(path.read_text() for path in (BENCH / "gauge" / "src").glob("*.rs"))
        for budget in real.of(book.REPEATABLE):
            self.assertIn(f'"{budget.name}"', source)

    def test_typing_errors_are_told_with_their_place(self):
        cases = [
            ("at_most = 140", "at_mots = 140", "bytes.per_member has the unknown key at_mots"),
            ("at_most = 140", "", "bytes.per_member needs one of"),
            ("at_most = 140", 'at_most = "140"', "bytes.per_member: at_most has the wrong type"),
            ("at_most = 140", "at_most = -1", "bytes.per_member: bound and tolerance"),
            ('where = "here"', "", "bytes lacks where"),
            ("[bytes]", "[bites]", "unknown group bites"),
            ("[bytes]", "[bytes", "Expected"),
        ]
        for before, after, complaint in cases:
            with self.subTest(after), self.assertRaisesRegex(book.BadBook, complaint.replace("[", r"\[")):
                book.read(TEXT.replace(before, after, 1))


class CallgrindTest(unittest.TestCase):
    def test_counts_are_those_of_the_work_in_its_order_and_for_each_operation(self):
        works = [{"name": "decode", "operations": 10}, {"name": "encode", "operations": 4}]
        self.assertEqual(callgrind.per_operation(works, [1000, 100, 0]), {"decode": 100, "encode": 25})

    def test_a_count_that_is_missing_is_an_error_and_not_another_works_count(self):
        works = [{"name": "decode", "operations": 10}, {"name": "encode", "operations": 4}]
        with self.assertRaisesRegex(CannotMeasure, "1 of 2"):
            callgrind.per_operation(works, [1000, 0])

    def test_the_sum_of_a_file_is_read(self):
        self.assertEqual(callgrind.instructions_in("events: Ir\nfn=(1) a\n3 4\n\ntotals: 123\n"), 123)
        self.assertEqual(callgrind.instructions_in("events: Ir\n"), 0)

    def test_the_counted_function_is_one_of_the_gauge(self):
        source = (BENCH / "gauge" / "src" / "instructions.rs").read_text()
        self.assertIn(f"#[inline(never)]\nfn {callgrind.COUNTED_FUNCTION.removeprefix('*::')}(", source)


class WholeServerTest(unittest.TestCase):
    PLAN = whole_server.Plan(receivers=100, few=2, many=12)

    def test_start_and_end_are_not_counted(self):
        figures = whole_server.figures_of(
            self.PLAN, floors=lambda rounds: 50_000 + 7_000 * rounds, ours=lambda rounds: 900_000 + 21_000 * rounds
        )
        expected = {"server_instructions_per_delivery": 210.0, "server_instructions_per_delivery_over_floor": 3.0}
        self.assertEqual(figures, expected)

    def test_counts_that_do_not_grow_with_the_broadcasts_are_an_error(self):
        with self.assertRaisesRegex(CannotMeasure, "counted 5 instructions with 12 broadcasts, and 5 with 2"):
            whole_server.figures_of(self.PLAN, floors=lambda _: 5, ours=lambda rounds: rounds)


class BesideFloorTest(unittest.TestCase):
    def test_ratios_are_medians_of_ratios_within_a_repeat(self):
        samples = Samples()
        for floor, throng in ((10.0, 8.0), (20.0, 18.0), (30.0, 12.0)):
            for server, value in (("floor", floor), ("throng", throng)):
                scenario = SimpleNamespace(name=beside_floor.CONNECT)
                samples.add(scenario, server, Measurement({"connections_per_second": value}, []))
        self.assertEqual(beside_floor.figures_of(samples), {"connect_rate_over_floor": 0.8})

    def test_a_smoke_run_has_the_same_scenarios_with_fewer_people(self):
        whole, smoke = beside_floor.plan(smoke=False), beside_floor.plan(smoke=True)
        self.assertEqual([scenario.name for scenario in whole], [scenario.name for scenario in smoke])
        self.assertLess(smoke[0].connections, whole[0].connections)

    def test_every_source_is_a_scenario_of_the_plan(self):
        scenarios = {scenario.name: scenario for scenario in beside_floor.plan(smoke=False)}
        for source in beside_floor.SOURCES.values():
            needed = {"floor", "throng"} if source.is_ratio else {"throng"}
            self.assertLessEqual(needed, set(scenarios[source.scenario].servers))


class TableTest(unittest.TestCase):
    def test_a_regression_stands_in_its_line_with_the_reason_for_the_budget(self):
        text = table.text(judge(BOOK, book.GROUPS, FIGURES | {"per_member": 204.0}))
        self.assertRegex(text, r"per_member +≤ 140 ± 1 % +204 bytes +REGRESSED\n")
        self.assertIn("per_member: memory is the product", text)
        self.assertNotIn("talk is cheap", text)


if __name__ == "__main__":
    unittest.main()
