"""Payments by the number of a card, each with a refund, at localstripe, a fake of Stripe that others wrote and that
keeps no idempotency keys, while requests and answers are lost: it has one charge and one refund for each."""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import till

from losing_proxy import Proxy

PAYMENTS = 300
REQUESTS_LOST, ANSWERS_LOST = 0.1, 0.2
AMOUNT = {"amount": "20000", "currency": "THB"}
CARD = {"number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49", "security_code": "123"}
SECRET = "sk_test_EXAMPLE000000000000001234"
ENDED_WITHIN_SECONDS = 600
PAUSE_SECONDS = 0.2
# Payments of which nothing could be sent for a minute; none of them may be charged.
NOT_SENT = "acquirer_not_available"


def main():
    with localstripe() as address:
        proxy = Proxy(address, int(os.environ["SEED"]), REQUESTS_LOST, ANSWERS_LOST)
        settings = {
            "TILL_STRIPE_URL": f"http://{proxy.address}",
            "TILL_PUBLIC_URL": "https://till.example",
            "TILL_ACQUIRER_TIMES_DIVIDED_BY": "20",
        }
        binary, directory = os.environ["TILL_BINARY"], Path("till")
        with till.running(binary, directory, shops=1, settings=settings) as server:
            shop = Shop(server)
            payments = shop.pay(PAYMENTS)
            shop.give_back(payments)
        check(address, payments)
        print(f"{proxy.counted}: each of {PAYMENTS} payments was charged once and given back once")


@contextlib.contextmanager
def localstripe():
    """The address of a running localstripe."""
    program = Path(__file__).with_name("localstripe_server.py")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class Shop:
    """A merchant whose cards are charged at an account of localstripe."""

    def __init__(self, server):
        [shop] = server.shops
        self.named = {name: shop[name] for name in ("merchant_id", "installation_id")}
        self.sdk = till.Caller(server.public, "", "/sdk/")
        self.merchants = till.Caller(server.public, shop["key"], "/merchants/")
        admin = till.Caller(server.admin, till.ADMIN_TOKEN, "/admin/")
        merchant = {"merchant_id": shop["merchant_id"]}
        account = {"acquirer": "stripe", "name": "localstripe", "secret": SECRET, "card_entry": "NUMBER"}
        acquirer = admin("add-acquirer", {**merchant, **account, "unchecked": True})
        method = {"payment_method": "CARD", "acquirer": acquirer, "enabled": True, "authorizes_without_capture": True}
        admin("configure-payment-method", {**merchant, **method})

    def pay(self, count):
        """Captured payments, as many as this."""
        paid = []
        while len(paid) < count:
            begun = [self.begin() for _ in range(count - len(paid))]
            ended = [self.ended("find-payment", "payment_id", payment) for payment in begun]
            paid += [one["payment_id"] for one in ended if one["status"] == "SUCCESSFUL"]
            refused = [one for one in ended if one["status"] != "SUCCESSFUL" and one["failure_code"] != NOT_SENT]
            assert not refused, refused
        return paid

    def begin(self):
        token = self.sdk("tokenize-card", {**self.named, **CARD})
        choice = {**AMOUNT, "payment_method": "CARD", "token": token}
        session = self.sdk("select-payment-method", {**self.named, **choice})
        rest = {"payment_session_id": session, "capture": True, "return_url": "https://shop.example/done"}
        return self.merchants("initiate-payment-flow", {**AMOUNT, **rest})

    def give_back(self, payments):
        refunds = [self.merchants("refund-payment", {"payment_id": payment}) for payment in payments]
        for refund in refunds:
            ended = self.ended("find-refund", "refund_id", refund)
            assert ended["status"] == "SUCCESSFUL", ended

    def ended(self, endpoint, name, value):
        """A payment or refund once it is not pending any more."""
        until = time.monotonic() + ENDED_WITHIN_SECONDS
        while (found := self.merchants(endpoint, {name: value}))["status"] == "PENDING":
            assert time.monotonic() < until, found
            time.sleep(PAUSE_SECONDS)
        return found


def check(address, payments):
    """One charge and one refund of each payment, and no others."""
    intents = {intent["id"]: intent["metadata"]["till_payment"] for intent in listed(address, "payment_intents")}
    for kind in ("charges", "refunds"):
        counted = Counter(intents[one["payment_intent"]] for one in listed(address, kind))
        assert counted == Counter(payments), f"{counted.total()} {kind} of {len(counted)} payments"


def listed(address, kind):
    url = f"http://{address}/v1/{kind}?limit=1000000"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {SECRET}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["data"]


if __name__ == "__main__":
    main()
