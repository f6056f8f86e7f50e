"""Builds what is measured, as `make optimized` does, and says where it is."""

import json
import subprocess
from pathlib import Path

OPTIMIZED = Path(__file__).resolve().parents[2] / "tools" / "optimized"


def cargo(root, *targets):
    """Builds targets of the package and gives their executables by name. The workspace's own code is compiled for
    speed; RocksDB is not compiled again for it."""
    command = [OPTIMIZED, "build", "--package", "till", *targets, "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [message for message in messages if message.get("reason") == "compiler-artifact" and message["executable"]]
    return {message["target"]["name"]: Path(message["executable"]) for message in built}


def till_and_peers(root):
    """The server, and the peers that are programs of our own."""
    executables = cargo(root, "--bin", "till", "--bench", "peers")
    return executables["till"], executables["peers"]
