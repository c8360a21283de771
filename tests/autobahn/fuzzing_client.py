"""The test-suite's fuzzing client, with less work that tells nothing about a server. Runs in the suite's Python 2.7.

    fuzzing_client.py specification.json

Its checks are as they were: every message has to come back as it was sent. How it compresses, hashes and decodes its own
data took most of its time:

- It compressed at zlib's default level. What the server has to understand is DEFLATE either way.
- It compares messages by their SHA-1, which a Python 2.7 built without OpenSSL computes in plain C. `cryptography`, which
  the suite needs anyway, brings OpenSSL's.
- It took each message of a case from the whole of its test data, which it decoded anew each time, 190 to 260 KB.
"""

import hashlib
import sys
import zlib

from autobahntestsuite import wstest
from autobahntestsuite.case import case12_x_x as compression
from cryptography.hazmat.backends import default_backend
from cryptography.hazmat.primitives import hashes

FASTEST = 1
COMPRESSOBJ = zlib.compressobj


def compressobj(_level, *rest):
    return COMPRESSOBJ(FASTEST, *rest)


class Sha1(object):
    """As `hashlib.sha1`, for who asks for one digest."""

    def __init__(self, data=b""):
        self.hash = hashes.Hash(hashes.SHA1(), default_backend())
        self.update(data)

    def update(self, data):
        self.hash.update(data)

    def digest(self):
        return self.hash.finalize()


class Text(str):
    """Bytes of UTF-8 that are decoded once."""

    def decode(self, encoding):
        if not hasattr(self, "decoded"):
            self.decoded = str.decode(self, encoding)
        return self.decoded


def init_with_text(init):
    def initialised(case):
        init(case)
        case.testData = Text(case.testData)

    return initialised


if __name__ == "__main__":
    zlib.compressobj = compressobj
    hashlib.sha1 = Sha1
    for case in compression.Case12_X_X + compression.Case13_X_X:
        case.init = init_with_text(case.init.__func__)
    sys.argv = ["wstest", "--mode", "fuzzingclient", "--spec", sys.argv[1]]
    wstest.run()
