"""A WebSocket of few words: texts, and pings answered."""

import base64
import os
import socket
from collections.abc import Iterable

from .programs import DEADLINE_SECONDS, HOST

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
FINAL, MASKED = 0x80, 0x80


class Refused(Exception):
    """No socket; the status says why."""

    def __init__(self, status: int):
        super().__init__(f"answered {status}")
        self.status = status


class WebSocket:
    """Phoenix V2's socket on some port of a host; `source` is the address that it comes from, `options` are the
    system's, set before it connects."""

    def __init__(
        self,
        port: int,
        path: str = "/socket/websocket",
        source: str = "",
        options: Iterable[tuple[int, int, int]] = (),
        host: str = HOST,
    ):
        self.socket = socket.socket()
        self.socket.settimeout(DEADLINE_SECONDS)
        for option in options:
            self.socket.setsockopt(*option)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((host, port))
        self.stream = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        separator = "&" if "?" in path else "?"
        self.socket.sendall(
            f"GET {path}{separator}vsn=2.0.0 HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        status = int(self.stream.readline().split()[1])
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        if status != 101:
            self.close()
            raise Refused(status)

    def wait_forever(self) -> None:
        """From now on a quiet server is none that is broken."""
        self.socket.settimeout(None)

    def send(self, text: str) -> None:
        self._send(TEXT, text.encode())

    def _send(self, kind: int, payload: bytes) -> None:
        # A masking key of zeros leaves the text as it is (RFC 6455 section 5.3).
        short = len(payload) < 126
        length = bytes([MASKED | len(payload)]) if short else bytes([MASKED | 126, *len(payload).to_bytes(2, "big")])
        self.socket.sendall(bytes([FINAL | kind]) + length + bytes(4) + payload)

    def receive(self) -> str | None:
        """The next text; nothing once the server has closed."""
        while len(head := self.stream.read(2)) == 2:
            kind, length = head[0] & 0xF, head[1]
            if length >= 126:
                length = int.from_bytes(self.stream.read(2 if length == 126 else 8), "big")
            payload = self.stream.read(length)
            if len(payload) < length:
                break
            if kind == TEXT:
                return payload.decode()
            if kind == CLOSE:
                break
            if kind == PING:
                self._send(PONG, payload)
        return None

    def cut(self) -> None:
        """Ends the connection without a word; `receive` ends with it."""
        self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.socket.close()
        self.stream.close()
