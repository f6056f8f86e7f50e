"""localstripe on a free port of 127.0.0.1 alone, with its objects in memory alone. By itself it listens at every
address of the machine, and writes all of its objects to a file in /tmp after each change. Prints where it listens."""

import socket

from aiohttp import web
from localstripe import resources, server


def main():
    resources.Store.dump_to_disk = lambda _: None
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"127.0.0.1:{listener.getsockname()[1]}", flush=True)
    web.run_app(server.app, sock=listener, print=None, access_log=None)


if __name__ == "__main__":
    main()
