"""Sends every WebSocket message back, with `websockets`. Listens on a free port until its standard input ends."""

import asyncio
import sys

from websockets.asyncio.server import serve


async def echo(connection):
    async for message in connection:
        await connection.send(message)


async def main():
    async with serve(echo, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        print(f"listening 127.0.0.1:{port}", flush=True)
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
