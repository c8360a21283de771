"""NATS over WebSocket: the lines of its protocol in messages, and three subscribers who hear one publication.

The server's messages are binary; where one of them ends says nothing about where a line ends.
"""

import contextlib

from checker.websocket import BINARY, Message, WebSocket, Wrong

SUBJECT = "lobby"
SUBSCRIBERS = 3


class Client:
    """A connection that has subscribed: the server has answered the ping behind the subscription."""

    def __init__(self, address: str) -> None:
        self._socket = WebSocket(address)
        self._unread = b""
        self._say(b'CONNECT {"verbose":false,"pedantic":false,"protocol":1}\r\n')
        self._say(f"SUB {SUBJECT} 1\r\n".encode())
        self._say(b"PING\r\n")
        self._expect_line(b"PONG")

    def close(self) -> None:
        self._socket.close_socket()

    def publish(self, payload: bytes) -> None:
        self._say(f"PUB {SUBJECT} {len(payload)}\r\n".encode() + payload + b"\r\n")

    def expect(self, payload: bytes) -> None:
        self._expect_line(f"MSG {SUBJECT} 1 {len(payload)}".encode())
        while len(self._unread) < len(payload) + 2:
            self._unread += self._socket.receive().payload
        found, self._unread = self._unread[: len(payload) + 2], self._unread[len(payload) + 2 :]
        if found != payload + b"\r\n":
            raise Wrong(f"received {found[:40]!r} instead of the publication")

    def _say(self, data: bytes) -> None:
        self._socket.send(Message(BINARY, data))

    def _expect_line(self, start: bytes) -> None:
        """The server says at any time what it is (INFO): first of all, and when something of it has changed."""
        while (line := self._line()).startswith(b"INFO "):
            pass
        if not line.startswith(start):
            raise Wrong(f"received {line[:60]!r} instead of {start.decode()!r}")

    def _line(self) -> bytes:
        while b"\r\n" not in self._unread:
            self._unread += self._socket.receive().payload
        line, _, self._unread = self._unread.partition(b"\r\n")
        return line


def every_subscriber_hears_a_publication(address: str) -> None:
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(SUBSCRIBERS):
            clients.append(Client(address))
            stack.callback(clients[-1].close)
        for client in clients:
            for payload in (b"to all", bytes(65_536)):
                client.publish(payload)
                for subscriber in clients:
                    subscriber.expect(payload)


CONVERSATIONS = {"every subscriber receives a publication": every_subscriber_hears_a_publication}
