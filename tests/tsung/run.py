#!/usr/bin/env python3
"""Plays Phoenix's two-million scenario, lowered to some hundred users, with Tsung against `throng serve`.

    run.py [--binary target/debug/throng]

Fails unless every user connected, joined `rooms:lobby` (by the server's own count) and stayed until its
session ended. Logs stay in target/tsung.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from contextlib import contextmanager, suppress
from pathlib import Path

import tsung_log

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCENARIO = HERE / "lobby.xml"
DEFAULT_BINARY = ROOT / "target" / "debug" / "throng"
LOGS = ROOT / "target" / "tsung"

START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 60
# Beyond the scenario's own arrivals and thinking: starting the Erlang VM, the last dump, stopping.
OVERHEAD_SECONDS_MAX = 120


def main():
    arguments = parse_arguments()
    if not shutil.which("tsung"):
        sys.exit("tsung: the program `tsung` is missing (Debian's package `tsung`; `make deps` installs it)")
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    scenario = Scenario(SCENARIO)
    with throng(arguments.binary) as server:
        dumps = play(scenario, server.port)
        joins = server.metric("throng_joins_total")
    found = tsung_log.complaints(dumps, scenario.users, scenario.thinking_seconds * 1000)
    if joins != scenario.users:
        found.append(f"throng_joins_total is {joins}, not {scenario.users}")
    report(scenario, dumps, joins, found)
    sys.exit(1 if found else 0)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    binary = os.environ.get("THRONG_BIN", DEFAULT_BINARY)
    parser.add_argument("--binary", type=Path, default=binary, help="the throng binary (or THRONG_BIN)")
    return parser.parse_args()


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


class Throng:
    """A running server: its ports on 127.0.0.1 and what its administration listener counts."""

    def __init__(self, process, port, admin_port):
        self.process, self.port, self.admin_port = process, port, admin_port

    def metric(self, name):
        """The sum of a counter over its labels; None where the server does not export it."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        values = [
            float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((f"{name} ", f"{name}{{"))
        ]
        return sum(values) if values else None

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


@contextmanager
def throng(binary):
    """Starts `throng serve --profile load-test` on free ports with a data directory of its own; ends it."""
    server_port, admin_port = free_port(), free_port()
    settings = {
        "THRONG_LISTEN": f"127.0.0.1:{server_port}",
        "THRONG_ADMIN_LISTEN": f"127.0.0.1:{admin_port}",
        "THRONG_DATA_DIR": str(LOGS / "data"),
    }
    with open(LOGS / "throng.log", "wb") as log:
        try:
            process = subprocess.Popen(
                [binary, "serve", "--profile", "load-test"],
                env={**foreign_environment(), **settings},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            sys.exit(f"tsung: cannot start the server ({error}); `cargo build -p server --bin throng`")
    server = Throng(process, server_port, admin_port)
    try:
        wait_until_ready(server)
        yield server
    finally:
        end(process)


def foreign_environment():
    """The environment without THRONG_…: the server refuses unknown variables, and this run sets its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(server):
    deadline = time.monotonic() + START_SECONDS_MAX
    while not server.is_ready():
        if server.process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"tsung: the server does not become ready, see {LOGS}/throng.log")
        time.sleep(0.05)


def end(process):
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def play(scenario, port):
    """Runs Tsung to its end; the dumps of its log, none where it wrote no log."""
    configuration = LOGS / "lobby.xml"
    configuration.write_text(scenario.with_port(port))
    with name_server() as environment, open(LOGS / "output.log", "wb") as output:
        # -n: no dashboard, whose port may be taken. -I: an address, because the host name may not resolve.
        command = ["tsung", "-n", "-I", "127.0.0.1", "-f", configuration, "-l", LOGS, "start"]
        tsung = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            tsung.wait(timeout=scenario.seconds_max())
        except subprocess.TimeoutExpired:
            print(f"tsung: still running after {scenario.seconds_max()} s, see {LOGS}", flush=True)
        finally:
            end_group(tsung)
    logs = sorted(LOGS.glob("*/tsung.log"))
    return tsung_log.parse(logs[-1].read_text()) if logs else []


@contextmanager
def name_server():
    """Erlang's port mapper, on a port and with a home of this run's own; yields the environment to use it."""
    environment = {
        **os.environ,
        "ERL_EPMD_PORT": str(free_port()),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "HOME": str(LOGS),
    }
    epmd = subprocess.Popen(["epmd"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield environment
    finally:
        end(epmd)


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
            f"{joins or 0:.0f} joined, {totals.get('finish_users_count', 0)} finished"
        )
    for complaint in found:
        print(f"tsung: {complaint}")
    print(f"tsung: {'0 passed, 1 failed' if found else '1 passed, 0 failed'}", flush=True)


if __name__ == "__main__":
    main()
