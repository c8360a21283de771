"""Whether instruction counts of here can be held against the bounds. Pure: two descriptions in, what differs out."""

from dataclasses import dataclass

# What counts depend on, in the order in which `callgrind.counted_with` says it. What follows is the kind of processor.
_PARTS = ("compiler", "target", "C library", "valgrind")
_PROCESSOR = "kind of processor"


@dataclass(frozen=True)
class Difference:
    """One thing on which counts depend, as it was for the bounds and as it is here."""

    what: str
    bounded: str
    here: str

    @property
    def is_chosen(self) -> bool:
        """Whether who sets up a machine chooses it. Nobody chooses the processor of a machine of continuous integration."""
        return self.what != _PROCESSOR

    def __str__(self) -> str:
        return f"{self.what}: bounded with {self.bounded or 'none'}, here {self.here or 'none'}"


def differences(bounded: str, here: str) -> list[Difference]:
    """Nothing, if the counts are comparable."""
    pairs = zip((*_PARTS, _PROCESSOR), _parts(bounded), _parts(here))
    return [Difference(what, one, other) for what, one, other in pairs if one != other]


def _parts(text: str) -> list[str]:
    parts = text.split(", ")
    named = parts[: len(_PARTS)]
    named += [""] * (len(_PARTS) - len(named))
    processor = parts[len(_PARTS) :]
    return [*named, ", ".join(processor) or "no vector instructions"]


def complaint(found: list[Difference], is_ci: bool) -> tuple[str, bool]:
    """What to say about that, and whether the check fails for it: an automatic check must not stop judging without a word,
    and a person may have another compiler than the project."""
    named = "; ".join(map(str, found))
    if not is_ci:
        return f"instructions are shown but not judged: {named}", False
    if any(one.is_chosen for one in found):
        anew = "make bench-check BUDGETS=instructions ARGUMENTS=--update"
        return (
            f"instructions cannot be judged ({named}): install the versions of the bounds, or update the counts "
            f"with `{anew}`, in a commit that changes nothing else",
            True,
        )
    return f"instructions are shown but not judged, because a CI machine cannot choose its processor: {named}", False
