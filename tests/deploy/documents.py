"""Reads YAML. Python has no reader of its own; Debian's is the only thing here that does not come with Python."""

from pathlib import Path

from harness.programs import Missing


def all_of(path: Path) -> list[dict]:
    """Every document of the file."""
    try:
        import yaml
    except ImportError as error:
        remedy = "`make deps` installs it on Debian, `pip install pyyaml` elsewhere"
        raise Missing(f"python3-yaml is missing: {remedy}") from error
    return [document for document in yaml.safe_load_all(path.read_text()) if document is not None]


def one(path: Path) -> dict:
    """The only document of the file."""
    (document,) = all_of(path)
    return document
