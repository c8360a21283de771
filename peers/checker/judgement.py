"""One peer, from its installation to its end, and what is wrong with it."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from checker import conversations, process
from checker.websocket import Wrong
from runner.competition.peers import NotInstalled, Peer
from runner.servers import Running

OK, FAILED, MISSING = "ok", "failed", "missing"

# What a package manager may leave beside a manifest, because git ignores it.
IGNORED = ("node_modules",)


@dataclass
class Judgement:
    """`faults` says why it is not ok: what a peer does wrong, or what it lacks."""

    peer: str
    state: str
    version: str = ""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.state:8}{self.peer:20}{self.version or '; '.join(self.faults)}"


def judge(peer: Peer) -> Judgement:
    """Installs it, starts it, talks with it and ends it."""
    if absent := [program for program in peer.needs if shutil.which(program) is None]:
        return Judgement(peer.name, MISSING, faults=[f"not found on PATH: {', '.join(absent)}"])
    before = _files(peer.folder)
    try:
        peer.install()
    except NotInstalled as error:
        return Judgement(peer.name, FAILED, faults=[f"installation failed: {error}"])
    faults = [f"its installation leaves {file} in its folder" for file in sorted(_files(peer.folder) - before)]
    try:
        with peer.start(None) as running:
            faults += _talk(peer, running) + process.faults(running)
            if fault := process.end_fault(running):
                faults.append(fault)
    except RuntimeError as error:
        faults.append(str(error))
    return Judgement(peer.name, FAILED if faults else OK, peer.version(), faults)


def _talk(peer: Peer, running: Running) -> list[str]:
    faults = []
    for scenario in peer.scenarios:
        for name, conversation in conversations.of_scenario(scenario).items():
            try:
                conversation(running.address)
            except Wrong as wrong:
                faults.append(f"{scenario}, {name}: {wrong}")
    return faults


def _files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return {str(path) for path in found if not set(IGNORED) & set(path.parts)}
