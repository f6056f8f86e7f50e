"""Refunds, balance transactions, and what is done in the dashboard."""

import cards

from .fake import FakeCase

DATA = {"type": "promptpay", "billing_details": {"email": "a@example.com"}}


class Refunds(FakeCase):
    def refund(self, intent, key=None, **form):
        return self.account.post("refunds", {"payment_intent": intent["id"]} | form, key=key)

    def found(self, refund):
        return self.account.get(f"refunds/{refund['id']}")

    def test_no_more_than_the_charge_goes_back(self):
        paid = self.account.paid()
        self.assertEqual(self.refund(paid, amount=20000)["status"], "succeeded")
        self.assertEqual(self.refund(paid, amount=5001).error["param"], "amount")
        self.assertEqual(self.refund(paid)["amount"], 5000)
        self.refused(self.refund(paid), 400, "charge_already_refunded")
        charge = self.account.charge_of(paid)
        self.assertEqual((charge["amount_refunded"], charge["refunded"]), (25000, True))

    def test_no_more_than_was_captured_goes_back(self):
        held = self.account.held()
        self.refused(self.refund(held), 400, "charge_not_refundable")
        self.account.post(f"payment_intents/{held['id']}/capture", {"amount_to_capture": 10000})
        self.assertEqual(self.refund(held, amount=10001).status, 400)
        self.assertEqual(self.refund(held)["amount"], 10000)

    def test_refunds_are_listed_by_intent_the_newest_first_in_pages(self):
        paid, other = self.account.paid(), self.account.paid()
        made = [self.refund(paid, amount=1000, metadata={"till_reference": f"ref_{at}"})["id"] for at in range(5)]
        self.refund(other)
        form = {"payment_intent": paid["id"], "limit": 2}
        first = self.account.get("refunds", form)
        self.assertEqual(([one["id"] for one in first["data"]], first["has_more"]), (made[:2:-1], True))
        second = self.account.get("refunds", form | {"starting_after": made[3]})
        self.assertEqual([one["id"] for one in second["data"]], [made[2], made[1]])
        back = self.account.get("refunds", form | {"ending_before": made[2]})
        self.assertEqual(([one["id"] for one in back["data"]], back["has_more"]), ([made[4], made[3]], False))
        last = self.account.get("refunds", form | {"starting_after": made[1]})
        self.assertEqual(([one["id"] for one in last["data"]], last["has_more"]), ([made[0]], False))
        references = [one["reference"] for one in self.control("GET", "refunds") if one["payment_intent"] == paid["id"]]
        self.assertEqual(references, [f"ref_{at}" for at in range(5)])

    def test_a_refund_may_wait_and_end_either_way(self):
        for status, moved in (("succeeded", True), ("failed", False)):
            refund = self.refund(self.account.paid("4000000000007726"))
            self.assertEqual((refund["status"], refund["balance_transaction"]), ("pending", None))
            self.control("POST", f"refunds/{refund['id']}/end", {"status": status})
            found = self.found(refund)
            self.assertEqual((found["status"], found["balance_transaction"] is not None), (status, moved))
            refunded = self.account.get(f"charges/{refund['charge']}")["amount_refunded"]
            self.assertEqual(refunded, 25000 if moved else 0)

    def test_a_waiting_refund_succeeds_by_itself(self):
        self.account.change(refund_pending_seconds=0)
        refund = self.refund(self.account.paid("4000000000007726"))
        self.eventually(lambda: self.found(refund)["status"] == "succeeded")

    def test_a_refund_may_fail_after_success(self):
        refund = self.refund(self.account.paid("4000000000005126"))
        self.assertEqual(refund["status"], "succeeded")
        self.eventually(lambda: self.found(refund)["status"] == "failed")
        found = self.found(refund)
        self.assertEqual(found["failure_reason"], "lost_or_stolen_card")
        self.assertIsNotNone(found["failure_balance_transaction"])

    def test_promptpays_refund_waits_for_the_customer(self):
        intent = self.account.post("payment_intents", {"amount": 10000, "currency": "thb"})
        self.account.confirm(intent, payment_method_data=DATA)
        self.control("POST", f"intents/{intent['id']}/end", {"answer": "paid"})
        refund = self.refund(intent)
        self.assertEqual(refund["status"], "requires_action")
        self.assertEqual(refund["next_action"]["display_details"]["email_sent"]["email_sent_to"], "a@example.com")
        self.control("POST", f"refunds/{refund['id']}/end", {"status": "succeeded"})
        found = self.account.get(f"refunds/{refund['id']}", {"expand": ["balance_transaction"]})
        self.assertEqual(found["balance_transaction"]["type"], "payment_refund")
        self.assertNotIn("next_action", found.json)

    def test_a_form_names_one_charge_or_intent(self):
        self.assertEqual(self.account.post("refunds", {"amount": 1}).status, 400)
        self.refused(self.account.post("refunds", {"payment_intent": "pi_none"}), 404, "resource_missing")
        unpaid = self.account.intent()
        self.assertEqual(self.refund(unpaid).status, 400)


class Reconciliation(FakeCase):
    def listed(self, **form):
        return self.account.get("balance_transactions", form)["data"]

    def test_every_movement_is_listed_with_its_fee_and_source(self):
        paid = self.account.paid()
        self.account.post("refunds", {"payment_intent": paid["id"], "amount": 5000})
        refund, charge = self.listed(expand=["data.source"])
        self.assertEqual((charge["amount"], charge["fee"], charge["net"]), (25000, 913, 24087))
        self.assertEqual(charge["source"]["payment_intent"], paid["id"])
        self.assertEqual((refund["type"], refund["amount"], refund["fee"]), ("refund", -5000, 0))
        self.assertEqual(self.account.get(f"balance_transactions/{charge['id']}")["source"], charge["source"]["id"])

    def test_they_are_chosen_by_time_and_type(self):
        self.control("POST", "clock", {"offset_seconds": 1000})
        self.addCleanup(self.control, "POST", "clock", {"offset_seconds": 0})
        first = self.account.paid()
        self.control("POST", "clock", {"offset_seconds": 2000})
        second = self.account.paid()
        border = second["created"] - 500
        moved = lambda **form: [one["source"] for one in self.listed(**form)]
        self.assertEqual(moved(created={"gte": border}), [second["latest_charge"]])
        self.assertEqual(moved(created={"lt": border}), [first["latest_charge"]])
        self.assertEqual(moved(type="refund"), [])
        self.assertEqual(len(moved(type="charge", limit=1)), 1)

    def test_disputes_and_payouts_move_money_too(self):
        paid = self.account.paid()
        dispute = self.control("POST", f"intents/{paid['id']}/dispute", {"reason": "fraudulent"})
        self.refused(self.account.post("refunds", {"payment_intent": paid["id"]}), 400, "charge_disputed")
        self.control("POST", f"disputes/{dispute['id']}/end", {"status": "won"})
        payout = self.control("POST", "payouts", {"account": self.account.id, "amount": 7000})
        self.control("POST", f"payouts/{payout['id']}/end", {"status": "failed"})
        kinds = [(one["type"], one["reporting_category"], one["amount"]) for one in reversed(self.listed())]
        self.assertEqual(kinds, [
            ("charge", "charge", 25000), ("adjustment", "dispute", -25000), ("adjustment", "dispute", 25000),
            ("payout", "payout", -7000), ("payout_failure", "payout_failure", 7000),
        ])

    def test_what_is_done_in_the_dashboard_has_no_reference(self):
        held = self.account.held(reference="dashboard")
        self.control("POST", f"intents/{held['id']}/capture", {"amount": 20000})
        self.control("POST", f"intents/{held['id']}/refund", {"amount": 1000})
        given_up = self.account.held()
        self.control("POST", f"intents/{given_up['id']}/cancel")
        self.assertEqual(self.account.get(f"payment_intents/{given_up['id']}")["status"], "canceled")
        refunds = self.account.get("refunds", {"payment_intent": held["id"]})["data"]
        self.assertEqual([(one["amount"], one["metadata"]) for one in refunds], [(1000, {}), (5000, {})])
        self.assertEqual([one["type"] for one in self.listed()], ["refund", "charge"])

    def test_a_charge_under_way_moves_nothing(self):
        self.account.paid(cards.own(4, 2))
        self.assertEqual(self.listed(), [])
