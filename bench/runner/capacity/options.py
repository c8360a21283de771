"""What can be asked of a capacity run, by whichever program plays it."""

import argparse
import os
from pathlib import Path

from runner.arguments import positive
from runner.capacity.run import Order

ROOT = Path(__file__).resolve().parents[3]


def add_to(parser: argparse.ArgumentParser, cpu_limit: float | None) -> None:
    """`cpu_limit` is what is meant where nobody says."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--only", action="append", default=[], metavar="GROUP", help="only this group; can be repeated")
    parser.add_argument("--repeats", type=int, default=2, help="runs of the load that is the answer (default: 2)")
    seconds = "time limit of each search: no run starts after it (default: 70)"
    parser.add_argument("--within", type=int, default=70, metavar="SECONDS", help=seconds)
    limit = f"CPU limit of the server, as root (default: {cpu_limit or 'none'})"
    parser.add_argument("--cpu-limit", type=positive(float), default=cpu_limit, metavar="CORES", help=limit)
    parser.add_argument("--bin-dir", type=Path, default=target / "release", help="folder with the programs")
    parser.add_argument("--throng", type=Path, help="the server (default: throng in --bin-dir)")
    parser.add_argument("--stampede", type=Path, help="the load generator (default: stampede in --bin-dir)")
    parser.add_argument("--smoke", action="store_true", help="1 %% of the numbers: checks only counts")


def order_of(options: argparse.Namespace) -> Order:
    return Order(
        only=options.only,
        smoke=options.smoke,
        repeats=options.repeats,
        within_s=options.within,
        cpu_limit=options.cpu_limit,
        throng=options.throng or options.bin_dir / "throng",
        stampede=options.stampede or options.bin_dir / "stampede",
    )
