"""Everything that the fake must not forget, in one SQLite file: what was answered is there after a kill -9.

One transaction holds all that a request changes, its idempotency key and its line in the list of requests, and it is
committed before the answer leaves. One request at a time executes.
"""

import contextlib
import json
import sqlite3
import threading
import time

SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS secrets (secret TEXT PRIMARY KEY, account TEXT NOT NULL, livemode INTEGER NOT NULL,
    revoked INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS objects (sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL,
    account TEXT NOT NULL, livemode INTEGER NOT NULL, kind TEXT NOT NULL, intent TEXT, created INTEGER NOT NULL,
    body TEXT NOT NULL, private TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS objects_of_account ON objects (account, livemode, kind, sequence);
CREATE INDEX IF NOT EXISTS objects_of_intent ON objects (intent, kind);
CREATE TABLE IF NOT EXISTS keys (account TEXT NOT NULL, livemode INTEGER NOT NULL, key TEXT NOT NULL,
    path TEXT NOT NULL, parameters TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL, created REAL NOT NULL,
    PRIMARY KEY (account, livemode, key));
CREATE TABLE IF NOT EXISTS timers (name TEXT NOT NULL, object TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (name, object));
CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, intent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cards (number TEXT PRIMARY KEY, outcome TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS notices (id INTEGER PRIMARY KEY, event TEXT NOT NULL, account TEXT NOT NULL,
    livemode INTEGER NOT NULL, due_at REAL NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL,
    signature TEXT NOT NULL, age_seconds REAL NOT NULL DEFAULT 0, last_status INTEGER);
CREATE INDEX IF NOT EXISTS notices_due ON notices (state, due_at);
CREATE TABLE IF NOT EXISTS planned_faults (id INTEGER PRIMARY KEY, plan TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY, at REAL NOT NULL, account TEXT, method TEXT NOT NULL,
    route TEXT NOT NULL, path TEXT NOT NULL, key TEXT, status INTEGER, replayed INTEGER NOT NULL, fault TEXT,
    form TEXT);
"""


class Store:
    """The file. Methods other than `transaction` and `now` are called within a transaction."""

    def __init__(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        self.lock = threading.RLock()
        self.connection = sqlite3.connect(directory / "state.sqlite", isolation_level=None, check_same_thread=False)
        self.connection.row_factory = sqlite3.Row
        # Written pages survive the death of the process, and the fake need not survive that of the machine.
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(SCHEMA)

    @contextlib.contextmanager
    def transaction(self):
        """All of what is changed within it, or, after an exception, nothing."""
        with self.lock:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def execute(self, statement, *values):
        return self.connection.execute(statement, values)

    def rows(self, statement, *values):
        return self.execute(statement, *values).fetchall()

    def row(self, statement, *values):
        return self.execute(statement, *values).fetchone()

    def setting(self, name, default=None):
        with self.lock:
            row = self.row("SELECT value FROM settings WHERE name = ?", name)
        return default if row is None else json.loads(row["value"])

    def set(self, name, value):
        self.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, json.dumps(value))

    def now(self):
        """The fake's time in seconds since 1970: the machine's, and the offset that a test has set."""
        return time.time() + self.setting("clock_offset_seconds", 0)

    def set_timer(self, name, object_id, at):
        self.execute("INSERT OR REPLACE INTO timers VALUES (?, ?, ?)", name, object_id, at)

    def end_timer(self, name, object_id):
        self.execute("DELETE FROM timers WHERE name = ? AND object = ?", name, object_id)
