"""A WebSocket client that does as it is told and trusts nobody (RFC 6455).

It must never hide what a server does wrong: what is not in the RFC is Wrong, not repaired.
"""

import base64
import hashlib
import os
import socket
import struct
from dataclasses import dataclass
from typing import BinaryIO

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
NAMES = {TEXT: "text", BINARY: "binary", CLOSE: "close", PING: "ping", PONG: "pong"}

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
HEAD_BYTES_MAX = 16 << 10
MESSAGE_BYTES_MAX = 16 << 20

# For one word from a server that runs beside other work on a slow machine.
PATIENCE_S = 30


class Wrong(Exception):
    """What a server did that it must not do."""


@dataclass(frozen=True)
class Message:
    """A whole message, or a control frame."""

    opcode: int
    payload: bytes

    def __str__(self) -> str:
        shown = self.payload[:24]
        return f"{NAMES[self.opcode]} of {len(self.payload)} bytes ({shown!r}{'…' if len(self.payload) > 24 else ''})"


class WebSocket:
    """An open connection; use it as a context manager."""

    def __init__(self, address: str, path: str = "/") -> None:
        host, _, port = address.partition(":")
        try:
            self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        except OSError as error:
            raise Wrong(f"it does not accept a connection: {error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input: BinaryIO = self._socket.makefile("rb")
        try:
            self._upgrade(address, path)
        except BaseException:
            self.close_socket()
            raise

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_exception) -> None:
        self.close_socket()

    def close_socket(self) -> None:
        """Without a closing handshake."""
        self._input.close()
        self._socket.close()

    def send(self, *messages: Message) -> None:
        """All in one write."""
        self.send_bytes(b"".join(map(masked, messages)))

    def send_bytes(self, data: bytes) -> None:
        """As they are."""
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise Wrong(f"cannot send to it: {error}") from None

    def receive(self) -> Message:
        """The next message or control frame; fragments are put together."""
        opcode, parts, size = None, [], 0
        while True:
            fin, found, payload = self._frame()
            if found >= CLOSE:
                if not fin:
                    raise Wrong(f"it fragments a {NAMES[found]} frame")
                return Message(found, payload)
            if (found == CONTINUATION) == (opcode is None):
                raise Wrong(f"unexpected frame with opcode {found}")
            opcode = opcode or found
            parts.append(payload)
            size += len(payload)
            if size > MESSAGE_BYTES_MAX:
                raise Wrong("one of its messages is too large")
            if fin:
                return Message(opcode, b"".join(parts))

    def expect(self, wanted: Message) -> None:
        """The next message is this one."""
        found = self.receive()
        if found != wanted:
            raise Wrong(f"received {found} instead of {wanted}")

    def expect_end(self) -> None:
        """The server closes the TCP connection, without another word."""
        try:
            rest = self._input.read(1)
        except TimeoutError:
            raise Wrong("it leaves the connection open after the closing handshake") from None
        except OSError:
            return  # Reset: an end as well.
        if rest:
            raise Wrong("it sends data after the closing handshake")

    def _upgrade(self, address: str, path: str) -> None:
        key = base64.b64encode(os.urandom(16))
        request = (
            f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key.decode()}\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
        )
        self._socket.sendall(request.encode())
        status, headers = self._answer()
        if status.split(" ")[1:2] != ["101"]:
            raise Wrong(f"it answers the upgrade of {path} with {status!r}")
        accept = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()
        if headers.get("sec-websocket-accept") != accept:
            raise Wrong(f"its Sec-WebSocket-Accept is {headers.get('sec-websocket-accept')!r}, not {accept!r}")
        if extensions := headers.get("sec-websocket-extensions"):
            raise Wrong(f"it agrees to {extensions!r}; compression must be off")

    def _answer(self) -> tuple[str, dict[str, str]]:
        lines, size = [], 0
        while True:
            line = self._read(self._input.readline, HEAD_BYTES_MAX).decode("latin-1")
            size += len(line)
            if size > HEAD_BYTES_MAX or not line.endswith("\n"):
                raise Wrong("it does not answer the upgrade with an HTTP response")
            if not line.strip():
                break
            lines.append(line.strip())
        pairs = (line.partition(":") for line in lines[1:])
        return (lines or [""])[0], {name.lower(): value.strip() for name, _, value in pairs}

    def _frame(self) -> tuple[bool, int, bytes]:
        first, second = self._exactly(2)
        if first & 0x70:
            raise Wrong("it sets reserved bits")
        if second & 0x80:
            raise Wrong("it masks a frame")
        opcode, length = first & 0x0F, second & 0x7F
        if opcode != CONTINUATION and opcode not in NAMES:
            raise Wrong(f"it sends the unknown opcode {opcode}")
        if length == 126:
            (length,) = struct.unpack(">H", self._exactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._exactly(8))
        if length > MESSAGE_BYTES_MAX:
            raise Wrong(f"it announces a frame of {length} bytes")
        return bool(first & 0x80), opcode, self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        found = self._read(self._input.read, count)
        if len(found) < count:
            raise Wrong("it ends the connection")
        return found

    def _read(self, read, count: int) -> bytes:
        try:
            return read(count)
        except TimeoutError:
            raise Wrong(f"no data for {PATIENCE_S} s") from None
        except OSError as error:
            raise Wrong(f"the connection is lost: {error}") from None


def masked(message: Message) -> bytes:
    """A client's frame."""
    mask = os.urandom(4)
    return head(message, 0x80) + mask + apply_mask(message.payload, mask)


def head(message: Message, mask_bit: int = 0) -> bytes:
    """The first bytes of a frame that is a whole message."""
    length = len(message.payload)
    first = 0x80 | message.opcode
    if length < 126:
        return bytes((first, mask_bit | length))
    if length < 1 << 16:
        return struct.pack(">BBH", first, mask_bit | 126, length)
    return struct.pack(">BBQ", first, mask_bit | 127, length)


def apply_mask(payload: bytes, mask: bytes) -> bytes:
    """Its own inverse."""
    repeated = (mask * (len(payload) // 4 + 1))[: len(payload)]
    number = int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")
    return number.to_bytes(len(payload), "big")
