"""Clients that make a server keep as much as they can: of what they do not read, of what they do not end, and of themselves."""

import contextlib
import resource
import socket
import time
from pathlib import Path

from harness.websocket import FINAL, MASKED, TEXT, Refused, WebSocket

# As over a network: on the loopback device the kernel would take some megabytes for each of them, before the server keeps
# anything.
SEGMENT = (socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1400)
SMALL_WINDOW = (socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
# What the client's own side of the connection keeps: the kernel tells the buffers of all the machine's sockets only, and half of
# what a hundred clients had yet to send would be taken for the server's.
SMALL_QUEUE = (socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
# Together less than what a server without a budget keeps for one who does not read: nearly a mebibyte.
ECHO_BYTES = 32 << 10
ECHOES = 30
# Much of a message of which the rest never comes.
MESSAGE_BYTES = 2 << 20
BEGUN_BYTES = 900 << 10
# The server looks at its memory ten times a second: all of them at once would meet a single look.
PAUSE_SECONDS = 0.005


def raise_descriptor_limit() -> None:
    """For the clients, and for the server, which has it from here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def member(port: int, topic: str, *options: tuple[int, int, int]) -> WebSocket:
    """Somebody who has joined a room."""
    client = WebSocket(port, options=options)
    client.send(f'["1","1","{topic}","phx_join",{{}}]')
    # The reply is the first frame of a join.
    answer = client.receive()
    assert answer is not None and '"status":"ok"' in answer, answer
    return client


def slow_readers(port: int, count: int, *options: tuple[int, int, int]) -> list[WebSocket]:
    """Each asks for much and reads none of it. The server may end them before they have asked for all. Without the options
    of a network the kernel keeps all of it for them, if it may."""
    topic = "rooms:slow"
    clients = [member(port, topic, SMALL_WINDOW, *options) for _ in range(count)]
    text = "x" * ECHO_BYTES
    for client in clients:
        with contextlib.suppress(OSError):
            for reference in range(ECHOES):
                client.send(f'["1","{reference + 2}","{topic}","echo",{{"text":"{text}"}}]')
    return clients


def unread_bytes(port: int) -> int:
    """What the kernel keeps of what was sent from this port and not acknowledged, as it says itself (proc(5), /proc/net/tcp)."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # A listener's number is another.
    sent = (queues for _, local, _, state, queues, *_ in lines if state != "0A" and local.endswith(f":{port:04X}"))
    return sum(int(queues.split(":")[0], 16) for queues in sent)


def beginners(port: int, count: int) -> list[WebSocket]:
    """Each begins a long message and does not end it. The server may end them before."""
    clients = [member(port, "rooms:begun", SEGMENT, SMALL_QUEUE) for _ in range(count)]
    head = bytes([FINAL | TEXT, MASKED | 127, *MESSAGE_BYTES.to_bytes(8, "big"), 0, 0, 0, 0])
    for client in clients:
        with contextlib.suppress(OSError):
            client.socket.sendall(head + b" " * BEGUN_BYTES)
    return clients


def newcomers(port: int, most: int, refusals: int) -> tuple[list[WebSocket], list[int]]:
    """Comes and comes again, into a hundred rooms, until so many were refused or so many have come; who is in, and the
    statuses of the refusals."""
    clients: list[WebSocket] = []
    refused: list[int] = []
    while len(clients) < most and len(refused) < refusals:
        try:
            clients.append(member(port, f"rooms:{len(clients) % 100}"))
        except Refused as refusal:
            refused.append(refusal.status)
            time.sleep(PAUSE_SECONDS)
    return clients, refused
