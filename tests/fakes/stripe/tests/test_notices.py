"""Notices: their signature, and what can happen to them on their way."""

import hashlib
import hmac
import json
import time

from .fake import FakeCase, Receiver

QUIET = {"lost": 0, "doubled": 0, "delayed": 0, "signature": "v1", "age_seconds": 0, "retry_seconds": 0.05}


class Notices(FakeCase):
    def listen(self, *statuses, **settings):
        receiver = Receiver(*statuses)
        self.addCleanup(receiver.close)
        self.account.change(webhook=receiver.webhook)
        self.control("POST", "notices", QUIET | settings)
        return receiver

    def sent(self):
        return [one for one in self.control("GET", "notices")["notices"] if one["account"] == self.account.id]

    def settled(self):
        self.eventually(lambda: not any(one["state"] == "waiting" for one in self.sent()))
        return self.sent()

    def test_every_step_of_a_payment_is_told_and_signed(self):
        receiver = self.listen()
        session = self.account.session()
        card = {"email": "a@example.com", "number": "4242424242424242", "expiry": "12/40", "cvc": "123", "name": "Ada"}
        self.page(session["url"], card)
        self.assertEqual(receiver.kinds(4), [
            "charge.succeeded", "checkout.session.completed", "payment_intent.created", "payment_intent.succeeded",
        ])
        self.assertEqual({(one["state"], one["attempts"]) for one in self.settled()}, {("taken", 1)})

    def test_the_signature_is_an_hmac_of_time_and_body(self):
        receiver = self.listen()
        self.account.intent()
        header, event = receiver.next()
        parts = dict(part.split("=") for part in header.split(","))
        body = json.dumps(event)
        right = hmac.new(b"whsec_fake_of_a_test", f"{parts['t']}.{body}".encode(), hashlib.sha256).hexdigest()
        self.assertEqual(parts["v1"], right)
        self.assertAlmostEqual(int(parts["t"]), time.time(), delta=2)
        self.assertEqual((event["type"], event["pending_webhooks"]), ("payment_intent.created", 1))

    def test_a_hold_its_capture_and_its_refund_are_told(self):
        receiver = self.listen()
        held = self.account.held()
        self.account.post(f"payment_intents/{held['id']}/capture")
        self.account.post("refunds", {"payment_intent": held["id"]})
        self.assertEqual(receiver.kinds(7), [
            "charge.captured", "charge.refunded", "charge.succeeded", "payment_intent.amount_capturable_updated",
            "payment_intent.created", "payment_intent.succeeded", "refund.created",
        ])

    def test_a_notice_that_is_not_taken_is_sent_again(self):
        receiver = self.listen(500, 302)
        self.account.intent()
        ids = {receiver.next()[1]["id"] for _ in range(3)}
        self.assertEqual(len(ids), 1)
        self.assertEqual([(one["state"], one["attempts"]) for one in self.settled()], [("taken", 3)])

    def test_it_is_given_up_after_some_attempts(self):
        self.listen(*[500] * 9, attempts_max=2)
        self.account.intent()
        self.assertEqual([(one["state"], one["last_status"]) for one in self.settled()], [("given_up", 500)])

    def test_notices_may_be_lost_or_doubled(self):
        receiver = self.listen(lost=1)
        self.account.intent()
        self.assertEqual([one["state"] for one in self.settled()], ["lost"])
        self.control("POST", "notices", QUIET | {"doubled": 1})
        self.account.intent()
        self.assertEqual(receiver.next()[1]["id"], receiver.next()[1]["id"])

    def test_notices_may_be_out_of_order(self):
        receiver = self.listen(delayed=1, delay_seconds=0.5, seed=3)
        start = time.monotonic()
        for _ in range(3):
            self.account.paid()
        created = [one["event"] for one in self.sent()]
        came = [receiver.next()[1]["id"] for _ in created]
        self.assertEqual(sorted(came), sorted(created))
        self.assertNotEqual(came, created)
        self.assertGreater(time.monotonic() - start, 0.25)

    def test_one_can_be_sent_wrongly_or_late_on_purpose(self):
        receiver = self.listen()
        intent = self.account.intent()
        receiver.next()
        for wish, names, age in (({"signature": "v0"}, ["t", "v0"], 0), ({"age_seconds": 301}, ["t", "v1"], 301)):
            self.control("POST", "notices/send", {"object": intent["id"], **wish})
            header, _ = receiver.next()
            self.assertEqual([part.split("=")[0] for part in header.split(",")], names)
            self.assertAlmostEqual(time.time() - int(header[2:].split(",")[0]), age, delta=2)
        self.control("POST", "notices/send", {"object": intent["id"], "times": 3})
        self.assertEqual(receiver.kinds(3), ["payment_intent.created"] * 3)

    def test_an_endpoint_may_want_some_events(self):
        receiver = self.listen()
        self.account.change(webhook=receiver.webhook | {"enabled_events": ["payment_intent.succeeded"]})
        self.account.paid()
        self.assertEqual(receiver.next()[1]["type"], "payment_intent.succeeded")
        self.assertEqual(len(self.settled()), 1)
