"""The image: its last stage is built with the release program in the place of the stages that need the internet, and
run. Where there is no builder that this process may use, only what can be seen by reading is tested."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

import programs
from programs import DEPLOY, ROOT, run

DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
IGNORED = ROOT / ".dockerignore"
USER = 65532
BUILD_SECONDS_MAX = 120


class Reading(unittest.TestCase):
    def test_hadolint_has_nothing_to_say(self) -> None:
        hadolint = shutil.which("hadolint")
        if hadolint is None:
            self.skipTest("there is no hadolint here")
        status, said = run(hadolint, DOCKERFILE)
        self.assertEqual(status, 0, said)

    def test_the_stages_are_the_compiler_that_the_workspace_asks_for_and_a_user_that_is_not_root(self) -> None:
        text = DOCKERFILE.read_text()
        version = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
        self.assertIn(f"FROM rust:{version}-", text)
        self.assertRegex(text, rf"\nUSER {USER}:{USER}\n")

    def test_every_member_of_the_workspace_is_among_what_the_image_is_built_of(self) -> None:
        kept = {line.removeprefix("!") for line in IGNORED.read_text().splitlines() if line.startswith("!")}
        members = re.search(r"^members = \[(.*?)\]", (ROOT / "Cargo.toml").read_text(), re.MULTILINE | re.DOTALL)
        for member in re.findall(r'"([^"]+)"', members.group(1)):
            self.assertIn(member.partition("/")[0], kept)
        self.assertLessEqual({"Cargo.toml", "Cargo.lock", "web"}, kept)


@unittest.skipUnless(shutil.which("buildah") and os.geteuid() == 0, "there is no buildah here, or we are not root")
class Running(unittest.TestCase):
    def test_the_image_serves_as_nobody_and_drains(self) -> None:
        with tempfile.TemporaryDirectory(prefix="throng-image-") as name:
            folder = Path(name)
            container = self.built(folder)
            port, admin = programs.free_port(), programs.free_port()
            settings = {"THRONG_LISTEN": f"127.0.0.1:{port}", "THRONG_ADMIN_LISTEN": f"127.0.0.1:{admin}"}
            settings["THRONG_SHUTDOWN_SPREAD"] = "0s"
            variables = [f"--env={key}={value}" for key, value in settings.items()]
            command = [*buildah(folder), "run", "--isolation=chroot", *variables, container]
            log = folder / "throng.log"
            with programs.running([*command, "--", "/usr/local/bin/throng", "serve"], log):
                ready = f"http://127.0.0.1:{port}/readyz"
                programs.until("the container serves", lambda: programs.get(ready) is not None)
                process = the_server(folder)
                self.assertEqual({process.stat().st_uid, process.stat().st_gid}, {USER})
                os.kill(int(process.name), 15)
                programs.until("the container has ended", lambda: not process.exists())
            self.assertIn("/var/lib/throng/admin-token", log.read_text())

    def built(self, folder: Path) -> str:
        """A container of the image, which stands on nothing but the program and its libraries."""
        root = folder / "image"
        program = root / "usr" / "local" / "bin" / "throng"
        data = root / "var" / "lib" / "throng"
        for new in (program.parent, data):
            new.mkdir(parents=True)
        shutil.copy2(programs.throng(), program)
        os.chown(data, USER, USER)
        for library in libraries(program):
            there = root / library.relative_to("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, there)
        last_stage = folder / "Dockerfile"
        # The stage as it is shipped, with what the others would have made beside it.
        last_stage.write_text("FROM scratch\n" + DOCKERFILE.read_text().partition("FROM ${RUNTIME}\n")[2])
        self.build(folder, last_stage, root)
        status, container = run(*buildah(folder), "from", "localhost/throng")
        self.assertEqual(status, 0, container)
        return container.strip()

    def build(self, folder: Path, dockerfile: Path, root: Path) -> None:
        text = dockerfile.read_text()
        self.assertIn("COPY --from=program /image/ /\n", text)
        dockerfile.write_text(text.replace("COPY --from=program /image/ /\n", "COPY . /\n"))
        command = [*buildah(folder), "build", "--isolation=chroot", "--tag=throng", f"--file={dockerfile}", str(root)]
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS_MAX, check=False
        )
        self.assertEqual(ended.returncode, 0, ended.stdout)


def buildah(folder: Path) -> list[str]:
    """The builder with a storage of its own, of plain folders: a machine in a machine has no overlays."""
    return ["buildah", f"--root={folder / 'storage'}", f"--runroot={folder / 'run'}", "--storage-driver=vfs"]


def libraries(program: Path) -> Iterator[Path]:
    """Those that a program is linked with, the loader among them."""
    status, said = run(programs.program("ldd"), program)
    assert status == 0, said
    for path in re.findall(r"(/\S+)", said):
        if Path(path) != program:
            yield Path(path)


def the_server(folder: Path) -> Path:
    """Its process: the one whose root lies in our storage."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            root, command = os.readlink(process / "root"), (process / "cmdline").read_bytes()
        except OSError:
            continue
        if root.startswith(str(folder)) or command.startswith(b"/usr/local/bin/throng\0serve"):
            return process
    raise AssertionError("the container has no process")


if __name__ == "__main__":
    unittest.main()
