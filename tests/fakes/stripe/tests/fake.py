"""The fake as a process, and a caller of it that knows nothing but HTTP."""

import base64
import http.client
import http.server
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

SERVER = Path(__file__).parents[1] / "server.py"
VERSION = "2026-10-28.endive"
RETURN = "https://shop.example/return"
WITHIN_SECONDS = 10
APPROVED, DECLINED, CHALLENGED = "4242424242424242", "4000000000009995", "4000002500003155"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __getitem__(self, name):
        return self.json[name]

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]

    @property
    def code(self):
        return self.error.get("code")


class Fake:
    """A running fake. `kill` is kill -9; `start` starts it again on the same port and state."""

    def __init__(self, directory):
        self.directory, self.port, self.process = directory, 0, None
        self.start()

    def start(self):
        command = [sys.executable, str(SERVER), "--listen", f"127.0.0.1:{self.port}", "--state", self.directory]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().strip().rpartition(":")[2])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def call(self, method, path, body=None, headers=None):
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN_SECONDS)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def control(self, method, path, wish=None):
        answer = self.call(method, f"/_fake/{path}", json.dumps(wish or {}))
        if answer.status != 200:
            raise AssertionError(answer.body)
        return answer.json


class Account:
    """A caller with a secret."""

    def __init__(self, fake, **wish):
        self.fake = fake
        registered = fake.control("POST", "accounts", wish)
        self.id, self.secret = registered["account"], registered["secret"]

    def change(self, **wish):
        return self.fake.control("POST", "accounts", {"account": self.id, **wish})

    def headers(self, key=None, version=VERSION):
        token = base64.b64encode(f"{self.secret}:".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "application/x-www-form-urlencoded"}
        headers |= {"Stripe-Version": version} if version else {}
        return headers | ({"Idempotency-Key": key} if key else {})

    def get(self, path, form=None, **how):
        query = f"?{encoded(form)}" if form else ""
        return self.fake.call("GET", f"/v1/{path}{query}", headers=self.headers(**how))

    def post(self, path, form=None, **how):
        return self.fake.call("POST", f"/v1/{path}", encoded(form or {}), self.headers(**how))

    def card(self, number=APPROVED, **more):
        card = {"number": number, "exp_month": 12, "exp_year": 2040, "cvc": "123"} | more
        return self.post("payment_methods", {"type": "card", "card": card})

    def intent(self, number=APPROVED, reference="pay_1/authorize", **more):
        """An intent with a card, not confirmed."""
        form = {"amount": 25000, "currency": "thb", "payment_method": self.card(number)["id"]}
        return self.post("payment_intents", form | {"metadata": {"till_reference": reference}} | more)

    def confirm(self, intent, **form):
        return self.post(f"payment_intents/{intent['id']}/confirm", {"return_url": RETURN} | form)

    def paid(self, number=APPROVED, **more):
        return self.confirm(self.intent(number, **more))

    def held(self, **more):
        return self.paid(capture_method="manual", **more)

    def charge_of(self, intent):
        return self.get(f"charges/{intent['latest_charge']}")

    def session(self, reference="pay_1/authorize", key=None, **more):
        price = {"currency": "thb", "unit_amount": 25000, "product_data": {"name": "order-1"}}
        form = {
            "mode": "payment", "success_url": "https://shop.example/paid?s={CHECKOUT_SESSION_ID}",
            "cancel_url": "https://shop.example/back", "line_items": [{"quantity": 1, "price_data": price}],
            "payment_intent_data": {"metadata": {"till_reference": reference}},
            "allowed_payment_method_types": ["card"], "customer_email": "a@example.com",
        }
        return self.post("checkout/sessions", form | more, key=key)


def encoded(form):
    return urllib.parse.urlencode(list(flat(form, "")))


def flat(value, name):
    """Pairs of a nested form, as Stripe's clients write them."""
    if isinstance(value, dict):
        for inner, one in value.items():
            yield from flat(one, f"{name}[{inner}]" if name else inner)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from flat(one, f"{name}[{at}]")
    else:
        yield name, str(value).lower() if isinstance(value, bool) else str(value)


class FakeCase(unittest.TestCase):
    """Tests of one fake; each has an account of its own."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="stripe-fake-")
        cls.addClassCleanup(directory.cleanup)
        cls.fake = Fake(directory.name)
        cls.addClassCleanup(lambda: cls.fake.kill())

    def setUp(self):
        self.account = Account(self.fake, rate_per_second=10000)

    def control(self, method, path, wish=None):
        return self.fake.control(method, path, wish)

    def refused(self, answer, status, code):
        self.assertEqual((answer.status, answer.code), (status, code), answer.body)

    def page(self, address, fields=None):
        """A page, or the answer to what is posted to it."""
        path = urllib.parse.urlsplit(address).path
        body = None if fields is None else urllib.parse.urlencode(fields)
        return self.fake.call("GET" if fields is None else "POST", path, body)

    def eventually(self, condition):
        """Waits until a condition holds, and answers its value."""
        ends = time.monotonic() + WITHIN_SECONDS
        while time.monotonic() < ends:
            if value := condition():
                return value
            time.sleep(0.02)
        raise AssertionError("it did not come about")


class Receiver:
    """An endpoint for notices: it answers the statuses it was given one after the other, then 200."""

    def __init__(self, *statuses):
        self.received, left = queue.Queue(), list(statuses)
        received = self.received

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.put((self.headers["Stripe-Signature"], body))
                self.send_response(left.pop(0) if left else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.webhook = {"url": f"http://127.0.0.1:{self.server.server_port}/notices", "secret": "whsec_fake_of_a_test"}

    def next(self):
        header, body = self.received.get(timeout=WITHIN_SECONDS)
        return header, json.loads(body)

    def kinds(self, count):
        return sorted(self.next()[1]["type"] for _ in range(count))

    def close(self):
        self.server.shutdown()
        self.server.server_close()
