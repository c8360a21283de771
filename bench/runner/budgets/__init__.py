"""What must not get worse: `bench/budgets.toml`, what is measured for it, and whether it holds."""


class CannotMeasure(Exception):
    """Something that a measurement needs is missing or went wrong; says what, and what to do."""
