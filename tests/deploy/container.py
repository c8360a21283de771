"""An image in OCI's layout, unpacked and run by crun."""

import json
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from harness.programs import Process, find

HYBRID = Path("/sys/fs/cgroup/unified")


@dataclass(frozen=True)
class Image:
    """What a registry would be given."""

    configuration: dict
    layers: list[Path]

    @classmethod
    def read(cls, layout: Path) -> "Image":
        blob = lambda descriptor: layout / "blobs" / descriptor["digest"].replace(":", "/")
        (entry,) = json.loads((layout / "index.json").read_text())["manifests"]
        manifest = json.loads(blob(entry).read_text())
        configuration = json.loads(blob(manifest["config"]).read_text())["config"]
        return cls(configuration, [blob(layer) for layer in manifest["layers"]])

    def unpack(self, folder: Path) -> None:
        for layer in self.layers:
            with tarfile.open(layer) as archive:
                archive.extractall(folder, filter="fully_trusted")

    def files(self) -> set[str]:
        """The paths of all that is no folder."""
        found: set[str] = set()
        for layer in self.layers:
            with tarfile.open(layer) as archive:
                found |= {"/" + member.name for member in archive if not member.isdir()}
        return found


class Container:
    """One that runs: on the network of this machine, on a root that cannot be written, with a volume of its own."""

    def __init__(self, image: Image, folder: Path, variables: dict[str, str]):
        self.folder, self.name = folder, f"throng-test-{os.getpid()}"
        image.unpack(folder / "rootfs")
        self.command = [find("crun"), "--root", str(folder / "crun"), "--cgroup-manager=disabled"]
        subprocess.run([*self.command, "spec"], cwd=folder, check=True)
        path = folder / "config.json"
        path.write_text(json.dumps(self._specified(json.loads(path.read_text()), image.configuration, variables)))
        self.process = Process(apart([*self.command, "run", self.name]), folder / "container.log")

    def _specified(self, bundle: dict, image: dict, variables: dict[str, str]) -> dict:
        user, _, group = image["User"].partition(":")
        process = bundle["process"]
        process.update(
            terminal=False,
            args=[*image["Entrypoint"], *image["Cmd"]],
            env=[*image["Env"], *(f"{name}={value}" for name, value in variables.items())],
            user={"uid": int(user), "gid": int(group)},
            capabilities={},
            noNewPrivileges=True,
        )
        # As many as this machine gives: whoever runs the tests may not have more.
        process.pop("rlimits", None)
        bundle["root"] = {"path": "rootfs", "readonly": True}
        options = [f"uid={user}", f"gid={group}", "mode=700"]
        tmpfs = {"type": "tmpfs", "source": "tmpfs", "options": options}
        volumes = [{"destination": volume, **tmpfs} for volume in image["Volumes"]]
        unwanted = ("/sys", "/sys/fs/cgroup")
        bundle["mounts"] = [mount for mount in bundle["mounts"] if mount["destination"] not in unwanted] + volumes
        linux = bundle["linux"]
        linux.pop("resources", None)
        linux["namespaces"] = [one for one in linux["namespaces"] if one["type"] not in ("network", "cgroup")]
        return bundle

    def users(self) -> set[int]:
        """Whose the processes in it are."""
        state = subprocess.run([*self.command, "state", self.name], capture_output=True, text=True, check=True)
        status = Path(f"/proc/{json.loads(state.stdout)['pid']}/status").read_text()
        return {int(word) for line in status.splitlines() if line.startswith("Uid:") for word in line.split()[1:]}

    def stop(self) -> int:
        """As an orchestrator does it; the exit code."""
        subprocess.run([*self.command, "kill", self.name, "SIGTERM"], check=True)
        return self.process.wait()

    def end(self) -> None:
        subprocess.run([*self.command, "delete", "--force", self.name], check=False, capture_output=True)
        self.process.kill()


def apart(command: list[str]) -> list[str]:
    """The command where crun can read the control groups: it refuses to where both versions are mounted."""
    if not HYBRID.is_mount():
        return command
    return ["unshare", "--mount", "sh", "-c", f'umount {HYBRID} && exec "$@"', "sh", *command]
