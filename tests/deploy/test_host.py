"""The unit and the kernel's settings, by systemd's own checker, by the kernel and by the server's doctor."""

import json
import tempfile
import unittest
from pathlib import Path

from harness.programs import find, foreign_variables, throng
from programs import DEPLOY, run

UNIT = DEPLOY / "systemd" / "throng.service"
SYSCTL = DEPLOY / "sysctl" / "90-throng.conf"
INSTALLED_PROGRAM = "/usr/local/bin/throng"
# Of `systemd-analyze security`, in tenths: what it calls "OK" ends at 49.
EXPOSURE_TENTHS_MAX = 20
# What the file says that it is for.
CLIENTS = 1_000_000


class Unit(unittest.TestCase):
    def test_systemd_has_nothing_to_say_about_the_unit(self) -> None:
        status, said = self.analyze("verify")
        self.assertEqual((status, said), (0, ""))

    def test_systemd_does_not_overlook_an_unknown_line(self) -> None:
        # Else the test above says nothing.
        _, said = self.analyze("verify", line="\n[Service]\nNoSuchThing=yes\n")
        self.assertIn("NoSuchThing", said)

    def test_the_unit_leaves_little_to_whoever_takes_the_server_over(self) -> None:
        status, said = self.analyze("security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE_TENTHS_MAX}")
        self.assertEqual(status, 0, said)

    def analyze(self, *words: str, line: str = "") -> tuple[int, str]:
        """Asks about the unit, with the program where it is now."""
        with tempfile.TemporaryDirectory() as folder:
            unit = Path(folder) / UNIT.name
            unit.write_text(UNIT.read_text().replace(INSTALLED_PROGRAM, throng()) + line)
            return run(find("systemd-analyze"), *words, unit)


class Sysctl(unittest.TestCase):
    def test_every_setting_is_one_that_the_kernel_knows(self) -> None:
        for name, setting in wanted().items():
            with self.subTest(setting=name):
                if setting.optional:
                    continue
                # A setting of the whole machine is not shown in a network namespace of one's own.
                shown = Path("/proc/sys") / name.replace(".", "/")
                self.assertTrue(shown.exists() or name.startswith("net.core."), shown)
                if shown.exists():
                    self.assertEqual(len(shown.read_text().split()), len(setting.values))

    def test_what_the_doctor_asks_for_the_same_number_of_clients_is_there(self) -> None:
        command = [throng(), "doctor", "--clients", str(CLIENTS), "--json"]
        _, said = run(*command, environment=foreign_variables())
        for name, values in asked_for(json.loads(said)).items():
            self.assertIn(name, wanted())
            for ours, theirs in zip(wanted()[name].values, values, strict=True):
                self.assertGreaterEqual(ours, theirs, name)


def asked_for(doctor: dict) -> dict[str, list[int]]:
    """The kernel's settings that the doctor would change on this machine: none, where all are as they should be."""
    found = doctor["diagnosis"]["bounds"] + doctor["diagnosis"]["checks"]
    settings = [setting for one in found for setting in one.get("settings") or []]
    kernel = [setting for setting in settings if setting["place"] == "sysctl"]
    return {setting["name"]: [int(value) for value in setting["value"].split()] for setting in kernel}


class Setting:
    """A line of the file."""

    def __init__(self, name: str, values: str) -> None:
        # The dash tells sysctl to go on where there is no such setting.
        self.name, self.optional = name.strip().removeprefix("-"), name.startswith("-")
        self.values = [int(value) for value in values.split()]


def wanted() -> dict[str, Setting]:
    """The file's settings by name."""
    lines = [line for line in SYSCTL.read_text().splitlines() if line and not line.startswith("#")]
    settings = [Setting(*line.split("=")) for line in lines]
    return {setting.name: setting for setting in settings}


if __name__ == "__main__":
    unittest.main()
