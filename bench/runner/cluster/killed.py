"""A node of three is killed, and everybody who was on it comes back to the two others and is given what was said meanwhile;
the time beside the one that as many need to connect to the floor."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from runner import processes
from runner.cluster import redis
from runner.cluster.nodes import Administration, Stage, cluster
from runner.driver import Driver
from runner.samples import Measurement
from runner.servers import Floor, Running
from runner.trials import Outcome, Tools

FLOOR, NODES = "floor", "two nodes of three"

TOPIC_PREFIX = "rooms:kept-"
SETTINGS = {"THRONG_HISTORY_TOPICS": f"{TOPIC_PREFIX}* messages=1000 age=10m"}
# What is said in each room: once while all are there, twice when their node has just died, once when all are back.
BEFORE, MEANWHILE, AFTERWARDS = [1], [2, 3], [4]
PATIENCE_S = 600


@dataclass(frozen=True)
class FloorStage:
    connections: int
    exchange: str = "broadcast"
    single_shard: bool = False


@dataclass(frozen=True)
class Killed:
    name: str
    connections: int
    rooms: int
    subjects: tuple = (FLOOR, NODES)

    def repeats(self, wanted: int) -> int:
        return min(wanted, 3)

    def measure(self, tools: Tools) -> Outcome:
        with Floor(tools.floor).start(FloorStage(self.connections)) as server:
            report = Driver(tools.driver).run(server, "connect", "--connections", self.connections)
        faults = [] if report["open"] == self.connections else [f"{report['open']} of {self.connections} connected"]
        floor = Measurement({"all_there_s": report["seconds"]}, faults)
        return Outcome({FLOOR: floor, NODES: self._killed(tools)})

    def _killed(self, tools: Tools) -> Measurement:
        # Each of the two that are left could take all of them, and has shards for that.
        stage = Stage(self.connections, single_shard=False)
        with redis.running() as bus, cluster(tools.throng, stage, bus, 3, SETTINGS) as nodes:
            doomed, *others = nodes
            with self._crowd(tools, doomed, others) as crowd, contextlib.closing(Administration(others[0])) as desk:
                came = crowd.hear()
                self._say(desk, BEFORE)
                os.kill(doomed.pid, signal.SIGKILL)
                self._say(desk, MEANWHILE)
                back = crowd.hear()
                self._say(desk, AFTERWARDS)
                crowd.say(AFTERWARDS[-1])
                heard = crowd.hear()
        values = {"came_s": came["seconds"], "back": back["back"], "recovered": back["recovered"]}
        values |= {"all_there_s": back["seconds"]} if back["seconds"] is not None else {}
        return Measurement(values, faults(self.connections, came, back, heard))

    def _say(self, desk: Administration, numbers: list[int]) -> None:
        for number in numbers:
            for room in range(self.rooms):
                desk.publish(f"{TOPIC_PREFIX}{room}", "said", {"number": number})

    @contextlib.contextmanager
    def _crowd(self, tools: Tools, doomed: Running, others: list[Running]) -> Iterator["Crowd"]:
        command = [tools.driver, "--address", doomed.address, "--topic", TOPIC_PREFIX, "return"]
        command += ["--connections", self.connections, "--rooms", self.rooms]
        command += ["--others", ",".join(node.address for node in others)]
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield Crowd(process)
        finally:
            processes.end(process)
            process.stdin.close()
            process.stdout.close()


@dataclass(frozen=True)
class Crowd:
    """The driver's reports, one a line; its own patience ends a wait."""

    process: subprocess.Popen

    def hear(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the crowd ended with {self.process.wait(PATIENCE_S)}")
        return json.loads(line)

    def say(self, number: int) -> None:
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()


def faults(connections: int, came: dict, back: dict, heard: dict) -> list[str]:
    """What is wrong with three reports."""
    wanted = {
        "came": came["open"],
        "were cut": back["cut"],
        "came back": back["back"],
        "were given what they missed": back["recovered"],
        "heard the last": heard["complete"],
    }
    found = [f"{number:,} of {connections:,} {what}" for what, number in wanted.items() if number != connections]
    return found + [f"{heard[name]:,} messages {name}" for name in ("lost", "extra") if heard[name]]
