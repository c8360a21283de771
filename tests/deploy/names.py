"""A name server for one name, and a program that asks it: with a resolv.conf of its own, in a mount namespace of its
own. It takes root, as the port of name servers and namespaces do."""

import os
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PORT = 53
TYPE_A = 1
CLASS_IN = 1
# Answer, authoritative; with recursion wanted and had.
FLAGS_ANSWER = 0x8580
FLAGS_NO_SUCH_NAME = FLAGS_ANSWER | 3
# The name of the question, which begins behind the head of 12 bytes.
POINTER_TO_QUESTION = 0xC00C
TTL_SECONDS = 1
QUERY_BYTES_MAX = 1024


def can_serve() -> bool:
    """Whether this process may have a name server and a namespace."""
    return os.geteuid() == 0


@contextmanager
def serving(name: str, addresses: list[str]) -> Iterator[str]:
    """Answers for `name` with `addresses`, and for any other that there is none; gives the server's own address."""
    address = f"127.0.{random.randint(1, 254)}.{random.randint(2, 254)}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, PORT))
        server.settimeout(0.2)
        done = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, name, addresses, done), daemon=True)
        thread.start()
        try:
            yield address
        finally:
            done.set()
            thread.join()


def asking(command: list[str], address: str, folder: Path) -> list[str]:
    """The command, so that it asks the name server at `address`."""
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {address}\noptions timeout:1 attempts:1\n")
    script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, str(resolver), *command]


def _serve(server: socket.socket, name: str, addresses: list[str], done: threading.Event) -> None:
    while not done.is_set():
        try:
            query, client = server.recvfrom(QUERY_BYTES_MAX)
        except TimeoutError:
            continue
        server.sendto(answer(query, name, addresses), client)


def answer(query: bytes, name: str, addresses: list[str]) -> bytes:
    """RFC 1035, section 4: the question again, and a record for each address."""
    question, asked, kind = _question(query)
    known = asked == name and kind == TYPE_A
    records = [
        struct.pack(">HHHIH", POINTER_TO_QUESTION, TYPE_A, CLASS_IN, TTL_SECONDS, 4) + socket.inet_aton(address)
        for address in addresses
        if known
    ]
    flags = FLAGS_ANSWER if known else FLAGS_NO_SUCH_NAME
    return query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)


def _question(query: bytes) -> tuple[bytes, str, int]:
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    end = at + 5
    return query[12:end], ".".join(labels).lower(), int.from_bytes(query[at + 1 : at + 3])
