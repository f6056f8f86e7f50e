"""What the figures were taken on."""

import datetime
import os
import platform
import subprocess
import time
from pathlib import Path

# Processors that others may use beside a measurement; some of it is the kernel's, for what ran before.
QUIET = 0.2


def describe(directory):
    """Rows of a table: what, and what it is."""
    return [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("processor", f"{os.cpu_count()} × {_line('/proc/cpuinfo', 'model name')}"),
        ("memory", f"{int(_line('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.1f} GiB"),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("file system", _file_system(directory)),
        ("revision", _revision()),
    ]


def busy_processors():
    """How many processors are in use, watched for a second. While nothing of ours runs, it is others that use them."""
    idle_before = _idle_seconds()
    start = time.monotonic()
    time.sleep(1)
    idle = (_idle_seconds() - idle_before) / (time.monotonic() - start)
    return max(0.0, os.cpu_count() - idle)


def wait_until_quiet(deadline):
    """Waits until others hardly use the machine, but not beyond a moment; gives what they use in the end."""
    busy = busy_processors()
    while busy > QUIET and time.monotonic() < deadline:
        busy = busy_processors()
    return busy


def _idle_seconds():
    """Processor seconds since the start of the machine in which nothing was to be done, or a disk was waited for."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def is_in_memory(directory):
    return _mount(directory)[1] in ("tmpfs", "ramfs")


def _line(file, name):
    for line in Path(file).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"


def _mount(directory):
    command = ["findmnt", "--noheadings", "--output", "SOURCE,FSTYPE,OPTIONS", "--target", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout.split() + ["unknown"] * 3)[:3]


def _file_system(directory):
    source, kind, options = _mount(directory)
    return f"{kind} on {source} ({options})"


def _revision():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
