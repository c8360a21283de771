"""Kinds of arguments that several programs take."""

import argparse
from collections.abc import Callable


def positive(kind: type) -> Callable[[str], int | float]:
    """Reads a number above nought."""

    def read(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
        return value

    return read
