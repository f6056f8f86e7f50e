"""Notices: events that are sent to the endpoint of their account, signed, and sent again until they are taken.

A test may have them lost, doubled, delayed (and so out of order), signed by `v0` only, wrongly, or as if they were old.
"""

import concurrent.futures
import hashlib
import hmac
import http.client
import json
import random
import threading
import time
import urllib.parse

import accounts

SETTINGS = {
    "seed": 1,
    "lost": 0.0,
    "doubled": 0.0,
    "delayed": 0.0,
    "delay_seconds": 2.0,
    "signature": "v1",
    "age_seconds": 0.0,
    "retry_seconds": 1.0,
    "attempts_max": 8,
}
SIGNATURES = ("v1", "v0", "wrong", "two")
ANSWER_WITHIN_SECONDS = 10
LOOK_EVERY_SECONDS = 0.05
AT_ONCE = 16


def settings(store):
    return SETTINGS | store.setting("notices", {})


def queue(store, event_id, account_id, livemode):
    """Queues an event as the settings want it: once, twice or not at all, now or later."""
    wanted = settings(store)
    number = store.row("SELECT count(*) AS count FROM notices")["count"]
    draw = random.Random(f"{wanted['seed']}/{number}")
    state = "lost" if draw.random() < wanted["lost"] else "waiting"
    for _ in range(2 if draw.random() < wanted["doubled"] else 1):
        late = draw.uniform(0, wanted["delay_seconds"]) if draw.random() < wanted["delayed"] else 0
        add(store, event_id, account_id, livemode, state, late, wanted["signature"], wanted["age_seconds"])


def send(store, wish):
    """Queues the event of an id, or an object's latest, as a test asks: `signature`, `age_seconds`, `times`."""
    wanted = wish.get("event") or wish["object"]
    row = store.row(
        "SELECT id, account, livemode FROM objects WHERE kind = 'event' AND (id = ?1 OR "
        "json_extract(body, '$.data.object.id') = ?1) ORDER BY sequence DESC LIMIT 1", wanted,
    )
    if row is None:
        raise ValueError(f"there is no event of {wanted}")
    how = [wish.get("signature", "v1"), wish.get("age_seconds", 0)]
    for _ in range(wish.get("times", 1)):
        add(store, row["id"], row["account"], row["livemode"], "waiting", 0, *how)


def add(store, event_id, account_id, livemode, state, late_seconds, signature, age_seconds):
    if signature not in SIGNATURES:
        raise ValueError(f"a signature is one of {', '.join(SIGNATURES)}")
    store.execute(
        "INSERT INTO notices (event, account, livemode, due_at, state, signature, age_seconds) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        event_id, account_id, livemode, time.time() + late_seconds, state, signature, age_seconds,
    )


def header(body, secret, scheme, age_seconds):
    """`Stripe-Signature`: the time and an HMAC of it and the body. The time is the machine's, whatever the offset."""
    at = int(time.time() - age_seconds)
    right = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    wrong = hmac.new(b"another secret", body, hashlib.sha256).hexdigest()
    parts = {
        "v1": [f"v1={right}"], "v0": [f"v0={right}"], "wrong": [f"v1={wrong}"], "two": [f"v1={wrong}", f"v1={right}"]
    }
    return ",".join([f"t={at}", *parts[scheme]])


class Sender:
    """Threads that send what is due."""

    def __init__(self, store):
        self.store = store
        self.stopping = threading.Event()
        self.pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE, thread_name_prefix="notices")
        self.under_way = set()
        threading.Thread(target=self.run, name="notices", daemon=True).start()

    def stop(self):
        self.stopping.set()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def run(self):
        while not self.stopping.wait(LOOK_EVERY_SECONDS):
            for notice in self.due():
                self.pool.submit(self.send, notice)

    def due(self):
        statement = "SELECT * FROM notices WHERE state = 'waiting' AND due_at <= ? ORDER BY due_at LIMIT 100"
        with self.store.lock:
            found = [row for row in self.store.rows(statement, time.time()) if row["id"] not in self.under_way]
            self.under_way.update(row["id"] for row in found)
        return found

    def send(self, notice):
        try:
            status = self.post(notice)
            with self.store.transaction():
                self.record(notice, status)
        finally:
            with self.store.lock:
                self.under_way.discard(notice["id"])

    def post(self, notice):
        """The status that the endpoint answers, or None without an answer."""
        with self.store.lock:
            account = accounts.find(self.store, notice["account"])
            body = self.store.row("SELECT body FROM objects WHERE id = ?", notice["event"])["body"].encode()
        endpoint = next((one for one in account["webhooks"] if one["livemode"] == notice["livemode"]), None)
        if endpoint is None:
            return None
        signature = header(body, endpoint["secret"], notice["signature"], notice["age_seconds"])
        headers = {"Content-Type": "application/json; charset=utf-8", "Stripe-Signature": signature}
        try:
            return posted(endpoint["url"], body, headers | {"User-Agent": "Stripe/1.0 (a fake of it)"})
        except (OSError, http.client.HTTPException):
            return None

    def record(self, notice, status):
        wanted = settings(self.store)
        attempts = notice["attempts"] + 1
        taken = status is not None and 200 <= status < 300
        state = "taken" if taken else "given_up" if attempts >= wanted["attempts_max"] else "waiting"
        due_at = time.time() + wanted["retry_seconds"] * 2**notice["attempts"]
        self.store.execute(
            "UPDATE notices SET state = ?, attempts = ?, due_at = ?, last_status = ? WHERE id = ?",
            state, attempts, due_at, status, notice["id"],
        )
        if taken:
            self.lower_pending(notice["event"])

    def lower_pending(self, event_id):
        row = self.store.row("SELECT body FROM objects WHERE id = ?", event_id)
        event = json.loads(row["body"])
        event["pending_webhooks"] = 0
        self.store.execute("UPDATE objects SET body = ? WHERE id = ?", json.dumps(event), event_id)


def posted(url, body, headers):
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=ANSWER_WITHIN_SECONDS)
    try:
        connection.request("POST", parts.path + (f"?{parts.query}" if parts.query else ""), body, headers)
        return connection.getresponse().status
    finally:
        connection.close()
