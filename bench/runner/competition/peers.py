"""Other servers: read from `peers/NAME/peer.json`, installed by their own ecosystem's tools, started and ended.

The contract of the file is in peers/README.md. Nothing is written into a peer's folder but what its own tools put there.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from runner import processes
from runner.servers import Running, free_port, wait_for_listener

SCENARIOS = ("echo", "broadcast", "nats-broadcast")

INSTALL_PATIENCE_S = 1800
VERSION_PATIENCE_S = 60


class BadPeer(Exception):
    """A peer.json that does not keep the contract; says which and why."""


class NotInstalled(Exception):
    """A peer that this machine cannot have; says why."""


@dataclass(frozen=True)
class Peer:
    """A server and the commands that install, start and name it."""

    folder: Path
    build: Path
    name: str
    title: str
    language: str
    library: str
    scenarios: tuple[str, ...]
    install_commands: tuple[tuple[str, ...], ...]
    start_command: tuple[str, ...]
    version_command: tuple[str, ...]
    environment: dict[str, str]
    needs: tuple[str, ...]
    settings: str

    def install(self) -> None:
        """Makes it ready to be started, or raises NotInstalled."""
        if missing := [program for program in self.needs if shutil.which(program) is None]:
            raise NotInstalled(f"not found on PATH: {', '.join(missing)}")
        self.build.mkdir(parents=True, exist_ok=True)
        for command in self.install_commands:
            self._install_step(self._filled(command))

    def version(self) -> str:
        """What it says of its library and runtime, in a line."""
        command = self._filled(self.version_command)
        try:
            finished = subprocess.run(
                command,
                cwd=self.folder,
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=VERSION_PATIENCE_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"unknown ({type(error).__name__})"
        return (finished.stdout.strip().splitlines() or ["unknown"])[0].rstrip(", ")

    @contextlib.contextmanager
    def start(self, _stage) -> Iterator[Running]:
        """It serves every scenario at once, so it need not know which one comes."""
        port = free_port()
        address = f"127.0.0.1:{port}"
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                self._filled(self.start_command, port),
                cwd=self.folder,
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                self._wait(address, process, output)
                yield Running(address, process.pid)
            finally:
                processes.end(process)

    def _wait(self, address: str, process: subprocess.Popen, output: BinaryIO) -> None:
        try:
            wait_for_listener(address, process)
        except RuntimeError:
            output.seek(0)
            said = self._last_line(output.read().decode(errors="replace"))
            raise RuntimeError(f"it does not listen: {said}") from None

    def _install_step(self, command: list[str]) -> None:
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=INSTALL_PATIENCE_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotInstalled(f"{self._last_line(' '.join(command))}: {type(error).__name__}") from None
        if done.returncode != 0:
            said = self._last_line(done.stdout)
            raise NotInstalled(f"`{self._last_line(' '.join(command))}` ended with {done.returncode}: {said}")

    def _last_line(self, said: str) -> str:
        """Of what a command said, without the folders of this machine: it goes into reports."""
        line = (said.strip().splitlines() or ["no output"])[-1]
        return line.replace(str(self.build), "{build}").replace(str(self.folder), "{folder}")

    def _filled(self, command: tuple[str, ...], port: int = 0) -> list[str]:
        values = {"{build}": str(self.build), "{folder}": str(self.folder), "{port}": str(port)}
        return [_replaced(part, values) for part in command]


def read_all(folder: Path, cache: Path) -> list[Peer]:
    """Every peer that has a peer.json, by name; the build folders are in `cache`."""
    return [read(file, cache) for file in sorted(folder.glob("*/peer.json"))]


def read(file: Path, cache: Path) -> Peer:
    """One peer, or BadPeer."""
    try:
        told = json.loads(file.read_text())
        peer = Peer(
            folder=file.parent.resolve(),
            build=(cache / "peers" / file.parent.name).resolve(),
            name=told["name"],
            title=told["title"],
            language=told["language"],
            library=told["library"],
            scenarios=tuple(told["scenarios"]),
            install_commands=tuple(_command(part) for part in told["install"]),
            start_command=_command(told["start"]),
            version_command=_command(told["version"]),
            environment=dict(told.get("environment", {})),
            needs=tuple(told.get("needs", ())),
            settings=told["settings"],
        )
    except (ValueError, TypeError) as error:
        raise BadPeer(f"{file}: {error}") from None
    except KeyError as error:
        raise BadPeer(f"{file}: it has no {error}") from None
    if peer.name != peer.folder.name:
        raise BadPeer(f"{file}: the name is {peer.name!r}, but the folder is {peer.folder.name!r}")
    if unknown := set(peer.scenarios) - set(SCENARIOS):
        raise BadPeer(f"{file}: unknown scenario {unknown.pop()!r}; known scenarios: {', '.join(SCENARIOS)}")
    return peer


def _command(parts: list) -> tuple[str, ...]:
    if not parts or not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"a command must be a list of words, not {parts!r}")
    return tuple(parts)


def _replaced(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text
