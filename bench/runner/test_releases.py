"""python3 -m unittest discover -s bench -t bench"""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from runner import releases, version
from runner.capacity import compare


class FiledTest(unittest.TestCase):
    def test_the_last_version_is_the_greatest_below_that_has_a_result(self):
        with tempfile.TemporaryDirectory() as name:
            results = Path(name)
            for filed in ("v0.9.0", "v0.10.0", "v1.0.0-rc.2", "v1.0.0-rc.10", "v1.0.0", "v2.0.0", "vast"):
                (results / filed).mkdir()
                (results / filed / "capacity.json").touch()
            (results / "v0.11.0").mkdir()  # without a result
            last = lambda this: getattr(releases.last_before(this, results), "name", None)  # noqa: E731
            self.assertEqual(last("1.0.0-rc.1"), "v0.10.0")
            self.assertEqual(last("1.0.0"), "v1.0.0-rc.10")
            self.assertEqual(last("1.1.0"), "v1.0.0")
            self.assertIsNone(last("0.9.0"))

    def test_the_workspaces_version_can_be_filed(self):
        self.assertTrue(releases.order(f"v{version.of_the_workspace()}"))

    def test_what_is_no_version_is_refused(self):
        for name in ("1.0.0", "v1.0", "v1.0.0+7", "vast"):
            with self.assertRaises(ValueError):
                releases.order(name)


class ComparisonTest(unittest.TestCase):
    def test_a_change_is_one_where_the_spreads_do_not_overlap(self):
        table = [
            # held, failed, then the same of the newer one
            ((100, 110), (110, 120), "**more**", 1.1),
            ((100, 110), (105, 115), "within the spread", 1.05),
            ((110, 120), (100, 110), "**less**", 100 / 110),
            ((100, None), (150, 160), "within the spread", 1.5),
            ((150, 160), (100, None), "within the spread", 100 / 150),
            ((100, 110), (150, None), "**more**", 1.5),
            ((None, 10), (100, 110), "not measured", None),
        ]
        for old, new, verdict, ratio in table:
            change = compare.Change("any", measured(*old), measured(*new))
            self.assertEqual(change.verdict, verdict, (old, new))
            if ratio is None:
                self.assertIsNone(change.ratio)
            else:
                self.assertAlmostEqual(change.ratio, ratio)

    def test_figures_with_another_meaning_are_not_compared(self):
        for other in ({"until": ["p99 < 1s"]}, {"cpu_limit": 0.4}):
            change = compare.Change("any", measured(100, 110), measured(200, 210) | other)
            self.assertEqual((change.verdict, change.ratio), ("not comparable", None))

    def test_what_only_one_of_them_has_is_told(self):
        before, after = result("0.1.0", measured(100, 110, "old")), result("0.2.0", measured(100, 110, "new"))
        self.assertEqual({c.name: c.verdict for c in compare.changes(before, after)}, {"g, new": "new", "g, old": "gone"})

    def test_another_machine_is_told_before_the_table(self):
        before, after = result("0.1.0", measured(100, 110)), result("0.2.0", measured(120, 130))
        self.assertNotIn("different machine", compare.markdown(before, after))
        self.assertIn("| g, any | 100 – 110 | 120 – 130 | 1.20 | **more** |", compare.markdown(before, after))
        after["machine"]["cores"] = "64"
        self.assertIn("- **different machine**: cores: 2, then 64", compare.markdown(before, after))


class ArchiveTest(unittest.TestCase):
    def test_the_archive_has_programs_and_texts_and_is_the_same_twice(self):
        with tempfile.TemporaryDirectory() as name:
            programs, out = Path(name) / "programs", Path(name) / "out"
            programs.mkdir()
            for program in ("throng", "stampede", "floor"):
                shutil.copy(shutil.which("true"), programs / program)
            first, second = packed(programs, out), packed(programs, out)
            self.assertEqual(first, second)
            archive = next(out.glob("*.tar.gz"))
            self.assertEqual(hashlib.sha256(first).hexdigest(), Path(f"{archive}.sha256").read_text().split()[0])
            with tarfile.open(archive) as tar:
                inside = {member.name.partition("/")[2]: member for member in tar if member.isfile()}
            texts = {"LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"}
            self.assertEqual(set(inside), {"bin/throng", "bin/stampede", "bin/floor"} | texts)
            self.assertEqual({member.mode for path, member in inside.items() if path.startswith("bin/")}, {0o755})
            self.assertEqual({(member.uid, member.gid) for member in inside.values()}, {(0, 0)})
            self.assertTrue(archive.name.startswith(f"throng-{version.of_the_workspace()}-"))

    def test_a_program_that_is_not_built_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            command = [version.ROOT / ".ci" / "dist", name, f"{name}/out"]
            finished = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertNotEqual(finished.returncode, 0)
        self.assertIn("throng is missing; `make dist` builds it", finished.stderr)


def packed(programs: Path, out: Path) -> bytes:
    subprocess.run([version.ROOT / ".ci" / "dist", programs, out], check=True, stdout=subprocess.DEVNULL)
    return next(out.glob("*.tar.gz")).read_bytes()


def measured(held, failed, name="any") -> dict:
    meaning = {"unit": "rooms", "scenario": "a.yaml", "variables": {}, "setup": {}, "until": ["p99 < 250ms"]}
    spread = {"value": held, "least": held, "greatest": failed, "at_least": failed is None}
    return {"group": "g", "name": name} | meaning | spread


def result(number: str, *measurements: dict) -> dict:
    machine = {"cores": "2", "model": "any", "memory": "24 GiB"}
    version = {"throng": number, "commit": "c", "changed": False}
    return {"version": version, "date": "d", "machine": machine, "details": {"answers": list(measurements)}}


if __name__ == "__main__":
    unittest.main()
