"""What holds for every call: secrets, versions, forms, keys, rates, expansion."""

import threading
import unittest

import forms

from .fake import VERSION, Account, FakeCase, encoded

INTENT = {"amount": 25000, "currency": "thb"}


class Secrets(FakeCase):
    def test_the_account_of_a_secret_is_told(self):
        found = self.account.get("account")
        self.assertEqual((found["id"], found["country"]), (self.account.id, "TH"))
        bearer = {"Authorization": f"Bearer {self.account.secret}", "Stripe-Version": VERSION}
        self.assertEqual(self.fake.call("GET", "/v1/account", headers=bearer)["id"], self.account.id)

    def test_unknown_revoked_and_missing_secrets_are_refused(self):
        secret, self.account.secret = self.account.secret, "sk_live_fakeNOBODY0000"
        refused = self.account.get("account")
        self.assertEqual((refused.status, refused.error["type"]), (401, "invalid_request_error"))
        self.assertNotIn("fakeNOBODY", refused.error["message"])
        self.assertEqual(self.fake.call("GET", "/v1/account").status, 401)
        self.account.secret = secret
        self.account.change(secret=secret, revoked=True)
        self.refused(self.account.get("account"), 401, "api_key_expired")

    def test_an_account_is_live_unless_told_otherwise_and_its_modes_are_apart(self):
        live = self.account.intent()
        self.assertTrue(live["livemode"])
        self.assertTrue(self.account.secret.startswith("sk_live_"))
        test = Account(self.fake, account=self.account.id, secret="sk_test_fakeOFTHESAME")
        self.assertFalse(test.intent()["livemode"])
        self.refused(test.get(f"payment_intents/{live['id']}"), 404, "resource_missing")


class Forms(FakeCase):
    def test_what_the_api_does_not_know_is_refused(self):
        for path in ("payment_intents", "checkout/sessions"):
            answer = self.account.post(path, {"payment_method_types": ["card"]})
            self.refused(answer, 400, "payment_method_types_no_longer_supported")
        answer = self.account.post("payment_intents", INTENT | {"payment_method_options": {"card": {"colour": "red"}}})
        self.refused(answer, 400, "parameter_unknown")
        self.assertEqual(answer.error["param"], "payment_method_options[card][colour]")
        self.refused(self.account.get("refunds", {"colour": "red"}), 400, "parameter_unknown")
        self.refused(self.account.post("payment_intents", {"amount": 25000}), 400, "parameter_missing")
        self.assertEqual(self.account.post("nothing").status, 404)

    def test_another_version_is_told(self):
        for version in ("2024-06-20", None):
            answer = self.account.post("payment_intents", INTENT, version=version)
            self.assertEqual((answer.status, answer.error["type"]), (400, "invalid_request_error"))
            self.assertIn("version", answer.error["message"].lower())

    def test_only_what_can_be_expanded_is(self):
        paid = self.account.paid()
        path = f"payment_intents/{paid['id']}"
        found = self.account.get(path, {"expand": ["latest_charge.payment_intent", "payment_method"]})
        self.assertEqual(found["latest_charge"]["payment_intent"]["latest_charge"], paid["latest_charge"])
        self.assertEqual(found["payment_method"]["card"]["last4"], "4242")
        self.assertEqual(self.account.get(path, {"expand": ["amount"]}).status, 400)

    def test_the_forms_are_kept_without_the_card(self):
        self.account.card()
        sent = [one["form"] for one in self.control("GET", "forms") if one["route"] == "/v1/payment_methods"]
        kept = {"number": "*", "exp_month": "12", "exp_year": "2040", "cvc": "*"}
        self.assertIn({"type": "card", "card": kept}, sent)
        self.assertNotIn("4242424242424242", str(self.control("GET", "requests")))

    def test_more_calls_than_the_rate_are_refused(self):
        self.account.change(rate_per_second=5)
        statuses = [self.account.get("account").status for _ in range(12)]
        self.assertIn(429, statuses)
        self.assertEqual(statuses[:5], [200] * 5)


class Keys(FakeCase):
    def create(self, key, **more):
        return self.account.post("payment_intents", INTENT | more, key=key)

    def test_a_repeated_call_is_replayed(self):
        first, again = self.create("one"), self.create("one")
        self.assertEqual((first.body, again.headers["Idempotent-Replayed"]), (again.body, "true"))
        self.assertIsNone(first.headers["Idempotent-Replayed"])
        self.assertNotEqual(self.create("two")["id"], first["id"])
        other = Account(self.fake)
        self.assertNotEqual(other.post("payment_intents", INTENT, key="one")["id"], first["id"])

    def test_another_call_under_the_same_key_is_refused(self):
        self.create("mine")
        for path, form in (("payment_intents", INTENT | {"amount": 26000}), ("refunds", INTENT)):
            answer = self.account.post(path, form, key="mine")
            self.assertEqual((answer.status, answer.error["type"]), (400, "idempotency_error"))

    def test_a_key_under_way_is_in_use(self):
        self.control("POST", "faults/next", {"fault": "delay", "seconds": 0.5, "account": self.account.id})
        first = []
        thread = threading.Thread(target=lambda: first.append(self.create("slow")))
        thread.start()
        self.eventually(lambda: not self.planned())
        self.refused(self.create("slow"), 409, "idempotency_key_in_use")
        thread.join()
        self.assertEqual(self.create("slow")["id"], first[0]["id"])

    def planned(self):
        """Whether the planned fault still waits for its request."""
        plans = self.control("GET", "faults")["planned"]
        return [one for one in plans if one["account"] == self.account.id]

    def test_refusals_of_an_executed_call_are_kept_and_those_of_a_form_are_not(self):
        intent = self.account.intent("4000000000009995")
        path, form = f"payment_intents/{intent['id']}/confirm", {"return_url": "https://shop.example/"}
        self.refused(self.account.post(path, form, key="declined"), 402, "card_declined")
        again = self.account.post(path, form, key="declined")
        self.assertEqual((again.status, again.headers["Idempotent-Replayed"]), (402, "true"))
        self.refused(self.create("form", amount=1), 400, "amount_too_small")
        self.assertEqual(self.create("form").status, 200)

    def test_keys_end_after_a_day_or_when_a_test_ends_them(self):
        first = self.create("ends")
        self.control("DELETE", "keys")
        second = self.create("ends")
        self.assertNotEqual(first["id"], second["id"])
        self.addCleanup(self.control, "POST", "clock", {"offset_seconds": 0})
        self.control("POST", "clock", {"offset_seconds": 86300})
        self.assertEqual(self.create("ends")["id"], second["id"])
        self.control("POST", "clock", {"offset_seconds": 86500})
        self.assertNotEqual(self.create("ends")["id"], second["id"])


class Parsing(unittest.TestCase):
    def test_nested_forms_are_read(self):
        form = {"a": {"b": ["1", "2"]}, "c": [{"d": "x"}], "e": "ä &="}
        self.assertEqual(forms.parsed(encoded(form)), form)
        self.assertEqual(forms.parsed("a[]=1&a[]=2"), {"a": ["1", "2"]})

    def test_names_that_are_none_are_refused(self):
        for text in ("a[=1", "[a]=1", "a]=1&a[b=2", "a=1&a=2", "a=1&a[b]=2"):
            with self.assertRaises(forms.invalid("").__class__, msg=text):
                forms.parsed(text)
