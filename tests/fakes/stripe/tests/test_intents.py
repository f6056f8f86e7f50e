"""Intents by card number and by PromptPay."""

import threading

import cards

from .fake import CHALLENGED, DECLINED, Account, FakeCase

SECTION_22 = {
    "card_velocity_exceeded", "withdrawal_count_limit_exceeded", "invalid_account", "lost_card", "stolen_card",
    "pickup_card", "restricted_card", "fraudulent", "merchant_blacklist", "security_violation", "highest_risk_level",
    "card_not_supported", "currency_not_supported", "issuer_not_available", "try_again_later", "reenter_transaction",
    "insufficient_funds",
}


class Cards(FakeCase):
    def test_a_prepared_intent_charges_nothing_and_a_confirmed_one_once(self):
        intent = self.account.intent(reference="once")
        self.assertEqual(intent["status"], "requires_confirmation")
        self.assertEqual(self.charges("once"), [])
        paid = self.account.confirm(intent)
        self.assertEqual((paid["status"], paid["amount_received"]), ("succeeded", 25000))
        self.refused(self.account.confirm(intent), 400, "payment_intent_unexpected_state")
        self.assertEqual([one["amount_captured"] for one in self.charges("once")], [25000])
        card = self.account.charge_of(paid)["payment_method_details"]["card"]
        self.assertEqual((card["last4"], card["checks"]["cvc_check"]), ("4242", "pass"))

    def charges(self, reference):
        return [one for one in self.control("GET", "charges") if one["reference"] == reference]

    def test_confirms_at_the_same_time_charge_once(self):
        intent = self.account.intent(reference="at-once")
        calls = [threading.Thread(target=self.account.confirm, args=(intent,)) for _ in range(8)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        self.assertEqual(len(self.charges("at-once")), 1)

    def test_a_declined_card_is_told_and_the_intent_waits_for_another(self):
        intent = self.account.intent(DECLINED)
        declined = self.account.confirm(intent)
        self.refused(declined, 402, "card_declined")
        self.assertEqual(declined.error["decline_code"], "insufficient_funds")
        self.assertEqual(declined.error["payment_intent"]["id"], intent["id"])
        found = self.account.get(f"payment_intents/{intent['id']}")
        self.assertEqual((found["status"], found["payment_method"]), ("requires_payment_method", None))
        self.assertEqual(found["last_payment_error"]["code"], "card_declined")
        self.refused(self.account.confirm(intent), 400, "payment_intent_unexpected_state")
        again = self.account.confirm(intent, payment_method=self.account.card()["id"])
        self.assertEqual(again["status"], "succeeded")

    def test_every_code_of_the_contract_has_a_card(self):
        numbers = self.control("GET", "cards")
        codes = {}
        for number, outcome in numbers.items():
            if "decline" in outcome and "challenge" not in outcome and "processing_seconds" not in outcome:
                answer = self.account.paid(number)
                self.assertEqual(answer.status, 402)
                codes[answer.error["decline_code"]] = answer.code
        self.assertLessEqual(SECTION_22, codes.keys())
        self.assertEqual({codes[code] for code in SECTION_22}, {"card_declined"})
        for code in ("expired_card", "incorrect_cvc", "processing_error", "authentication_required", "invalid_cvc"):
            self.assertEqual(codes[code], code)

    def test_a_card_of_the_tests_own_does_what_it_was_told(self):
        number = cards.luhn("400000000077777")
        outcome = {"decline": "card_declined", "decline_code": "new"}
        self.control("POST", "cards", {"number": number, "outcome": outcome})
        self.assertEqual(self.account.paid(number).error["decline_code"], "new")

    def test_the_form_of_a_card_is_checked(self):
        self.refused(self.account.card("4242424242424241"), 402, "incorrect_number")
        self.refused(self.account.card(exp_month=13), 402, "invalid_expiry_month")
        self.refused(self.account.card(exp_year=2020), 402, "invalid_expiry_year")
        self.refused(self.account.card(cvc="12"), 402, "invalid_cvc")

    def test_an_account_may_refuse_card_numbers(self):
        self.account.change(raw_card_numbers=False)
        refused = self.account.card()
        self.assertEqual((refused.status, refused.error["type"]), (402, "invalid_request_error"))

    def test_a_payment_method_is_used_once(self):
        method = self.account.card()["id"]
        self.account.confirm(self.account.intent(payment_method=method))
        self.assertEqual(self.account.confirm(self.account.intent(payment_method=method)).status, 400)

    def test_a_confirm_needs_a_way_back(self):
        intent = self.account.intent()
        self.refused(self.account.post(f"payment_intents/{intent['id']}/confirm"), 400, "parameter_missing")

    def test_the_results_of_3d_secure_are_told(self):
        told = {}
        for number, outcome in self.control("GET", "cards").items():
            if "three_d_secure" in outcome:
                charge = self.account.charge_of(self.account.paid(number))
                shown = charge["payment_method_details"]["card"]["three_d_secure"]
                told[shown["result"], shown["result_reason"]] = shown["electronic_commerce_indicator"]
        self.assertEqual(told["authenticated", None], "05")
        self.assertEqual(told["attempt_acknowledged", None], "06")
        self.assertEqual(told["failed", "rejected"], "07")
        self.assertIn(("exempted", None), told)

    def test_a_challenged_card_is_charged_after_the_issuers_page(self):
        intent = self.account.paid(CHALLENGED)
        self.assertEqual((intent["status"], intent["latest_charge"]), ("requires_action", None))
        issuer = intent["next_action"]["redirect_to_url"]["url"]
        self.assertIn(b"250.00 THB", self.page(issuer).body)
        back = self.page(issuer, {"answer": "authenticate"})
        self.assertEqual(back.status, 303)
        self.assertIn(f"payment_intent={intent['id']}", back.headers["Location"])
        found = self.account.get(f"payment_intents/{intent['id']}", {"expand": ["latest_charge"]})
        shown = found["latest_charge"]["payment_method_details"]["card"]["three_d_secure"]
        self.assertEqual((found["status"], shown["authentication_flow"]), ("succeeded", "challenge"))
        self.assertEqual(self.page(issuer, {"answer": "authenticate"}).status, 404)

    def test_a_customer_who_fails_at_the_issuer_is_not_charged(self):
        intent = self.account.paid(CHALLENGED, reference="failed-there")
        back = self.page(intent["next_action"]["redirect_to_url"]["url"], {"answer": "fail"})
        self.assertIn("redirect_status=failed", back.headers["Location"])
        found = self.account.get(f"payment_intents/{intent['id']}")
        self.assertEqual(found["last_payment_error"]["code"], "payment_intent_authentication_failure")
        self.assertEqual(self.charges("failed-there"), [])

    def test_a_challenge_can_be_asked_for(self):
        asked = {"card": {"request_three_d_secure": "challenge"}}
        self.assertEqual(self.account.paid(payment_method_options=asked)["status"], "requires_action")

    def test_a_charge_may_be_processing_and_end_by_itself(self):
        number = cards.luhn("400000000088888")
        self.control("POST", "cards", {"number": number, "outcome": {"processing_seconds": 0.3}})
        intent = self.account.paid(number)
        self.assertEqual(intent["status"], "processing")
        path = f"payment_intents/{intent['id']}"
        self.refused(self.account.post(f"{path}/cancel"), 400, "payment_intent_unexpected_state")
        self.eventually(lambda: self.account.get(path)["status"] == "succeeded")

    def test_a_charge_under_way_can_be_ended(self):
        intent = self.account.paid(cards.own(4, 2))
        ended = self.control("POST", f"intents/{intent['id']}/end", {"answer": "lost_card"})
        self.assertEqual(ended["last_payment_error"]["decline_code"], "lost_card")

    def test_amounts_and_currencies_are_stripes(self):
        create = lambda amount, currency: self.account.post("payment_intents", {"amount": amount, "currency": currency})
        self.refused(create(999, "thb"), 400, "amount_too_small")
        self.refused(create(10**8, "thb"), 400, "amount_too_large")
        self.assertEqual(create(1000, "thb").status, 200)
        self.assertEqual(create(49, "jpy").code, "amount_too_small")
        self.assertEqual(create(1001, "kwd").status, 400)
        self.assertEqual(create(1010, "kwd").status, 200)
        self.assertEqual(create(12345, "isk").status, 400)
        self.assertEqual(create(1000, "xxx").status, 400)
        self.refused(create("10.00", "thb"), 400, "parameter_invalid_integer")


class Holds(FakeCase):
    def test_a_hold_is_captured_in_part_and_the_rest_goes_back(self):
        held = self.account.held(reference="part")
        self.assertEqual((held["status"], held["amount_capturable"]), ("requires_capture", 25000))
        before = self.account.charge_of(held)["payment_method_details"]["card"]["capture_before"]
        self.assertAlmostEqual(before, held["created"] + 7 * 86400, delta=5)
        captured = self.account.post(f"payment_intents/{held['id']}/capture", {"amount_to_capture": 10000})
        self.assertEqual((captured["status"], captured["amount_received"]), ("succeeded", 10000))
        charge = self.account.charge_of(held)
        self.assertEqual((charge["amount_captured"], charge["amount_refunded"]), (10000, 15000))
        again = self.account.post(f"payment_intents/{held['id']}/capture")
        self.refused(again, 400, "payment_intent_unexpected_state")

    def test_the_cards_own_option_holds_too(self):
        held = self.account.paid(payment_method_options={"card": {"capture_method": "manual"}})
        self.assertEqual((held["status"], held["capture_method"]), ("requires_capture", "automatic_async"))

    def test_no_more_than_the_hold_is_captured(self):
        held = self.account.held()
        refused = self.account.post(f"payment_intents/{held['id']}/capture", {"amount_to_capture": 25001})
        self.assertEqual(refused.status, 400)

    def test_a_canceled_hold_is_a_refund_without_metadata(self):
        held = self.account.held()
        canceled = self.account.post(f"payment_intents/{held['id']}/cancel")
        self.assertEqual((canceled["status"], canceled["amount_capturable"]), ("canceled", 0))
        listed = self.account.get("refunds", {"payment_intent": held["id"]})["data"]
        self.assertEqual([(one["amount"], one["metadata"]) for one in listed], [(25000, {})])
        self.assertIsNone(listed[0]["balance_transaction"])
        for act in ("capture", "cancel", "confirm"):
            answer = self.account.post(f"payment_intents/{held['id']}/{act}")
            self.refused(answer, 400, "payment_intent_unexpected_state")

    def test_a_hold_lapses_when_its_time_is_over(self):
        self.account.change(hold_seconds=0)
        held = self.account.held()
        path = f"payment_intents/{held['id']}"
        found = self.eventually(lambda: self.account.get(path)["status"] == "canceled" and self.account.get(path))
        self.assertEqual(found["cancellation_reason"], "expired")

    def test_the_clock_can_be_set(self):
        held = self.account.held()
        self.addCleanup(self.control, "POST", "clock", {"offset_seconds": 0})
        self.control("POST", "clock", {"offset_seconds": 8 * 86400})
        self.assertEqual(self.account.get(f"payment_intents/{held['id']}")["status"], "canceled")


class PromptPay(FakeCase):
    DATA = {"type": "promptpay", "billing_details": {"email": "a@example.com"}}

    def asked(self, **more):
        intent = self.account.post("payment_intents", {"amount": 10000, "currency": "thb"} | more)
        return self.account.confirm(intent, payment_method_data=self.DATA)

    def test_a_code_is_shown_and_paid(self):
        intent = self.asked()
        shown = intent["next_action"]["promptpay_display_qr_code"]
        self.assertTrue(shown["data"].startswith("000201"))
        self.page(shown["hosted_instructions_url"], {"answer": "paid"})
        found = self.account.get(f"payment_intents/{intent['id']}", {"expand": ["latest_charge.balance_transaction"]})
        self.assertEqual(found["status"], "succeeded")
        self.assertEqual(found["latest_charge"]["balance_transaction"]["type"], "payment")

    def test_a_customer_without_a_way_back_ends_on_the_page(self):
        form = {"automatic_payment_methods": {"enabled": True, "allow_redirects": "never"}}
        intent = self.account.post("payment_intents", {"amount": 10000, "currency": "thb"} | form)
        asked = self.account.post(f"payment_intents/{intent['id']}/confirm", {"payment_method_data": self.DATA})
        page = asked["next_action"]["promptpay_display_qr_code"]["hosted_instructions_url"]
        self.assertEqual(self.page(page, {"answer": "paid"}).status, 200)

    def test_a_code_that_fails_leaves_an_intent_to_try_again(self):
        ended = self.control("POST", f"intents/{self.asked()['id']}/end", {"answer": "failed"})
        self.assertEqual(ended["status"], "requires_payment_method")

    def test_a_code_lapses(self):
        self.account.change(qr_seconds=0)
        path = f"payment_intents/{self.asked()['id']}"
        self.eventually(lambda: self.account.get(path)["status"] == "requires_payment_method")

    def test_a_canceled_code_cannot_be_paid(self):
        intent = self.asked()
        self.account.post(f"payment_intents/{intent['id']}/cancel")
        page = intent["next_action"]["promptpay_display_qr_code"]["hosted_instructions_url"]
        self.assertEqual(self.page(page, {"answer": "paid"}).status, 404)

    def test_it_needs_an_email_and_a_way_back_and_an_account_in_thailand(self):
        intent = self.account.post("payment_intents", {"amount": 10000, "currency": "thb"})
        self.refused(
            self.account.confirm(intent, payment_method_data={"type": "promptpay"}), 400, "parameter_missing"
        )
        bare = {"payment_method_data": self.DATA}
        self.refused(self.account.post(f"payment_intents/{intent['id']}/confirm", bare), 400, "parameter_missing")
        elsewhere = Account(self.fake, country="SG")
        intent = elsewhere.post("payment_intents", {"amount": 10000, "currency": "thb"})
        self.assertEqual(intent["payment_method_types"], ["card"])
        refused = elsewhere.confirm(intent, payment_method_data=self.DATA)
        self.refused(refused, 400, "payment_intent_incompatible_payment_method")

    def test_it_is_not_captured_by_hand(self):
        form = {"amount": 10000, "currency": "thb", "allowed_payment_method_types": ["promptpay"]}
        refused = self.account.post("payment_intents", form | {"capture_method": "manual"})
        self.refused(refused, 400, "payment_intent_invalid_parameter")
