"""A private PostgreSQL cluster for one run, on a socket that only its user reaches, with fair settings."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent / "postgres"
USER = "postgres"
MERCHANTS = 64

SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "listen_addresses": "''",
    "max_connections": "200",
    "shared_buffers": "1GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "wal_buffers": "64MB",
    "max_wal_size": "16GB",
    "min_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "jit": "off",
    "logging_collector": "off",
}


def programs():
    """Where the newest installed server's programs are; PostgreSQL's package keeps them off the search path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def version():
    done = subprocess.run([programs() / "postgres", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Cluster:
    """A cluster with the tables of a payment."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.socket = Path(tempfile.mkdtemp(prefix="till-pg-"))  # Paths of sockets are short.
        self.as_user = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []

    def create(self):
        self.directory.mkdir()
        if self.as_user:
            shutil.chown(self.directory, USER)
            shutil.chown(self.socket, USER)
        data = self.directory / "cluster"
        command = ["initdb", "-D", data, "-U", USER, "--auth=trust", "--wal-segsize=64"]
        self._run(*command, "--encoding=UTF8", "--locale=C")
        self.start()
        self.sql((HERE / "schema.sql").read_text())
        self.sql((HERE / "functions.sql").read_text())

    def start(self):
        options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        options += f" -c unix_socket_directories={self.socket}"
        log = self.directory / "log"
        self._run("pg_ctl", "start", "-w", "-D", self.directory / "cluster", "-l", log, "-o", options)

    def stop(self):
        if (self.directory / "cluster" / "postmaster.pid").exists():
            self._run("pg_ctl", "stop", "-w", "-m", "fast", "-D", self.directory / "cluster")

    def remove(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.socket, ignore_errors=True)

    def sql(self, text):
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.socket, "-U", USER, "-d", "postgres"]
        self._run(*command, stdin=text)

    def fill(self, merchants, sessions):
        """Empties the tables, and makes sessions for everything that may be measured."""
        self.sql(f"SELECT refill({merchants}, {sessions}); VACUUM ANALYZE session; VACUUM ANALYZE merchant;")

    def measure(self, script, merchants, clients, seconds):
        """One run of pgbench: payments a second, and milliseconds for one."""
        command = ["pgbench", "-n", "-h", self.socket, "-U", USER, "-M", "prepared", "-T", seconds]
        command += ["-c", clients, "-j", min(2, clients), "-f", HERE / f"{script}.sql"]
        command += ["-D", f"merchants={merchants}", "-D", f"clients={clients}", "-D", "n=0", "postgres"]
        out = self._run(*command)
        failed = re.search(r"number of failed transactions: (\d+)", out)
        if failed and int(failed[1]):
            raise RuntimeError(f"payments failed in PostgreSQL: {out}")
        self.sql("SELECT check_books()")
        return {
            "rate": float(re.search(r"tps = ([\d.]+) \(without", out)[1]),
            "latency_ms": float(re.search(r"latency average = ([\d.]+) ms", out)[1]),
        }

    def _run(self, program, *arguments, stdin=None):
        command = [*self.as_user, str(programs() / program), *map(str, arguments)]
        # To a file: a server that is started would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(command, input=stdin, stdout=output, stderr=subprocess.STDOUT, text=True, cwd="/")
            output.seek(0)
            text = output.read()
        if done.returncode:
            raise RuntimeError(f"{program} failed: {text}")
        return text


@contextlib.contextmanager
def cluster(directory):
    """A cluster that is stopped, and goes at the end."""
    made = Cluster(directory)
    try:
        made.create()
        made.stop()
        yield made
    finally:
        made.remove()
