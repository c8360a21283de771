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


def merged(base: object, patch: object) -> object:
    """As kustomize does it: maps by their keys, lists of named things by their names, and all else is replaced."""
    if isinstance(base, dict) and isinstance(patch, dict):
        return base | {key: merged(base.get(key), value) for key, value in patch.items()}
    if not (are_named(base) and are_named(patch)):
        return patch
    by_name = {each["name"]: each for each in base}
    for each in patch:
        by_name[each["name"]] = merged(by_name.get(each["name"]), each)
    return list(by_name.values())


def are_named(things: object) -> bool:
    return isinstance(things, list) and all(isinstance(each, dict) and "name" in each for each in things)


def one(path: Path) -> dict:
    """The only document of the file."""
    (document,) = all_of(path)
    return document
