#!/usr/bin/env python3
"""Plays Phoenix's two-million scenario, lowered to some hundred users, with Tsung against `throng serve`.

Needs target/debug/throng (THRONG_BIN names another) and Tsung. Fails unless every user connected, joined `rooms:lobby`
(by the server's own count) and stayed until its session ended. Logs stay in target/tsung.
"""

import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from contextlib import contextmanager, suppress
from pathlib import Path

import tsung_log

HERE = Path(__file__).resolve().parent
# Where the harness is, for who runs this by itself.
sys.path.append(str(HERE.parent))

from harness.programs import HOST, ROOT, Missing, Process, find, free_port
from harness.server import Server

SCENARIO = HERE / "lobby.xml"
LOGS = ROOT / "target" / "tsung"
# Beyond the scenario's own arrivals and thinking: starting the Erlang VM, the last dump, stopping.
OVERHEAD_SECONDS_MAX = 120


def main():
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    scenario = Scenario(SCENARIO)
    try:
        tsung = find("tsung")
        with Server(LOGS, "server", {"THRONG_PROFILE": "load-test"}) as server:
            dumps = play(tsung, scenario, server.port)
            joins = server.total("throng_joins_total")
    except Missing as missing:
        sys.exit(f"tsung: {missing}")
    found = tsung_log.complaints(dumps, scenario.users, scenario.thinking_seconds * 1000)
    if joins != scenario.users:
        found.append(f"throng_joins_total is {joins}, not {scenario.users}")
    report(scenario, dumps, joins, found)
    sys.exit(1 if found else 0)


class Scenario:
    """What the verdict needs to know of the configuration, read from it so that the two cannot disagree."""

    def __init__(self, path):
        self.text = path.read_text()
        tree = ElementTree.fromstring(self.text)
        self.users = int(tree.find(".//users").get("maxnumber"))
        self.arrival_seconds = int(tree.find(".//arrivalphase").get("duration"))
        loop = tree.find(".//for")
        self.thinking_seconds = int(loop.get("to")) * int(loop.find("thinktime").get("value"))

    def with_port(self, port):
        return self.text.replace('port="4000"', f'port="{port}"')

    def seconds_max(self):
        return self.arrival_seconds + self.thinking_seconds + OVERHEAD_SECONDS_MAX


def play(tsung, scenario, port):
    """Runs Tsung to its end; the dumps of its log, none where it wrote no log."""
    configuration = LOGS / "lobby.xml"
    configuration.write_text(scenario.with_port(port))
    with name_server() as environment, open(LOGS / "output.log", "wb") as output:
        # -n: no dashboard, whose port may be taken. -I: an address, because the host name may not resolve.
        command = [tsung, "-n", "-I", HOST, "-f", configuration, "-l", LOGS, "start"]
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            process.wait(timeout=scenario.seconds_max())
        except subprocess.TimeoutExpired:
            print(f"tsung: still running after {scenario.seconds_max()} s, see {LOGS}", flush=True)
        finally:
            end_group(process)
    logs = sorted(LOGS.glob("*/tsung.log"))
    return tsung_log.parse(logs[-1].read_text()) if logs else []


@contextmanager
def name_server():
    """Erlang's port mapper, on a port and with a home of this run's own; yields the environment to use it."""
    environment = {
        **os.environ,
        "ERL_EPMD_PORT": str(free_port()),
        "ERL_EPMD_ADDRESS": HOST,
        "HOME": str(LOGS),
    }
    with Process([find("epmd")], LOGS / "epmd.log", environment):
        yield environment


def end_group(process):
    """Ends the shell that Tsung is and the Erlang VM that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def report(scenario, dumps, joins, found):
    print(f"tsung: {scenario.users} users, {scenario.thinking_seconds} s of thinking each, logs in {LOGS}")
    if dumps:
        totals = dumps[-1].totals
        print(
            f"tsung: {totals.get('users_count', 0)} arrived, {totals.get('websocket_succ', 0)} connected, "
            f"{joins:.0f} joined, {totals.get('finish_users_count', 0)} finished"
        )
    for complaint in found:
        print(f"tsung: {complaint}")
    print(f"tsung: {'0 passed, 1 failed' if found else '1 passed, 0 failed'}", flush=True)


if __name__ == "__main__":
    main()
