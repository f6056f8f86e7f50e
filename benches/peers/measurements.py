"""Each measurement: one run of one peer, alone on the machine, in a directory of its own that goes afterwards."""

import contextlib
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import load
import postgres
import till

MERCHANTS = 64
CONNECTIONS = 256
# Clients of PostgreSQL; the best is taken. With one merchant more clients only queue for its row.
CLIENTS = {MERCHANTS: (8, 16, 64), 1: (1, 4, 16)}
GROUPS = (1, 16, 64, 256, 512)
# Payments whose batches RocksDB writes again.
HARVEST_SECONDS = 4


class Bench:
    """What the measurements share: the programs, a directory on the store's disk, how long each lasts."""

    def __init__(self, server, peers, directory, seconds):
        self.server, self.peers, self.seconds = server, peers, seconds
        self.directory = Path(directory)
        self.cluster = None
        # Payments a second that sessions are made for: known better after each run.
        self.expected = {}
        self.sync_bytes = None

    def noop(self):
        """The ceiling, with requests of the very form that Till gets."""
        with self._some_requests() as requests, self._noop() as address:
            seen = load.initiate(address, requests, CONNECTIONS, self.seconds, again=True)
            alone = load.initiate(address, requests, 1, 2, again=True)
        return {"rate": _rate(seen), "p50_micros": alone["p50_micros"]}

    def till_many(self):
        return self._till(MERCHANTS)

    def till_hot(self):
        return self._till(1)

    def _till(self, merchants):
        directory = self.directory / "till"
        with till.running(self.server, directory, merchants) as server:
            sessions = directory / "sessions"
            self._warm_up(server, sessions, merchants)
            before = server.captured()
            server.make_sessions(self.peers, int(self.expected[merchants] * self.seconds), sessions)
            seen = load.initiate(server.public, sessions, CONNECTIONS, self.seconds)
            lag = server.wait_for(before + seen["answers"])
        if seen["ran_out"]:
            self.expected[merchants] *= 2
            return self._till(merchants)
        self.expected[merchants] = max(self.expected[merchants], 1.6 * _rate(seen))
        # What counts is how many were paid until the last one was captured.
        kept_up = seen["answers"] / (seen["micros"] / 1e6 + lag)
        return {"rate": kept_up, "answered": _rate(seen), "lag_seconds": lag, "p99_micros": seen["p99_micros"]}

    def _warm_up(self, server, sessions, merchants):
        """A short run first: actors are started, and it shows how many sessions a longer one takes."""
        server.make_sessions(self.peers, 20_000, sessions)
        seen = load.initiate(server.public, sessions, CONNECTIONS, 1)
        self.expected.setdefault(merchants, max(1_000, 2 * _rate(seen)))
        time.sleep(1)  # What the cut-off calls started comes to its end.
        server.wait_for(seen["answers"])

    def till_alone(self):
        """One connection."""
        directory = self.directory / "till"
        with till.running(self.server, directory, MERCHANTS) as server:
            sessions = directory / "sessions"
            server.make_sessions(self.peers, self.seconds * 2_500, sessions)
            seen = load.initiate(server.public, sessions, 1, self.seconds)
        return {"rate": _rate(seen), "p50_micros": seen["p50_micros"], "p99_micros": seen["p99_micros"]}

    def fdatasync(self):
        command = ["fdatasync", "--directory", self.directory, "--bytes", self._sync_bytes()]
        return self._peer(*command, "--seconds", max(3, self.seconds // 2))[0]

    def _sync_bytes(self):
        """What one initiation writes to RocksDB's log, seen in a real one."""
        if self.sync_bytes is None:
            with self._killed_store() as data:
                self.described = self._peer("describe", "--from", data)[0]
            self.sync_bytes = self.described["initiation"]["median_bytes"]
        return self.sync_bytes

    def rocksdb(self):
        with self._killed_store() as data:
            groups = ",".join(map(str, GROUPS))
            command = ["rocksdb", "--from", data, "--directory", self.directory, "--groups", groups]
            lines = self._peer(*command, "--seconds", max(2, self.seconds // 4))
        by_group = {line["group"]: line["payments_per_second"] for line in lines}
        return {"rate": max(by_group.values()), "by_group": by_group}

    @contextlib.contextmanager
    def _killed_store(self):
        """A store whose log holds nothing but payments: flushed before them, killed after them."""
        directory = self.directory / "harvest"
        with till.running(self.server, directory, MERCHANTS) as server:
            sessions = directory / "sessions"
            server.make_sessions(self.peers, HARVEST_SECONDS * 2_500, sessions)
            server.stop()
            server.start()
            seen = load.initiate(server.public, sessions, 1, HARVEST_SECONDS)
            server.wait_for(seen["answers"])
            # What follows from the last payment, cut off unanswered, is the one commit that no initiation is a part of.
            time.sleep(1)
            server.stop(signal.SIGKILL)
            yield server.data

    def postgres_statements(self):
        return self._postgres("statements", MERCHANTS)

    def postgres_statements_hot(self):
        return self._postgres("statements", 1)

    def postgres_functions(self):
        return self._postgres("two_functions", MERCHANTS)

    def postgres_functions_hot(self):
        return self._postgres("two_functions", 1)

    def postgres_one_function(self):
        return self._postgres("one_function", MERCHANTS)

    def postgres_one_function_hot(self):
        return self._postgres("one_function", 1)

    def _postgres(self, script, merchants):
        rates = {}
        seconds = max(3, self.seconds // 2)
        self.cluster.start()
        try:
            for clients in CLIENTS[merchants]:
                self.cluster.fill(merchants, 20_000 * seconds)
                rates[clients] = self.cluster.measure(script, merchants, clients, seconds)["rate"]
        finally:
            self.cluster.stop()
        best = max(rates, key=rates.get)
        return {"rate": rates[best], "clients": best, "by_clients": rates}

    @contextlib.contextmanager
    def _some_requests(self):
        """Keys and sessions of the form of real ones, for a handler that looks at neither."""
        file = self.directory / "requests"
        with till.running(self.server, self.directory / "till", MERCHANTS) as server:
            server.make_sessions(self.peers, 4_096, file)
        yield file
        file.unlink()

    @contextlib.contextmanager
    def _noop(self):
        process = subprocess.Popen([str(self.peers), "noop"], stdout=subprocess.PIPE, text=True)
        try:
            yield process.stdout.readline().strip().rpartition("/")[2]
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()

    def _peer(self, *arguments):
        command = [str(self.peers), *map(str, arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


# In the order of a round. What is compared stands close together, so that both see the same machine.
ORDER = [
    "noop", "till_many", "till_hot", "postgres_functions", "postgres_functions_hot", "postgres_one_function",
    "postgres_one_function_hot", "postgres_statements", "postgres_statements_hot", "fdatasync", "till_alone", "rocksdb",
]


def _rate(seen):
    return seen["answers"] * 1e6 / seen["micros"]


@contextlib.contextmanager
def prepared(server, peers, directory, seconds, names):
    """Everything that the measurements need, and nothing of it afterwards."""
    directory = Path(directory)
    directory.mkdir(parents=True)
    bench = Bench(server, peers, directory, seconds)
    try:
        with contextlib.ExitStack() as stack:
            if any(name.startswith("postgres") for name in names):
                bench.cluster = stack.enter_context(postgres.cluster(directory / "postgres"))
            yield bench
    finally:
        shutil.rmtree(directory, ignore_errors=True)
