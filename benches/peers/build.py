"""Builds what is measured, as `make bench` does, and says where it is."""

import json
import os
import subprocess
from pathlib import Path


def cargo(root, *targets):
    """Builds targets of the package and gives their executables by name. The workspace's own code is compiled at the
    highest level; RocksDB is not compiled again for it."""
    environment = {"CARGO_PROFILE_DEV_OPT_LEVEL": "3", **os.environ}
    command = ["cargo", "build", "--package", "till", *targets, "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [message for message in messages if message.get("reason") == "compiler-artifact" and message["executable"]]
    return {message["target"]["name"]: Path(message["executable"]) for message in built}


def till_and_peers(root):
    """The server, and the peers that are programs of our own."""
    executables = cargo(root, "--bin", "till", "--bench", "peers")
    return executables["till"], executables["peers"]
