"""A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back."""

import argparse
import asyncio
import resource

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

BACKLOG = 8192
MESSAGE_BYTES_MAX = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="the port of 127.0.0.1 to listen on")
    port = parser.parse_args().port
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    uvloop.run(listen(port))


async def listen(port: int) -> None:
    audience: set[ServerConnection] = set()

    async def talk(connection: ServerConnection) -> None:
        if connection.request.path == "/broadcast":
            await hear_and_tell(connection, audience)
        else:
            await echo(connection)

    settings = {"compression": None, "ping_interval": None, "max_size": MESSAGE_BYTES_MAX, "backlog": BACKLOG}
    async with serve(talk, "127.0.0.1", port, **settings) as server:
        await server.serve_forever()


async def echo(connection: ServerConnection) -> None:
    try:
        async for message in connection:
            await connection.send(message)
    except ConnectionClosed:
        pass  # It went without a farewell.


async def hear_and_tell(connection: ServerConnection, audience: set[ServerConnection]) -> None:
    audience.add(connection)
    try:
        async for message in connection:
            broadcast(audience, message)
    except ConnectionClosed:
        pass
    finally:
        audience.remove(connection)


if __name__ == "__main__":
    main()
