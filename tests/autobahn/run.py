#!/usr/bin/env python3
"""Runs the Autobahn fuzzing client, all 517 cases, against the echo mount of the `echo` example.

    run.py [--binary target/debug/examples/echo] [--url ws://127.0.0.1:9001/]

With --url the server is already running. Reports and logs stay in target/autobahn.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

# Where the harness is, for who runs this by itself.
sys.path.append(str(Path(__file__).resolve().parent.parent))

import environment
from harness.programs import HOST, ROOT, Missing, Process, find, free_port
from verdict import Verdict

DEFAULT_BINARY = ROOT / "target" / "debug" / "examples" / "echo"
FUZZING_CLIENT = Path(__file__).resolve().with_name("fuzzing_client.py")
REPORTS = ROOT / "target" / "autobahn"
AGENT = "throng"

GROUP_SECONDS_MAX = 900

# One client runs its cases one after the other on one core, and waits for timers in many of them: so
# the cases are dealt in groups to several clients. The longest groups (a thousand messages of up to
# 128 KiB per case) come first, so that no client is left alone at the end.
GROUPS = [
    *[[f"12.{group}.*"] for group in range(1, 6)],
    *[[f"13.{group}.*"] for group in range(1, 8)],
    ["9.*"],
    ["6.*"],
    [f"{family}.*" for family in (1, 2, 3, 4, 5, 7, 10)],
]
CLIENTS_PER_CORE = 2


def main():
    arguments = parse_arguments()
    try:
        python = environment.wstest_python()
    except environment.NoInterpreter as missing:
        sys.exit(f"autobahn: {missing}")
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    started = time.monotonic()
    if arguments.url:
        results = run_groups(python, arguments.url)
    else:
        try:
            with echo_server(arguments.binary) as url:
                results = run_groups(python, url)
        except Missing as missing:
            sys.exit(f"autobahn: {missing}")
    verdict = Verdict(results)
    print(f"autobahn: {len(results)} cases in {time.monotonic() - started:.0f} s, reports in {REPORTS}")
    print("\n".join(verdict.lines()), flush=True)
    sys.exit(0 if verdict.is_good() else 1)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    binary = os.environ.get("THRONG_ECHO_BIN", DEFAULT_BINARY)
    parser.add_argument("--binary", type=Path, default=binary, help="the echo example (or THRONG_ECHO_BIN)")
    parser.add_argument("--url", help="test this running server instead")
    return parser.parse_args()


@contextmanager
def echo_server(binary):
    """Starts the example on a free port; yields its echo mount's URL; ends it whatever happens."""
    port = free_port()
    command = [find(str(binary.absolute()), "`make programs-for-tests` builds it; --binary names another"), "--port", str(port)]
    with Process(command, REPORTS / "server.log") as server:
        server.wait_until_it_listens(port)
        yield f"ws://{HOST}:{port}/echo/websocket"
        if not server.is_running():
            print(f"autobahn: the server ended with {server.wait()}, see {server.log}")


def run_groups(python, url):
    """The results of all cases by number, from as many clients as suit the machine."""
    clients = CLIENTS_PER_CORE * (os.cpu_count() or 1)
    results = {}
    with ThreadPoolExecutor(max_workers=clients) as pool:
        for group_results in pool.map(lambda cases: run_group(python, url, cases), GROUPS):
            results.update(group_results)
    return results


def run_group(python, url, cases):
    """One fuzzing client over `cases`; what it could not finish is absent from its results."""
    folder = REPORTS / cases[0].removesuffix(".*")
    folder.mkdir()
    specification = {
        "outdir": str(folder),
        "servers": [{"agent": AGENT, "url": url}],
        "cases": cases,
        "exclude-cases": [],
        "exclude-agent-cases": {},
    }
    (folder / "specification.json").write_text(json.dumps(specification, indent=2))
    with open(folder / "wstest.log", "wb") as log:
        try:
            # Its own folder is its working directory: the client leaves a key and a lock file there.
            subprocess.run(
                [python, FUZZING_CLIENT, folder / "specification.json"],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=GROUP_SECONDS_MAX,
            )
        except subprocess.TimeoutExpired:
            print(f"autobahn: {cases[0]} … took over {GROUP_SECONDS_MAX} s, see {folder}/wstest.log")
    index = folder / "index.json"
    return json.loads(index.read_text()).get(AGENT, {}) if index.is_file() else {}


if __name__ == "__main__":
    main()
