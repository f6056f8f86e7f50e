"""Checkout sessions and their card page."""

import time

import cards

from .fake import APPROVED, CHALLENGED, DECLINED, FakeCase

CARD = {"email": "a@example.com", "number": APPROVED, "expiry": "12 / 40", "cvc": "123", "name": "Ada"}
EXPANDED = {"expand": ["payment_intent.latest_charge"]}


class Sessions(FakeCase):
    def found(self, session, **form):
        return self.account.get(f"checkout/sessions/{session['id']}", form or EXPANDED)

    def test_a_customer_pays_on_the_page(self):
        session = self.account.session(locale="th")
        self.assertEqual((session["status"], session["payment_status"]), ("open", "unpaid"))
        self.assertIsNone(session["payment_intent"])
        page = self.page(session["url"]).body.decode()
        for part in ('lang="th"', "order-1 250.00 THB", 'value="a@example.com"', "https://shop.example/back"):
            self.assertIn(part, page)
        self.assertNotIn("<script", page)
        back = self.page(session["url"], CARD)
        self.assertEqual((back.status, back.headers["Location"]), (303, f"https://shop.example/paid?s={session['id']}"))
        found = self.found(session)
        self.assertEqual((found["status"], found["payment_status"]), ("complete", "paid"))
        self.assertEqual(found["payment_intent"]["metadata"], {"till_reference": "pay_1/authorize"})
        self.assertTrue(found["payment_intent"]["latest_charge"]["captured"])
        self.assertEqual(found["customer_details"]["email"], "a@example.com")

    def test_a_decline_is_shown_on_the_page_and_tried_again(self):
        session = self.account.session(reference="tried-again")
        declined = self.page(session["url"], CARD | {"number": DECLINED})
        self.assertEqual(declined.status, 200)
        self.assertIn(b"Your card was declined.", declined.body)
        found = self.found(session)
        self.assertEqual((found["status"], found["payment_intent"]["status"]), ("open", "requires_payment_method"))
        self.assertEqual(self.page(session["url"], CARD).status, 303)
        self.assertEqual(self.found(session)["payment_intent"]["id"], found["payment_intent"]["id"])
        charged = [one for one in self.control("GET", "charges") if one["reference"] == "tried-again"]
        self.assertEqual([one["amount_captured"] for one in charged], [25000])

    def test_a_mistyped_card_is_told_on_the_page(self):
        session = self.account.session()
        self.assertIn(b"role=\"alert\"", self.page(session["url"], CARD | {"number": "42"}).body)
        self.assertIn(b"role=\"alert\"", self.page(session["url"], CARD | {"expiry": "soon"}).body)
        self.assertIsNone(self.found(session)["payment_intent"])

    def test_two_tabs_charge_once(self):
        session = self.account.session(reference="two-tabs")
        self.page(session["url"], CARD)
        second = self.page(session["url"], CARD)
        self.assertIn(b"You have paid already.", second.body)
        self.assertEqual(len([one for one in self.control("GET", "charges") if one["reference"] == "two-tabs"]), 1)

    def test_the_issuers_page_leads_back_to_the_shop_or_to_the_card_page(self):
        session = self.account.session()
        issuer = self.page(session["url"], CARD | {"number": CHALLENGED}).headers["Location"]
        failed = self.page(issuer, {"answer": "reject"})
        self.assertEqual(failed.headers["Location"], session["url"])
        self.assertIn(b"failed authentication", self.page(session["url"]).body)
        issuer = self.page(session["url"], CARD | {"number": CHALLENGED}).headers["Location"]
        self.assertIn("/paid", self.page(issuer, {"answer": "attempt"}).headers["Location"])
        details = self.found(session)["payment_intent"]["latest_charge"]["payment_method_details"]["card"]
        self.assertEqual(details["three_d_secure"]["result"], "attempt_acknowledged")

    def test_a_hold_is_complete_and_unpaid_until_it_is_captured(self):
        session = self.account.session(payment_intent_data={"capture_method": "manual"})
        self.page(session["url"], CARD)
        found = self.found(session)
        self.assertEqual((found["status"], found["payment_status"]), ("complete", "unpaid"))
        self.assertEqual(found["payment_intent"]["status"], "requires_capture")
        self.account.post(f"payment_intents/{found['payment_intent']['id']}/capture")
        self.assertEqual(self.found(session)["payment_status"], "paid")

    def test_a_charge_under_way_completes_the_session_and_pays_it_later(self):
        session = self.account.session()
        self.page(session["url"], CARD | {"number": cards.own(4, 2)})
        found = self.found(session)
        self.assertEqual((found["status"], found["payment_intent"]["status"]), ("complete", "processing"))
        self.control("POST", f"intents/{found['payment_intent']['id']}/end", {"answer": "paid"})
        self.assertEqual(self.found(session)["payment_status"], "paid")
        kinds = {one["type"] for one in self.control("GET", "events") if one["data"]["object"]["id"] == session["id"]}
        self.assertIn("checkout.session.async_payment_succeeded", kinds)

    def test_an_expired_session_cannot_be_paid_and_its_intent_is_canceled(self):
        session = self.account.session()
        self.page(session["url"], CARD | {"number": DECLINED})
        intent = self.found(session)["payment_intent"]
        refused = self.account.post(f"payment_intents/{intent['id']}/cancel")
        self.assertEqual((refused.status, refused.error["type"]), (400, "invalid_request_error"))
        expired = self.account.post(f"checkout/sessions/{session['id']}/expire")
        self.assertEqual((expired["status"], expired["url"]), ("expired", None))
        self.assertEqual(self.account.get(f"payment_intents/{intent['id']}")["status"], "canceled")
        self.assertIn(b"expired", self.page(session["url"], CARD).body)
        self.assertEqual(self.account.post(f"checkout/sessions/{session['id']}/expire").status, 400)

    def test_a_session_expires_by_itself(self):
        session = self.account.session(expires_at=int(time.time()) + 1900)
        self.addCleanup(self.control, "POST", "clock", {"offset_seconds": 0})
        self.control("POST", "clock", {"offset_seconds": 1901})
        self.assertEqual(self.found(session)["status"], "expired")

    def test_a_session_lasts_from_30_minutes_to_24_hours(self):
        now = int(time.time())
        for seconds, status in ((1795, 400), (1830, 200), (86370, 200), (86430, 400)):
            answer = self.account.session(expires_at=now + seconds)
            self.assertEqual(answer.status, status, seconds)

    def test_a_creation_that_is_repeated_late_replays_until_its_key_ends(self):
        expires_at = int(time.time()) + 5400
        first = self.account.session(key="late/prepare", expires_at=expires_at)
        self.addCleanup(self.control, "POST", "clock", {"offset_seconds": 0})
        self.control("POST", "clock", {"offset_seconds": 3700})
        self.assertEqual(self.account.session(key="late/prepare", expires_at=expires_at)["id"], first["id"])
        self.control("DELETE", "keys")
        refused = self.account.session(key="late/prepare", expires_at=expires_at)
        self.assertEqual((refused.status, refused.error["param"]), (400, "expires_at"))

    def test_another_account_does_not_see_it(self):
        session = self.account.session()
        other = type(self.account)(self.fake)
        self.refused(other.get(f"checkout/sessions/{session['id']}"), 404, "resource_missing")
