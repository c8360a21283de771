"""What must not get worse: `bench/budgets.toml`, what is measured for it, and whether it holds."""

from pathlib import Path


class CannotMeasure(Exception):
    """Something that a measurement needs is missing or went wrong; says what, and what to do."""


def require_built(bin_dir: Path, throng: Path) -> None:
    """Raises `CannotMeasure` if a program is missing that the figures beside the floor need."""
    programs = [bin_dir / "floor", bin_dir / "bench-load", throng]
    if missing := [str(path) for path in programs if not path.exists()]:
        raise CannotMeasure(f"not built: {', '.join(missing)}; `make bench-check` builds them")
