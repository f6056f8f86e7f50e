"""Faults, and what a test can read of what happened in spite of them."""

import http.client
import json
import threading
import time

from .fake import FakeCase, encoded

INTENT = {"amount": 25000, "currency": "thb"}


class Planned(FakeCase):
    def plan(self, fault, **how):
        self.control("POST", "faults/next", {"fault": fault, "account": self.account.id, **how})

    def lost(self, act):
        with self.assertRaises((http.client.RemoteDisconnected, ConnectionResetError)):
            act()

    def captured(self, reference):
        return [one for one in self.control("GET", "charges") if one["reference"] == reference]

    def test_a_lost_answer_is_executed_and_a_lost_request_is_not(self):
        for fault, charged in (("lost_answer", 1), ("lost_request", 0)):
            intent = self.account.intent(reference=fault)
            self.plan(fault, method="POST", path="/v1/payment_intents/*/confirm")
            self.assertEqual(self.account.get("account").status, 200)
            self.lost(lambda: self.account.confirm(intent))
            self.assertEqual(len(self.captured(fault)), charged)

    def test_an_answer_may_be_cut_off(self):
        self.plan("cut_answer")
        with self.assertRaises(http.client.IncompleteRead):
            self.account.intent(payment_method="pm_none")
        self.assertEqual(self.account.get("account").status, 200)

    def test_refusals_are_not_executed(self):
        statuses = {"limited": 429, "conflict": 409, "unauthorized": 401, "forbidden": 403, "error_500": 500}
        for fault, status in statuses.items():
            intent = self.account.intent(reference=fault)
            self.plan(fault)
            self.assertEqual(self.account.confirm(intent).status, status)
            self.assertEqual(self.captured(fault), [])

    def test_a_stored_500_is_replayed_whether_it_was_executed_or_not(self):
        for executed in (False, True):
            intent = self.account.paid()
            form = {"payment_intent": intent["id"], "metadata": {"till_reference": f"ref_{executed}"}}
            self.plan("stored_500", executed=executed)
            self.assertEqual(self.account.post("refunds", form, key=f"ref_{executed}").status, 500)
            again = self.account.post("refunds", form, key=f"ref_{executed}")
            self.assertEqual((again.status, again.headers["Idempotent-Replayed"]), (500, "true"))
            listed = self.account.get("refunds", {"payment_intent": intent["id"]})["data"]
            self.assertEqual(len(listed), int(executed))
            numbered = self.account.post("refunds", form, key=f"ref_{executed}/2")
            self.assertEqual(numbered.status, 400 if executed else 200)

    def test_an_answer_may_tell_another_payment(self):
        changes = {
            "huge_amount": ("amount", 2**53 - 1),
            "smaller_amount": ("amount", 24999),
            "other_currency": ("currency", "eur"),
            "other_reference": ("metadata", {"till_reference": "another-reference"}),
            "test_mode": ("livemode", False),
        }
        for fault, (member, value) in changes.items():
            intent = self.account.paid()
            path, form = f"payment_intents/{intent['id']}", {"expand": ["latest_charge"]}
            self.plan(fault, method="GET", path="/v1/payment_intents/*")
            wrong = self.account.get(path, form)
            self.assertEqual((wrong[member], wrong["latest_charge"][member]), (value, value))
            self.assertNotEqual(self.account.get(path, form)[member], value)

    def test_an_answer_may_be_no_answer(self):
        self.plan("half_json")
        with self.assertRaises(json.JSONDecodeError):
            self.assertEqual(self.account.get("account")["id"], None)
        self.plan("html")
        page = self.account.get("account")
        self.assertEqual((page.status, page.body[:9]), (200, b"<!doctype"))
        self.plan("redirect")
        self.assertEqual(self.account.get("account").headers["Location"], "/v1/account?redirected=true")

    def test_a_body_may_be_huge_and_right(self):
        self.plan("huge_body", body_bytes=3 * 2**20)
        answer = self.account.get("account")
        self.assertEqual((answer["id"], len(answer["padding"])), (self.account.id, 3 * 2**20))

    def test_a_fault_comes_after_some_requests_and_for_some(self):
        self.plan("limited", after=1, times=2)
        self.assertEqual([self.account.get("account").status for _ in range(4)], [200, 429, 429, 200])

    def test_a_silent_request_is_never_answered(self):
        intent = self.account.intent(reference="silent")
        self.plan("silent", seconds=0.2)
        start = time.monotonic()
        self.lost(lambda: self.account.confirm(intent))
        self.assertGreaterEqual(time.monotonic() - start, 0.2)
        self.assertEqual(self.captured("silent"), [])

    def test_a_wrong_wish_is_told(self):
        for path, wish in (
            ("faults/next", {"fault": "nonsense"}), ("faults", {"probabilities": {"nonsense": 1}}),
            ("faults", {"probabilities": {"limited": 0.6, "conflict": 0.6}}), ("notices", {"nonsense": 1}),
            ("nothing", {}), ("silence", {}),
        ):
            self.assertEqual(self.fake.call("POST", f"/_fake/{path}", json.dumps(wish)).status, 400, path)


class ByChance(FakeCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.control, "DELETE", "faults")

    def statuses(self, count):
        return [self.account.get("account").status for _ in range(count)]

    def test_a_seed_gives_the_same_faults_again(self):
        wish = {"seed": 7, "probabilities": {"limited": 0.3, "conflict": 0.2}}
        self.control("POST", "faults", wish)
        first = self.statuses(60)
        self.control("POST", "faults", wish)
        self.assertEqual(self.statuses(60), first)
        self.assertEqual(set(first), {200, 429, 409})
        self.control("POST", "faults", wish | {"seed": 8})
        self.assertNotEqual(self.statuses(60), first)

    def test_faults_end(self):
        self.control("POST", "faults", {"probabilities": {"limited": 1}})
        self.assertEqual(self.statuses(2), [429, 429])
        self.control("DELETE", "faults")
        self.assertEqual(self.statuses(2), [200, 200])

    def test_nothing_is_answered_during_a_silence(self):
        self.control("POST", "silence", {"seconds": 0.3})
        start = time.monotonic()
        with self.assertRaises(http.client.RemoteDisconnected):
            self.account.get("account")
        self.assertGreaterEqual(time.monotonic() - start, 0.25)
        self.assertEqual(self.account.get("account").status, 200)


class Counted(FakeCase):
    def test_requests_are_counted_by_call(self):
        intent = self.account.intent()
        for _ in range(3):
            self.account.get(f"payment_intents/{intent['id']}")
        self.account.post("payment_intents", INTENT, key="counted")
        self.account.post("payment_intents", INTENT, key="counted")
        told = self.control("GET", "requests")
        counted = {(one["method"], one["route"]): one for one in told["counted"] if one["account"] == self.account.id}
        self.assertEqual(counted["GET", "/v1/payment_intents/{id}"]["count"], 3)
        self.assertEqual(counted["POST", "/v1/payment_intents"]["replayed"], 1)
        self.assertEqual(told["latest"][0]["key"], "counted")

    def test_what_is_under_way_several_times_at_once_is_told(self):
        paths = [f"payment_intents/{self.account.intent()['id']}" for _ in range(2)]
        self.control("POST", "faults/next", {"fault": "delay", "seconds": 0.2, "times": 3, "account": self.account.id})
        calls = [threading.Thread(target=self.account.get, args=(paths[at],)) for at in (0, 0, 1)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        self.assertEqual(self.control("GET", "requests")["at_once"], {f"GET /v1/{paths[0]}": 2})

    def test_connections_are_kept(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.fake.port, timeout=5)
        self.addCleanup(connection.close)
        sockets = set()
        for _ in range(3):
            connection.request("POST", "/v1/payment_intents", encoded(INTENT), self.account.headers())
            self.assertEqual(connection.getresponse().read()[:1], b"{")
            sockets.add(connection.sock)
        self.assertEqual(len(sockets), 1)
