"""Nothing that was answered is lost by a kill -9."""

import http.client
import threading

from .fake import FakeCase, Receiver

PAYMENTS_MAX = 400


class Restart(FakeCase):
    def tearDown(self):
        if self.fake.process.poll() is not None:
            self.fake.start()

    def test_what_was_answered_is_there_after_a_kill(self):
        paid, answered = threading.Event(), []

        def pay():
            try:
                for at in range(PAYMENTS_MAX):
                    answered.append((f"kill-{at}", self.account.paid(reference=f"kill-{at}")["id"]))
                    if at == 5:
                        paid.set()
            except (OSError, http.client.HTTPException):
                pass

        thread = threading.Thread(target=pay)
        thread.start()
        paid.wait(10)
        self.fake.kill()
        thread.join()
        self.fake.start()
        self.assertGreater(len(answered), 5)
        charged = {one["reference"]: one["payment_intent"] for one in self.control("GET", "charges")}
        for reference, intent in answered:
            self.assertEqual(charged[reference], intent)
        self.assertLess(len(answered), PAYMENTS_MAX)

    def test_keys_faults_clock_and_notices_outlive_it(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        self.account.change(webhook=receiver.webhook)
        self.control("POST", "notices", {"delayed": 1, "delay_seconds": 2, "seed": 1})
        self.control("POST", "clock", {"offset_seconds": 50})
        first = self.account.post("payment_intents", {"amount": 25000, "currency": "thb"}, key="kept")
        self.control("POST", "faults/next", {"fault": "limited"})
        self.fake.kill()
        self.fake.start()
        self.assertEqual(self.account.get("account").status, 429)
        again = self.account.post("payment_intents", {"amount": 25000, "currency": "thb"}, key="kept")
        self.assertEqual((again["id"], again.headers["Idempotent-Replayed"]), (first["id"], "true"))
        self.assertEqual(receiver.next()[1]["data"]["object"]["id"], first["id"])
