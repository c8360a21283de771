"""A network on this machine: nodes in namespaces of the kernel's, a cable from each to the engine, which may be pulled out,
and another by which the tests reach it."""

import atexit
import os
import subprocess
from ipaddress import IPv4Network
from pathlib import Path

from harness.programs import HOST, find, free_port
from node import Node

# Each process of tests has one of the small networks within, which begins with the address of the bridge.
PRIVATE, BITS = IPv4Network("10.64.0.0/10"), 24
NODES_MAX = 32
# What `ip` says where a container or a kernel does without.
WITHHELD = ("not permitted", "denied", "not supported", "Unknown device type")


class NotPermitted(RuntimeError):
    """Namespaces, or what joins them, may not be made here."""


class Network:
    """A bridge on this machine with the engine's address, and a place for each node. One at a time in a process."""

    def __init__(self, nodes: int):
        assert nodes <= NODES_MAX
        if os.geteuid() != 0:
            raise NotPermitted("only root may make namespaces")
        # Names of links have fifteen letters at most.
        self.name = f"thr{os.getpid()}"
        networks = 1 << (BITS - PRIVATE.prefixlen)
        first = int(PRIVATE.network_address) + (os.getpid() % networks << (32 - BITS))
        self.addresses = IPv4Network((first, BITS))
        self.places = [Place(self, number) for number in range(nodes)]
        # Also when tests are interrupted, which do not clean up then.
        atexit.register(self.remove)
        try:
            self._make()
        except BaseException:
            self.remove()
            raise

    @property
    def engine_address(self) -> str:
        return self.address(1)

    def address(self, number: int) -> str:
        return str(self.addresses[number])

    def _make(self) -> None:
        try:
            ip("link", "add", self.name, "type", "bridge")
            for place in self.places:
                place.make()
        except subprocess.CalledProcessError as error:
            if any(word in error.stderr for word in WITHHELD):
                raise NotPermitted(f"{' '.join(error.cmd)}: {error.stderr.strip()}") from error
            raise AssertionError(error.stderr) from error
        ip("addr", "add", f"{self.engine_address}/{BITS + 1}", "dev", self.name)
        ip("link", "set", self.name, "up")
        for place in self.places:
            place.connect()

    def remove(self) -> None:
        """Once more does nothing."""
        atexit.unregister(self.remove)
        for place in self.places:
            place.remove()
        ip("link", "del", self.name, check=False)


class Place:
    """One node's namespace: `cable` leads to the bridge, `door` to the tests."""

    def __init__(self, network: Network, number: int):
        self.network = network
        self.namespace = f"{network.name}-{number}"
        self.cable, self.door = f"{network.name}c{number}", f"{network.name}d{number}"
        # The lower half of the addresses is the bridge's; each door has four of the upper one.
        self.cable_address = network.address(2 + number)
        self.outside, self.address = (network.address(128 + 4 * number + side) for side in (1, 2))

    def make(self) -> None:
        ip("netns", "add", self.namespace)
        for outside, inside in ((self.cable, "cable"), (self.door, "door")):
            ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.namespace)

    def connect(self) -> None:
        ip("link", "set", self.cable, "master", self.network.name, "up")
        ip("addr", "add", f"{self.outside}/30", "dev", self.door)
        ip("link", "set", self.door, "up")
        self._inside("addr", "add", f"{self.cable_address}/{BITS + 1}", "dev", "cable")
        self._inside("addr", "add", f"{self.address}/30", "dev", "door")
        for link in ("lo", "cable", "door"):
            self._inside("link", "set", link, "up")

    def pull_out(self) -> None:
        """Nothing comes through the cable any more, and nobody is told so."""
        ip("link", "set", self.cable, "down")

    def plug_in(self) -> None:
        ip("link", "set", self.cable, "up")

    def remove(self) -> None:
        """A link goes with its other end."""
        for link in (self.cable, self.door):
            ip("link", "del", link, check=False)
        ip("netns", "del", self.namespace, check=False)

    def _inside(self, *words: str) -> None:
        ip("-n", self.namespace, *words)


class SecludedNode(Node):
    """Runs in a namespace, and is reached through its door."""

    def __init__(self, place: Place, folder: Path, name: str, settings: dict[str, str]):
        self.wrapper = [find("ip"), "netns", "exec", place.namespace]
        # Nobody else listens there, so any ports are free.
        super().__init__(folder, name, settings, place.address, free_port(HOST), free_port(HOST))


def ip(*words: str, check: bool = True) -> None:
    """Runs `ip`, by which Linux' links, addresses and namespaces are made."""
    subprocess.run([find("ip"), *words], check=check, capture_output=True, text=True)
