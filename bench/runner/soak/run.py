"""A soak, from what was asked for to the exit status."""

import http.client
import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from runner import form, kernel, processes
from runner.capacity.search import SCENARIOS, SOURCES, can_make_certificates, certificate_in
from runner.servers import Running, Throng, free_port
from runner.soak import report
from runner.soak.report import Facts, Soaked
from runner.soak.watch import Watch
from runner.termination import end_in_order

# Beyond the run's own time: the drain, the report.
PATIENCE_S = 120
# For sockets to be gone and poll sessions to end, after the last user has left.
SETTLING_S = 60
# Descriptors that a server without users may have more than before: a log, a file that is read again.
DESCRIPTORS_SPARE = 4


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    seconds: int
    users: int
    warm_up_s: int
    throng: Path
    stampede: Path

    @property
    def command(self) -> str:
        """The run as it can be asked for again, without the folders of this machine."""
        return f"bench/soak --seconds {self.seconds} --users {self.users} --warm-up {self.warm_up_s}"


def run(order: Order, folder: Path | None) -> int:
    """0 if all counts are right, 1 if not, 2 if it could not begin; never because of a slope."""
    end_in_order()
    if complaint := _complaint(order):
        print(complaint, file=sys.stderr)
        return 2
    machine = kernel.machine()
    with kernel.settings_for(order.users) as changed:
        try:
            soaked = _soak(order)
        except (RuntimeError, OSError, http.client.HTTPException) as error:
            # A server that is gone answers nobody; that is what a soak is for.
            print(f"fault: {error}", file=sys.stderr)
            return 1
    facts = Facts(order.command, machine, changed, order.seconds, order.users, order.warm_up_s)
    print(report.markdown(soaked, facts, None))
    document = report.data(soaked, facts)
    if folder:
        print("written to", report.write(soaked, facts, document, folder))
    faults = document["faults"] + (form.complaints(document) if document["smoke"] else [])
    for fault in faults:
        print(f"fault: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _soak(order: Order) -> Soaked:
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        own = Path(name)
        certificate, key = certificate_in(own)
        secure = f"127.0.0.1:{free_port()}"
        settings = {"THRONG_SOCKET_COMPRESSION": "true", "THRONG_TLS_LISTEN": secure}
        settings |= {"THRONG_TLS_CERTIFICATE": str(certificate), "THRONG_TLS_KEY": str(key)}
        # A connection more for each that is being closed.
        stage = SimpleNamespace(connections=2 * order.users, single_shard=False)
        with Throng(order.throng, settings).start(stage) as server:
            watch = Watch(server)
            before = watch.settled(lambda _: True, 0)
            summary = _play(order, server, secure, own, watch)
            quiet = lambda r: r.connections == 0 and r.descriptors <= before.descriptors + DESCRIPTORS_SPARE  # noqa: E731
            after = watch.settled(quiet, SETTLING_S)
        return Soaked(before, watch.readings, after, summary, watch.failed, DESCRIPTORS_SPARE)


def _play(order: Order, server: Running, secure: str, folder: Path, watch: Watch) -> dict:
    """Plays the scenario and watches; Stampede's summary."""
    values = {"target": f"ws://{server.address}", "secure": f"wss://{secure}"}
    values |= {"users": order.users, "seconds": order.seconds, "rooms": max(order.users // 10, 2)}
    command = [order.stampede, "run", SCENARIOS / "soak.yaml", "--source", SOURCES, "--event-log", "none"]
    command += ["--out", folder / "runs", "--quiet", "--json"]
    command += [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    print(f"{order.users:,} users for {order.seconds} s …", file=sys.stderr, flush=True)
    with (folder / "summary.json").open("w") as output:
        playing = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, start_new_session=True
        )
        try:
            watch.run(lambda: playing.poll() is not None or _is_over(watch, order))
            if playing.poll() is None:
                raise RuntimeError(f"stampede did not end within {order.seconds + PATIENCE_S} s")
        finally:
            processes.end(playing, signal.SIGINT)
    try:
        return json.loads((folder / "summary.json").read_text())
    except json.JSONDecodeError:
        raise RuntimeError(f"stampede ended with {playing.returncode} and no summary") from None


def _is_over(watch: Watch, order: Order) -> bool:
    return bool(watch.readings) and watch.readings[-1].second > order.seconds + PATIENCE_S


def _complaint(order: Order) -> str | None:
    """What makes a run pointless, if anything does."""
    if absent := [path.name for path in (order.throng, order.stampede) if not path.exists()]:
        return f"not built: {', '.join(absent)}; `make soak` builds them"
    if not can_make_certificates():
        return "openssl is missing; it is needed for the TLS certificate"
    if order.warm_up_s >= order.seconds:
        return f"the warm-up ({order.warm_up_s} s) is not shorter than the soak ({order.seconds} s)"
    return None
