"""wrk with `initiate.lua`: one load generator for Till and for the no-op handler."""

import json
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).with_name("initiate.lua")


def initiate(address, sessions, connections, seconds, again=False):
    """Calls `initiate-payment-flow` as often as it goes; gives what wrk saw. Every answer must be a 200."""
    threads = min(2, connections)
    command = ["wrk", "-t", str(threads), "-c", str(connections), "-d", str(seconds), "--timeout", "30"]
    command += ["-s", str(SCRIPT), f"http://{address}", "--", str(sessions), str(threads), "again" if again else "once"]
    done = subprocess.run(command, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("result "):
            result = json.loads(line.removeprefix("result "))
            break
    else:
        raise RuntimeError(f"wrk failed: {done.stdout}{done.stderr}")
    if result["failed"]:
        raise RuntimeError(f"calls failed: {result}")
    return result
