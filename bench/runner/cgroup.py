"""A limit on the processor time of some processes, by a control group of their own; both versions of the kernel's
interface, as root only."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# As in containers.
PERIOD_US = 100_000
# The least quota that the kernel takes.
QUOTA_US_MIN = 1000


class NoLimit(OSError):
    """This machine lets nobody limit anything."""


@dataclass(frozen=True)
class Throttling:
    """How often a group ran into its limit."""

    periods: int
    throttled: int

    @property
    def percent(self) -> float:
        return 100 * self.throttled / self.periods if self.periods else 0.0


@dataclass(frozen=True)
class Group:
    """A group with a limit."""

    folder: Path

    def add(self, pid: int) -> None:
        """The whole process, with all its threads."""
        (self.folder / "cgroup.procs").write_text(str(pid))

    def throttling(self) -> Throttling:
        return throttling_of((self.folder / "cpu.stat").read_text())


def throttling_of(stat: str) -> Throttling:
    """Of a `cpu.stat`; both versions call these two alike."""
    values = dict(line.split() for line in stat.splitlines() if line.count(" ") == 1)
    return Throttling(int(values.get("nr_periods", 0)), int(values.get("nr_throttled", 0)))


def hierarchy(mounts: str) -> tuple[Path, int] | None:
    """Where processor time is limited and by which version, of a text such as /proc/mounts. What names the controller
    itself (version 1) goes before the unified hierarchy, which may be there without it."""
    unified = None
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            return Path(place), 1
        if kind == "cgroup2":
            unified = Path(place), 2
    return unified


@contextlib.contextmanager
def limited(cores: float | None, name: str) -> Iterator[Group | None]:
    """A group whose processes get at most so many cores together, which must have ended when it is left; none, where they
    may have all."""
    if cores is None:
        yield None
        return
    found = hierarchy(Path("/proc/mounts").read_text())
    if found is None:
        raise NoLimit("no cgroup hierarchy is mounted")
    root, version = found
    folder = root / name
    try:
        folder.mkdir()
    except OSError as error:
        raise NoLimit(f"cannot create a cgroup: {error.strerror}") from error
    try:
        _set(root, folder, version, max(int(cores * PERIOD_US), QUOTA_US_MIN))
        yield Group(folder)
    finally:
        folder.rmdir()


def _set(root: Path, folder: Path, version: int, quota_us: int) -> None:
    try:
        if version == 1:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(quota_us))
            return
        if not (folder / "cpu.max").exists():
            (root / "cgroup.subtree_control").write_text("+cpu")
        (folder / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
    except OSError as error:
        raise NoLimit(f"cannot limit processor time here: {error.strerror}") from error
