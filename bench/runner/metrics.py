"""Reads what the server says of itself."""

import re
import urllib.request

COMPONENT = re.compile(r'^throng_memory_bytes\{component="(\w+)"\} (\S+)$', re.MULTILINE)


def memory_by_component(url: str) -> dict[str, float]:
    """Bytes that each component of the server holds."""
    with urllib.request.urlopen(url, timeout=10) as response:
        text = response.read().decode()
    return {name: float(value) for name, value in COMPONENT.findall(text)}
