"""Result files against their schema, and what README.md shows of them."""

import copy
import json
import re
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from runner import filed, readme, record_result, report, results, version
from runner.form import complaints
from runner.samples import Measurement, Samples

STAMPEDES_SCHEMA = version.ROOT / "docs" / "summary.schema.json"


class FiledTest(unittest.TestCase):
    def test_every_file_that_is_kept_has_the_form_of_the_schema(self):
        paths = filed.paths()
        self.assertGreater(len(paths), 0)
        for path in paths:
            with self.subTest(path=path.relative_to(filed.FOLDER)):
                self.assertEqual(complaints(json.loads(path.read_text())), [])
                self.assertTrue(path.with_suffix(".md").exists(), "there is a page for people")

    def test_what_stampede_left_beside_them_has_the_form_of_its_own_schema(self):
        for path in filed.FOLDER.rglob(filed.STAMPEDES_OWN):
            with self.subTest(path=path.relative_to(filed.FOLDER)):
                self.assertEqual(complaints(json.loads(path.read_text()), STAMPEDES_SCHEMA), [])


class WritersTest(unittest.TestCase):
    def test_a_benchmarks_file_has_the_form_of_the_schema(self):
        samples = samples_of("connect", floor=[2.0, 3.0], throng=[1.0, 1.5])
        options = SimpleNamespace(group="connect", smoke=False, repeats=2, without=[])
        _, data = report.render(samples, [], {"fs.file-max": (1, 2)}, {"bun": "not installed"}, options)
        self.assertEqual(complaints(data), [])
        self.assertEqual(data["kind"], "bench")
        figure = data["measurements"][1]
        self.assertEqual((figure["subject"], figure["unit"], figure["repeats"]), ("throng", "1/s", [1.0, 1.5]))
        self.assertEqual((figure["least"], figure["median"], figure["greatest"]), (1.0, 1.25, 1.5))

    def test_a_file_without_a_unit_or_a_command_is_refused(self):
        options = SimpleNamespace(group="all", smoke=True, repeats=1, without=[])
        _, data = report.render(samples_of("connect", floor=[2.0]), [], {}, {}, options)
        for spoil in (lambda data: data.pop("command"), lambda data: data["measurements"][0].pop("unit")):
            spoiled = copy.deepcopy(data)
            spoil(spoiled)
            self.assertEqual(len(complaints(spoiled)), 1)

    def test_a_record_is_flattened_and_its_verdicts_mark_its_figures(self):
        data = {
            "date": "2026-01-02 03:04 UTC", "command": "bench/record", "machine": machine(), "settings": {},
            "floor": None, "bare": None, "joins": [], "faults": [],
            "record": {
                "joined_at_once": 20, "growth_ended_by": "memory", "last_receiver_s": {"max": 1.5},
                "server_cpu_us_per_delivery": [2.0, 3.0],
                "verdicts": {
                    record_result.CROWD: {"valid": False, "reasons": ["late"]},
                    record_result.PAIR: {"valid": True, "reasons": []},
                },
                "pair": {"while all are quiet": {"p99_ms": 0.5}, "while a broadcast runs": None},
            },
        }  # fmt: skip
        document = record_result.document(data, [], smoke=False)
        self.assertEqual(complaints(document), [])
        told = {one["name"]: (one["unit"], one["repeats"], one["valid"]) for one in document["measurements"]}
        self.assertEqual(told["last_receiver_s_max"], ("s", [1.5], False))
        self.assertEqual(told["server_cpu_us_per_delivery"], ("µs", [2.0, 3.0], False))
        self.assertEqual(told["p99_ms"], ("ms", [0.5], True))

    def test_units_stand_in_names(self):
        names = ("rss_bytes_per_connection", "server_cpu_us_per_echo", "rss_parts_of_whole", "messages_per_cpu_second")
        self.assertEqual([results.unit_of(name) for name in names], ["bytes", "µs", "ratio", "1/s"])
        names = ("last_receiver_s_max", "latency_ms_p99", "server_cores", "cpu_percent", "users")
        self.assertEqual([results.unit_of(name) for name in names], ["s", "ms", "cores", "%", "count"])

    def test_a_number_that_json_cannot_say_is_not_written(self):
        with self.assertRaises(ValueError):
            results.text_of({"value": float("nan")})


class ReadmeTest(unittest.TestCase):
    def test_the_table_is_that_of_the_newest_results(self):
        text = readme.README.read_text()
        current = readme.with_block(text, readme.block(filed.read()))
        self.assertEqual(text, current, "README.md's table is out of date: run `bench/readme --write`")

    def test_the_text_refers_to_the_newest_record_and_to_the_newest_whole_competition(self):
        text, kept = readme.with_block(readme.README.read_text(), ""), filed.read()
        for wanted in [
            ("record", "the crowd", "throng", "server_rss_bytes_per_client"),
            ("competition", "memory per idle connection", "throng", "rss_bytes_per_connection"),
        ]:
            page = filed.newest(kept, *wanted).page.relative_to(readme.README.parent)
            self.assertIn(f"({page})", text, "what README.md says is out of date: read the page and write it anew")

    def test_each_row_has_the_newest_figure_that_there_is_and_small_forms_do_not_count(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file(folder, "2026-01-01 10:00 UTC", "bench", connect={"floor": [200.0], "throng": [100.0]})
            file(folder, "2026-01-02 10:00 UTC", "bench", connect={"floor": [250.0, 200.0], "throng": [200.0, 150.0]})
            file(folder, "2026-01-03 10:00 UTC", "bench", memory={"throng": [7.0]})
            file(folder, "2026-01-04 10:00 UTC", "bench", smoke=True, connect={"throng": [1.0]})
            text = readme.block(filed.read(folder), folder)
        self.assertIn("| 175 per second | 0.78 (0.75–0.80) × |", text)
        self.assertIn("2026-01-02 10:00 UTC", text)
        self.assertEqual(len(re.findall("2026-01-0[134]", text)), 0)

    def test_an_invalid_figure_is_marked(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file(folder, "2026-01-01 10:00 UTC", "bench", valid=False, connect={"throng": [100.0]})
            text = readme.block(filed.read(folder), folder)
        self.assertIn("100 per second † | |", text)
        self.assertIn("INVALID", text)

    def test_a_text_without_markers_is_refused(self):
        with self.assertRaises(readme.NoMarkers):
            readme.with_block("nothing", "table")


def machine() -> dict[str, str]:
    return {"cores": "2", "model": "some", "kernel": "6.1-x", "memory": "1 GiB"}


def samples_of(scenario: str, **values_by_server: list[float]) -> Samples:
    samples = Samples()
    for server, values in values_by_server.items():
        for value in values:
            samples.add(SimpleNamespace(name=scenario), server, Measurement({"connections_per_second": value}, []))
    return samples


def file(folder: Path, date: str, kind: str, smoke: bool = False, valid: bool = True, **scenarios) -> None:
    """Files a result with one figure for each scenario and server."""
    measurements = [
        results.measurement(scenario, subject, "connections_per_second", values, valid)
        for scenario, by_subject in scenarios.items()
        for subject, values in by_subject.items()
    ]
    data = results.document(
        kind, date=date, command="bench/run all", machine=machine(), settings_changed={}, missing={}, smoke=smoke,
        measurements=measurements,
    )  # fmt: skip
    (folder / f"{date.replace(' ', '-')}.json").write_text(results.text_of(data))


if __name__ == "__main__":
    unittest.main()
