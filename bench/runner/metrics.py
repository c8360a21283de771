"""Reads what the server says of itself."""

import re
import urllib.request

def memory_by_component(url: str) -> dict[str, float]:
    """Bytes that each component of the server holds."""
    return components_in(text(url), "throng_memory_bytes")


def components_in(page: str, name: str) -> dict[str, float]:
    """A figure by component, of a text that was read."""
    found = re.findall(rf'^{re.escape(name)}\{{component="(\w+)"\}} (\S+)$', page, re.MULTILINE)
    return {component: float(value) for component, value in found}


def value(url: str, name: str) -> float:
    """A figure without labels."""
    return value_in(text(url), name)


def value_in(page: str, name: str) -> float:
    """The same of a text that was read."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", page, re.MULTILINE)
    if found is None:
        raise KeyError(f"the server has no metric {name}")
    return float(found[1])


def text(url: str) -> str:
    """All that the server says."""
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read().decode()
