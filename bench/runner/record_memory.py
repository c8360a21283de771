"""What the memory is made of that a crowd takes, for each of its people: by what the server says of itself while all are
there, and by what Stampede says when it held most."""

from runner import metrics

PROCESS, KERNEL = "throng_memory_bytes", "throng_kernel_memory_bytes"
RESIDENT = "process_resident_memory_bytes"
REST = "rest"

# The figures, and whose memory each is.
TITLES = {
    "server_memory_bytes_per_client": "server process",
    "server_kernel_bytes_per_client": "kernel, for the server",
    "generator_memory_bytes_per_client": "Stampede process",
}

# Less is nothing that a person takes.
LEAST_BYTES = 0.05


def of_server(page: str, people: int) -> dict[str, dict[str, float]]:
    """Bytes for each, of a page of metrics: in the process, with what is resident and in no component, and in the kernel."""
    process = metrics.components_in(page, PROCESS)
    return {
        "server_memory_bytes_per_client": _each(process, metrics.value_in(page, RESIDENT), people),
        "server_kernel_bytes_per_client": _each(metrics.components_in(page, KERNEL), None, people),
    }


def kernel_error_percent(figures: dict) -> float | None:
    """How far the sockets that the server counts as the kernel's part lie from what they took: half of the growth of the
    kernel's slab, in which both ends of each pair are. Nothing, if few people made it grow by nothing."""
    end = figures["kernel_slab_bytes_per_pair"] / 2
    return abs(figures["server_kernel_bytes_per_client"]["sockets"] / end - 1) * 100 if end > 0 else None


def of_generator(summary: dict, people: int) -> dict[str, dict[str, float]]:
    """The same of Stampede's own parts, of its summary. An earlier one does not tell them."""
    generator = summary["generator"]
    parts = {name.removesuffix("_bytes"): held for name, held in generator.get("memory", {}).items()}
    return {"generator_memory_bytes_per_client": _each(parts, generator["rss_max_bytes"], people)} if parts else {}


def _each(parts: dict[str, float], resident_bytes: float | None, people: int) -> dict[str, float]:
    """The largest first; the rest is what is resident beyond the parts."""
    each = {name: bytes_held / people for name, bytes_held in sorted(parts.items(), key=lambda part: -part[1])}
    known = {name: bytes_each for name, bytes_each in each.items() if bytes_each >= LEAST_BYTES}
    if resident_bytes is None:
        return known
    return known | {REST: resident_bytes / people - sum(known.values())}


def lines(figures: dict) -> list[str]:
    """The part of the page that tells of it."""
    rows = [
        f"| {title} | {component.replace('_', ' ')} | {bytes_each:.1f} |"
        for name, title in TITLES.items()
        for component, bytes_each in figures.get(name, {}).items()
    ]
    if not rows:
        return []
    told = (
        "Bytes per client: the server's when all clients had joined, Stampede's at its peak. "
        "The rest is resident memory outside of the parts."
    )
    return ["", "## Memory by component", "", told, "", "| | part | bytes per client |", "|---|---|---:|", *rows]
