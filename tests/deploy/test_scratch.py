"""The image from scratch: buildah makes it of the server under test, and crun runs it."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import programs
from container import Container, Image
from harness.programs import DEADLINE_SECONDS, HOST, find, free_port, throng, wait_until
from programs import DEPLOY, run
from test_settings import image_variables

SCRIPT = DEPLOY / "docker" / "from-scratch"
USER = 65532
PROGRAM = "/usr/local/bin/throng"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


@unittest.skipUnless(os.geteuid() == 0, "only root may have namespaces and the files of others")
@unittest.skipUnless(shutil.which("buildah") and shutil.which("crun"), "there is no buildah, or no crun, here")
class FromScratch(unittest.TestCase):
    """One image for all."""

    image: Image

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="throng-scratch-")
        cls.addClassCleanup(folder.cleanup)
        layout = Path(folder.name) / "image"
        status, said = build(Path(folder.name), throng(), f"oci:{layout}:throng")
        assert status == 0, said
        cls.image = Image.read(layout)

    def test_it_is_set_as_the_dockerfiles_is(self) -> None:
        configuration = self.image.configuration
        variables = dict(one.split("=", 1) for one in configuration["Env"] if one.startswith("THRONG_"))
        self.assertEqual(variables, image_variables())
        self.assertEqual(configuration["User"], f"{USER}:{USER}")
        self.assertEqual((configuration["Entrypoint"], configuration["Cmd"]), ([PROGRAM], ["serve"]))
        self.assertEqual(set(configuration["ExposedPorts"]), {"4000", "4001"})
        self.assertEqual(configuration["StopSignal"], "SIGTERM")
        self.assertEqual(set(configuration["Volumes"]), {variables["THRONG_DATA_DIR"]})

    def test_nothing_is_in_it_but_the_program_its_libraries_and_certificates(self) -> None:
        files = self.image.files()
        self.assertIn(PROGRAM, files)
        others = files - {PROGRAM, CERTIFICATES}
        self.assertEqual({path for path in others if not path.startswith("/lib")}, set())

    def test_a_static_program_takes_no_library_along(self) -> None:
        with tempfile.TemporaryDirectory(prefix="throng-scratch-") as name:
            folder = Path(name)
            (folder / "nothing.c").write_text("int main(void) { return 0; }")
            status, said = run(find("cc"), "-static", "-o", folder / "nothing", folder / "nothing.c")
            self.assertEqual(status, 0, said)
            status, said = build(folder, str(folder / "nothing"), f"oci:{folder}/image:nothing")
            self.assertEqual(status, 0, said)
            self.assertEqual(Image.read(folder / "image").files() - {CERTIFICATES}, {PROGRAM})

    def test_it_serves_as_nobody_and_drains_when_it_is_stopped(self) -> None:
        with tempfile.TemporaryDirectory(prefix="throng-container-") as name:
            port, admin = free_port(), free_port()
            listen = {"THRONG_LISTEN": f"{HOST}:{port}", "THRONG_ADMIN_LISTEN": f"{HOST}:{admin}"}
            variables = {**listen, "THRONG_SHUTDOWN_SPREAD": "0s"}
            container = Container(self.image, Path(name), variables)
            self.addCleanup(container.end)
            wait_until("it is ready", lambda: self.is_ready(container, admin))
            self.assertEqual(container.users(), {USER})
            self.assertIsNotNone(programs.get(f"http://{HOST}:{port}/"))
            self.assertEqual(container.stop(), 0)

    def is_ready(self, container: Container, admin: int) -> bool:
        container.process.assert_runs()
        return programs.get(f"http://{HOST}:{admin}/readyz") is not None

    def test_what_is_no_program_is_refused_with_what_to_do(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            status, said = build(Path(folder), "/nowhere/throng")
            self.assertEqual((status, said), (2, "from-scratch: /nowhere/throng is no program: build it first\n"))


def build(folder: Path, *arguments: str) -> tuple[int, str]:
    """Runs the script with a storage of its own, so that nothing of whoever runs the tests is touched."""
    storage = folder / "storage.conf"
    storage.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n')
    environment = {**os.environ, "CONTAINERS_STORAGE_CONF": str(storage), "BUILDAH_ISOLATION": "chroot"}
    ended = subprocess.run(
        [SCRIPT, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_SECONDS * 5,
        check=False,
    )
    return ended.returncode, ended.stdout


if __name__ == "__main__":
    unittest.main()
