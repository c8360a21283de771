"""A control group with a limit of memory: both versions of the kernel's interface, as root only. What they say stands in the
kernel's cgroup-v2.rst and cgroup-v1/memory.rst."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOUNTS = Path("/proc/mounts")


class NoGroup(OSError):
    """This machine gives nobody a group with a limit."""


@dataclass(frozen=True)
class Interface:
    """How one version calls things."""

    limit: str
    # Of memory and swap together (version 1), or of swap alone: a machine with swap would else hide what is too much.
    swap: str
    peak: str
    # Where the processes are counted that the kernel ended for want of memory, under this name.
    kills: str


VERSION_1 = Interface(
    "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"
)
VERSION_2 = Interface("memory.max", "memory.swap.max", "memory.peak", "memory.events")


@dataclass(frozen=True)
class Group:
    """A group with a limit."""

    folder: Path
    interface: Interface

    def entering(self) -> list[str]:
        """A command that runs the one behind it within the group, from its first page on."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs")]

    def limit_file(self) -> Path:
        """Where its limit is written."""
        return self.folder / self.interface.limit

    def peak_bytes(self) -> int:
        """The most that its processes ever had at a time, with the kernel's part and the pages of files."""
        return int((self.folder / self.interface.peak).read_text())

    def kills(self) -> int:
        """How many of its processes the kernel has ended for want of memory."""
        return kills_in((self.folder / self.interface.kills).read_text())


def kills_in(text: str) -> int:
    """Of a `memory.events` or `memory.oom_control`; both versions call it alike."""
    values = dict(line.split() for line in text.splitlines() if line.count(" ") == 1)
    return int(values["oom_kill"])


def hierarchy(mounts: str) -> tuple[Path, Interface] | None:
    """Where memory is limited and how, of a text such as /proc/mounts. What names the controller itself (version 1) goes
    before the unified hierarchy, which may be there without it."""
    unified = None
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup" and "memory" in options.split(","):
            return Path(place), VERSION_1
        if kind == "cgroup2":
            unified = Path(place), VERSION_2
    return unified


@contextlib.contextmanager
def limited(limit_bytes: int, name: str) -> Iterator[Group]:
    """A group whose processes get at most so much memory together. They must have ended when it is left."""
    found = hierarchy(MOUNTS.read_text())
    if found is None:
        raise NoGroup("no hierarchy of control groups is mounted")
    root, interface = found
    folder = root / name
    try:
        folder.mkdir()
    except OSError as error:
        raise NoGroup(f"no control group can be made in {root}, which takes root: {error.strerror}") from error
    try:
        _set(root, Group(folder, interface), limit_bytes)
        yield Group(folder, interface)
    finally:
        folder.rmdir()


def _set(root: Path, group: Group, limit_bytes: int) -> None:
    folder, interface = group.folder, group.interface
    try:
        if interface is VERSION_2 and not (folder / interface.limit).exists():
            (root / "cgroup.subtree_control").write_text("+memory")
        (folder / interface.limit).write_text(str(limit_bytes))
        swap = folder / interface.swap
        if swap.exists():
            swap.write_text(str(limit_bytes) if interface is VERSION_1 else "0")
    except OSError as error:
        raise NoGroup(f"memory cannot be limited in {root}: {error.strerror}") from error
    if not (folder / interface.peak).exists():
        raise NoGroup(f"there is no {interface.peak}, which Linux has from 5.19 on")
