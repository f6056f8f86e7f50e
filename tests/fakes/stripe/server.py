#!/usr/bin/env python3
"""A stateful fake of the part of Stripe's API that the connector uses; see README.md.

    python3 tests/fakes/stripe/server.py --listen 127.0.0.1:0 --state DIRECTORY

Prints one line when it is ready, `listening on http://ADDRESS:PORT`. It may be killed at any moment and started again
on the same directory: what was answered is there.
"""

import argparse
import signal
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True

from api import Api
from control import Control
from notices import Sender
from pages import Pages
from store import Store
from timers import Clock
from web import Server


def main():
    options = parse()
    store = Store(options.state)
    server = Server(options.listen)
    api = Api(store, server.base)
    server.sites = [
        ("/v1/", api), ("/_fake/", Control(store, server.base, api)), ("/", Pages(store, server.base)),
    ]
    running = [Sender(store), Clock(store, server.base)]
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"listening on {server.base}", flush=True)
    server.serve_forever(poll_interval=0.1)
    for thread in running:
        thread.stop()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listen", type=listen_address, required=True, help="ADDRESS:PORT; port 0 takes a free one")
    parser.add_argument("--state", type=Path, required=True, help="the directory that keeps the state")
    return parser.parse_args()


def listen_address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    main()
