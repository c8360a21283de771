"""The test-suite's fuzzing client, which compresses as fast as zlib can. Runs in the suite's Python 2.7.

    fuzzing_client.py specification.json

At zlib's default level, compressing takes half of the client's time. What the server has to understand is DEFLATE either
way, and what it is checked for is not the client's choice of level."""

import sys
import zlib

from autobahntestsuite import wstest

FASTEST = 1
COMPRESSOBJ = zlib.compressobj


def compressobj(_level, *rest):
    return COMPRESSOBJ(FASTEST, *rest)


if __name__ == "__main__":
    zlib.compressobj = compressobj
    sys.argv = ["wstest", "--mode", "fuzzingclient", "--spec", sys.argv[1]]
    wstest.run()
