"""What the figures were taken on."""

import datetime
import os
import platform
import subprocess
from pathlib import Path


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


def load():
    """How many processes wanted a processor during the last minute, on average."""
    return os.getloadavg()[0]


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
