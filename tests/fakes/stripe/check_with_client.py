#!/usr/bin/env python3
"""The fake judged by Stripe's published Python client at the pinned version: its parameters' types read every form, its
classes every answer, its errors every refusal, and its verifier every notice.

    check_with_client.py                 starts a fake of its own and checks all that README.md lists
    check_with_client.py --forms ADDRESS checks the forms that a running fake was sent, by whoever sent them
"""

import argparse
import contextlib
import http.server
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True

import stripe
import stripe.params as params
import stripe.params.checkout as checkout_params

import client_types

SERVER = Path(__file__).with_name("server.py")
CARD, DECLINED, CHALLENGED = "4242424242424242", "4000000000009995", "4000002500003155"
RETURN = "https://shop.example/return/1"
WITHIN_SECONDS = 10
FORMS = {
    ("POST", "/v1/checkout/sessions"): checkout_params.SessionCreateParams,
    ("GET", "/v1/checkout/sessions/{id}"): checkout_params.SessionRetrieveParams,
    ("POST", "/v1/checkout/sessions/{id}/expire"): checkout_params.SessionExpireParams,
    ("POST", "/v1/payment_methods"): params.PaymentMethodCreateParams,
    ("POST", "/v1/payment_intents"): params.PaymentIntentCreateParams,
    ("GET", "/v1/payment_intents/{id}"): params.PaymentIntentRetrieveParams,
    ("POST", "/v1/payment_intents/{id}/confirm"): params.PaymentIntentConfirmParams,
    ("POST", "/v1/payment_intents/{id}/capture"): params.PaymentIntentCaptureParams,
    ("POST", "/v1/payment_intents/{id}/cancel"): params.PaymentIntentCancelParams,
    ("GET", "/v1/charges/{id}"): params.ChargeRetrieveParams,
    ("POST", "/v1/refunds"): params.RefundCreateParams,
    ("GET", "/v1/refunds"): params.RefundListParams,
    ("GET", "/v1/refunds/{id}"): params.RefundRetrieveParams,
    ("GET", "/v1/balance_transactions"): params.BalanceTransactionListParams,
    ("GET", "/v1/account"): params.AccountRetrieveCurrentParams,
}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--forms", metavar="ADDRESS", help="of a running fake: http://127.0.0.1:PORT")
    address = options.parse_args().forms
    if address:
        count = check_forms(address)
    else:
        with running() as address:
            count = Check(address).run()
    print(f"{count} forms and answers were judged by stripe {stripe.VERSION}, version {stripe.api_version}")


def check_forms(address):
    """Every form that the fake was sent; one with a member that the client does not have ends the program."""
    sent = controlled(address, "forms")
    for one in sent:
        named = (one["method"], one["route"])
        assert named in FORMS, f"{named} is no call that is known here"
        expect(client_types.faults_of_form(one["form"], FORMS[named]), f"the form of {named}")
    return len(sent)


@contextlib.contextmanager
def running():
    with tempfile.TemporaryDirectory(prefix="stripe-fake-") as directory:
        command = [sys.executable, str(SERVER), "--listen", "127.0.0.1:0", "--state", directory]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            yield process.stdout.readline().strip().removeprefix("listening on ")
        finally:
            process.kill()
            process.wait()


def controlled(address, path, wish=None):
    body = None if wish is None else json.dumps(wish).encode()
    with urllib.request.urlopen(f"{address}/_fake/{path}", body) as answer:
        return json.load(answer)


def expect(faults, what):
    assert not faults, f"{what}: {'; '.join(faults)}"


def posted(address, fields):
    """Posts a page's form and follows what it answers, as a browser; answers where it ended, and the text."""
    request = urllib.request.Request(address, urllib.parse.urlencode(fields).encode())
    opener = urllib.request.build_opener(NoRedirects)
    try:
        with opener.open(request) as answer:
            return None, answer.read().decode()
    except urllib.error.HTTPError as redirect:
        return redirect.headers["Location"], ""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Check:
    """The client, a receiver of notices, and how many forms and answers were judged."""

    def __init__(self, address):
        self.address, self.count = address, 0
        self.receiver, self.received = receiver()
        webhook = {"url": f"http://127.0.0.1:{self.receiver.server_port}/notices", "secret": "whsec_fake_of_the_check"}
        self.webhook_secret = webhook["secret"]
        self.account = controlled(address, "accounts", {"webhook": webhook, "rate_per_second": 10000})
        self.v1 = stripe.StripeClient(self.account["secret"], base_addresses={"api": address}).v1

    def run(self):
        for part in (
            self.account_of_the_secret, self.card_page, self.card_number, self.hold, self.promptpay, self.refunds,
            self.reconciliation, self.forms, self.refusals, self.keys, self.notices,
        ):
            part()
        self.receiver.shutdown()
        return self.count

    def judged(self, answer):
        """Judges an answer as it came, before the client made objects of it."""
        self.count += 1
        raw = answer.last_response.data
        what = f"the answer {raw['object']}"
        expect(client_types.faults_of_object(raw, raw["object"]), what)
        return answer

    def sent(self, call, typed, form, *ids, key=None):
        """Sends a form through the client after its typed parameters were asked."""
        expect(client_types.faults_of_form(form, typed), f"the parameters {typed.__name__}")
        options = {"idempotency_key": key} if key else {}
        return self.judged(call(*ids, form, options))

    def account_of_the_secret(self):
        assert self.judged(self.v1.accounts.retrieve_current()).id == self.account["account"]

    def card_page(self):
        sessions = self.v1.checkout.sessions
        made = self.sent(sessions.create, checkout_params.SessionCreateParams, session_form("page"), key="page/prepare")
        expanded = {"expand": ["payment_intent", "payment_intent.latest_charge"]}
        assert made.status == "open" and made.payment_intent is None
        card = {"email": "a@example.com", "number": DECLINED, "expiry": "12/40", "cvc": "123", "name": "Ada"}
        assert "declined" in posted(made.url, card)[1]
        issuer, _ = posted(made.url, card | {"number": CHALLENGED})
        back, _ = posted(issuer, {"answer": "authenticate"})
        assert back == "https://shop.example/paid", back
        paid = self.sent(sessions.retrieve, checkout_params.SessionRetrieveParams, expanded, made.id)
        charge = paid.payment_intent.latest_charge
        assert paid.payment_status == "paid"
        assert charge.payment_method_details.card.three_d_secure.result == "authenticated"
        self.judged(self.v1.charges.retrieve(charge.id, {"expand": ["balance_transaction"]}))
        other = self.sent(sessions.create, checkout_params.SessionCreateParams, session_form("left"))
        assert self.sent(sessions.expire, checkout_params.SessionExpireParams, {}, other.id).status == "expired"

    def method(self, number):
        form = {"type": "card", "card": {"number": number, "exp_month": 12, "exp_year": 2040, "cvc": "123"}}
        return self.sent(self.v1.payment_methods.create, params.PaymentMethodCreateParams, form)

    def intent(self, number, reference="number", **more):
        form = {
            "amount": 25000, "currency": "thb", "payment_method": self.method(number).id, "description": "order-1",
            "metadata": {"till_reference": f"{reference}/authorize", "till_payment": reference}, **more,
        }
        return self.sent(self.v1.payment_intents.create, params.PaymentIntentCreateParams, form)

    def confirmed(self, intent, **form):
        form = {"return_url": RETURN, "expand": ["latest_charge"], **form}
        return self.sent(self.v1.payment_intents.confirm, params.PaymentIntentConfirmParams, form, intent.id)

    def card_number(self):
        intents = self.v1.payment_intents
        intent = self.intent(CARD)
        assert intent.status == "requires_confirmation"
        assert self.confirmed(intent).latest_charge.captured
        challenged = self.confirmed(self.intent(CHALLENGED))
        posted(challenged.next_action.redirect_to_url.url, {"answer": "fail"})
        failed = self.judged(intents.retrieve(challenged.id))
        assert failed.last_payment_error.code == "payment_intent_authentication_failure"
        declined = self.intent(DECLINED)
        with refused(stripe.CardError, "card_declined") as error:
            self.confirmed(declined)
        assert error().error.decline_code == "insufficient_funds"
        looked_up = self.judged(intents.retrieve(declined.id, {"expand": ["latest_charge", "payment_method"]}))
        assert looked_up.status == "requires_payment_method" and looked_up.last_payment_error

    def hold(self):
        intents = self.v1.payment_intents
        held = self.confirmed(self.intent(CARD, "held", capture_method="manual"))
        assert held.status == "requires_capture" and held.latest_charge.payment_method_details.card.capture_before
        captured = self.sent(intents.capture, params.PaymentIntentCaptureParams, {"amount_to_capture": 20000}, held.id)
        assert captured.amount_received == 20000
        given_up = self.confirmed(self.intent(CARD, "given-up", capture_method="manual"))
        assert self.sent(intents.cancel, params.PaymentIntentCancelParams, {}, given_up.id).status == "canceled"

    def promptpay(self):
        form = {"amount": 10000, "currency": "thb", "metadata": {"till_reference": "qr/authorize"}}
        intent = self.sent(self.v1.payment_intents.create, params.PaymentIntentCreateParams, form, key="qr/prepare")
        data = {"type": "promptpay", "billing_details": {"email": "a@example.com"}}
        asked = self.confirmed(intent, payment_method_data=data)
        posted(asked.next_action.promptpay_display_qr_code.hosted_instructions_url, {"answer": "paid"})
        self.qr = self.judged(self.v1.payment_intents.retrieve(intent.id, {"expand": ["latest_charge"]}))
        assert self.qr.status == "succeeded"

    def refunds(self):
        intent = self.confirmed(self.intent(CARD, "refunded"))
        form = {"payment_intent": intent.id, "amount": 5000, "metadata": {"till_reference": "ref_1"}}
        refund = self.sent(self.v1.refunds.create, params.RefundCreateParams, form, key="ref_1")
        assert refund.status == "succeeded"
        listed = self.sent(self.v1.refunds.list, params.RefundListParams, {"payment_intent": intent.id, "limit": 1})
        assert [one.metadata["till_reference"] for one in listed.data] == ["ref_1"]
        asking = self.sent(self.v1.refunds.create, params.RefundCreateParams, {"payment_intent": self.qr.id})
        assert asking.next_action.display_details.email_sent.email_sent_to == "a@example.com"
        failed = controlled(self.address, f"refunds/{asking.id}/end", {"status": "failed"})
        assert self.judged(self.v1.refunds.retrieve(asking.id)).failure_reason == failed["failure_reason"]

    def reconciliation(self):
        controlled(self.address, f"intents/{self.confirmed(self.intent(CARD)).id}/dispute", {})
        controlled(self.address, "payouts", {"account": self.account["account"], "amount": 1000})
        form = {"created": {"gte": int(time.time()) - 3600, "lt": int(time.time()) + 3600}, "limit": 3}
        form |= {"expand": ["data.source"]}
        page = self.sent(self.v1.balance_transactions.list, params.BalanceTransactionListParams, form)
        found = list(page.auto_paging_iter())
        assert {one.type for one in found} == {"charge", "payment", "refund", "adjustment", "payout"}, found
        for one in found:
            expect(client_types.faults_of_object(one.to_dict(), one.type), f"the source of {one.type}")

    def forms(self):
        """As they were sent; and a member that the client does not have is found."""
        self.count += check_forms(self.address)
        with refused(stripe.InvalidRequestError, "parameter_unknown"):
            self.v1.payment_intents.create({"amount": 25000, "currency": "thb", "colour": "red"})
        try:
            check_forms(self.address)
        except AssertionError as error:
            assert "colour is no member of PaymentIntentCreateParams" in str(error), error
        else:
            raise AssertionError("a member that the client does not have was not found")

    def refusals(self):
        intents = self.v1.payment_intents
        with refused(stripe.InvalidRequestError, "payment_method_types_no_longer_supported"):
            intents.create({"amount": 25000, "currency": "thb", "payment_method_types": ["card"]})
        with refused(stripe.InvalidRequestError, "resource_missing"):
            intents.retrieve("pi_none")
        with refused(stripe.InvalidRequestError, "payment_intent_unexpected_state"):
            intents.capture(self.confirmed(self.intent(CARD)).id)
        stranger = stripe.StripeClient("sk_live_fakeUNKNOWN", base_addresses={"api": self.address})
        with refused(stripe.AuthenticationError, None):
            stranger.v1.accounts.retrieve_current()

    def keys(self):
        form = {"amount": 25000, "currency": "thb"}
        create, typed = self.v1.payment_intents.create, params.PaymentIntentCreateParams
        first = self.sent(create, typed, form, key="key-1")
        again = self.sent(create, typed, form, key="key-1")
        assert again.id == first.id and again.last_response.headers["Idempotent-Replayed"] == "true"
        with refused(stripe.IdempotencyError, None):
            create({"amount": 26000, "currency": "thb"}, {"idempotency_key": "key-1"})
        controlled(self.address, "faults/next", {"fault": "limited"})
        with refused(stripe.RateLimitError, "rate_limit"):
            self.v1.accounts.retrieve_current()

    def notices(self):
        """The client's verifier takes what the fake signs as Stripe would, and refuses the rest."""
        kinds = {self.verified(*one).type for one in self.settled()}
        assert {"checkout.session.completed", "charge.refunded", "payment_intent.succeeded"} <= kinds, kinds
        intent = self.intent(CARD)
        self.settled()
        for signature, age_seconds in (("v0", 0), ("wrong", 0), ("v1", 301)):
            self.send(intent.id, signature=signature, age_seconds=age_seconds)
            with refused(stripe.SignatureVerificationError, None):
                self.verified(*self.received.get(timeout=WITHIN_SECONDS))
        self.send(intent.id, signature="two")
        assert self.verified(*self.received.get(timeout=WITHIN_SECONDS)).data.object["id"] == intent.id

    def settled(self):
        """All that has been received, once nothing waits to be sent."""
        while any(one["state"] == "waiting" for one in controlled(self.address, "notices")["notices"]):
            time.sleep(0.05)
        return [self.received.get() for _ in range(self.received.qsize())]

    def send(self, object_id, **how):
        controlled(self.address, "notices/send", {"object": object_id, **how})

    def verified(self, header, body):
        event = stripe.Webhook.construct_event(body, header, self.webhook_secret)
        raw = json.loads(body)
        self.count += 1
        expect(client_types.faults_of_answer(raw, stripe.Event, "event."), f"the event {raw['type']}")
        told = raw["data"]["object"]
        expect(client_types.faults_of_object(told, raw["type"]), f"the object of {raw['type']}")
        return event


def session_form(reference):
    metadata = {"till_reference": f"{reference}/authorize", "till_payment": reference}
    price = {"currency": "thb", "unit_amount": 25000, "product_data": {"name": "order-1"}}
    return {
        "mode": "payment",
        "allowed_payment_method_types": ["card"],
        "adaptive_pricing": {"enabled": False},
        "line_items": [{"quantity": 1, "price_data": price}],
        "expires_at": int(time.time()) + 90 * 60,
        "success_url": "https://shop.example/paid",
        "cancel_url": "https://shop.example/back",
        "customer_email": "a@example.com",
        "locale": "th",
        "metadata": metadata,
        "payment_intent_data": {"capture_method": "automatic", "description": "order-1", "metadata": metadata},
    }


@contextlib.contextmanager
def refused(kind, code):
    """The client raises an error of a class and a code; what is yielded answers it afterwards."""
    caught = []
    try:
        yield lambda: caught[0]
    except kind as error:
        raw = error.json_body["error"] if error.json_body else None
        told = raw.get("code") if raw else None
        assert told == code, f"{told} is not {code}"
        expect(client_types.faults_of_answer(raw, stripe.ErrorObject) if raw else [], f"the error {code}")
        caught.append(error)
    assert caught, f"{kind.__name__} {code} was not raised"


def receiver():
    """An endpoint that takes every notice, and the queue that it puts them into."""
    received = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.put((self.headers["Stripe-Signature"], body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, received


if __name__ == "__main__":
    main()
