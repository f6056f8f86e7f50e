"""Builds what is measured, as `make optimized` does, and says where it is."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["till", "till-actors", "till-domain", "till-operate", "till-sandbox", "till-shared", "till-storage"]

# The release profile of this revision, on the command line: another revision is compiled in the same way.
PROFILE = ["lto=false", "overflow-checks=true", *(f"package.{name}.codegen-units=1" for name in PACKAGES)]


def cargo(root, *targets):
    """Builds targets of the package and gives their executables by name. RocksDB is what this checkout compiled."""
    command = ["cargo", "build", "--release", "--package", "till", *targets, "--message-format=json-render-diagnostics"]
    for setting in PROFILE:
        command += ["--config", f"profile.release.{setting}"]
    rocksdb = ROOT / ".cargo" / "rocksdb.toml"
    command += ["--config", rocksdb] if rocksdb.exists() else []
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [message for message in messages if message.get("reason") == "compiler-artifact" and message["executable"]]
    return {message["target"]["name"]: Path(message["executable"]) for message in built}


def till_and_peers(root):
    """The server, and the peers that are programs of our own."""
    executables = cargo(root, "--bin", "till", "--bench", "peers")
    return executables["till"], executables["peers"]
