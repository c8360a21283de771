"""The competition: every server that can be had, beside the floor, in one table."""
