#!/usr/bin/env python3
"""Compares Till with its peers on this machine, all in one run, and writes the ratios to `docs/performance.md`.

Each round makes every measurement once, one at a time; the ratios are those of one round, and what is printed is the
median of the rounds with the least and the greatest. See README.md here.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

import build
import machine
import measurements
import report

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that everything is stopped and removed.
    names = options.only or measurements.ORDER
    subprocess.run([Path(__file__).with_name("ensure-peers"), *needs(names)], check=True)
    server, peers = build.till_and_peers(ROOT)
    directory = options.directory or default_directory()
    Path(directory).mkdir(parents=True, exist_ok=True)
    if machine.is_in_memory(directory):
        sys.exit(f"peers: {directory} is in memory, where a sync costs nothing: name another with --directory")
    results = run(options, names, server, peers, directory)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    text = report.generated(results)
    print(text)
    if options.write and not options.only:
        report.write(DOCUMENT, text)
        print(f"written to {DOCUMENT.relative_to(ROOT)}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each measurement is made (3)")
    parser.add_argument("--seconds", type=int, default=8, help="how long one measurement lasts (8)")
    parser.add_argument("--patience", type=int, default=0, metavar="SECONDS",
                        help="for how long measurements wait, or are made again, when others use the machine (0)")
    parser.add_argument("--only", nargs="+", choices=measurements.ORDER, metavar="MEASUREMENT",
                        help="some measurements, see README.md; nothing is written then")
    parser.add_argument("--directory", type=Path, help="where data goes, on the disk to measure (below cargo's target)")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/performance.md as it is")
    return parser.parse_args()


def needs(names):
    wanted = []
    if any(name in ("noop", "rocksdb") or name.startswith("till") for name in names) or "fdatasync" in names:
        wanted.append("wrk")
    if any(name.startswith("postgres") for name in names):
        wanted.append("postgresql")
    return wanted


def default_directory():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "tmp"


def run(options, names, server, peers, directory):
    scratch = Path(tempfile.mkdtemp(prefix="peers-", dir=directory))
    scratch.chmod(0o755)  # PostgreSQL runs as another user.
    # Copies: whoever builds meanwhile changes nothing.
    server, peers = (Path(shutil.copy(program, scratch)) for program in (server, peers))
    rounds, busy = [], []
    deadline = time.monotonic() + options.patience
    described_machine = machine.describe(directory)
    try:
        with measurements.prepared(server, peers, scratch / "run", options.seconds, names) as bench:
            for number in range(options.rounds):
                # Every other round backwards: what runs behind what should not matter.
                order = names if number % 2 == 0 else list(reversed(names))
                rounds.append({})
                busy.append([])
                for name in order:
                    rounds[-1][name], others = measure(bench, name, number, deadline)
                    busy[-1].append(others)
            described = getattr(bench, "described", None)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return {
        "machine": described_machine, "seconds": options.seconds, "others_used": busy, "rounds": rounds,
        "batch": described, "postgres": postgres_version(names),
    }


def measure(bench, name, number, deadline):
    """Measures, again and again until nobody else used the machine or the patience is at its end."""
    while True:
        before = machine.wait_until_quiet(deadline)
        start = time.monotonic()
        result = getattr(bench, name)()
        took = time.monotonic() - start
        busy = max(before, machine.busy_processors())
        others = f"{took:.0f} s, others used {busy:.1f} processors"
        print(f"round {number + 1}: {name}: {json.dumps(result)} ({others})", file=sys.stderr, flush=True)
        if busy <= machine.QUIET or time.monotonic() > deadline:
            return result, busy


def postgres_version(names):
    import postgres
    return postgres.version() if any(name.startswith("postgres") for name in names) else None


if __name__ == "__main__":
    main()
