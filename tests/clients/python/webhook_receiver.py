"""A receiver of webhooks that verifies what is delivered by the reference library of Standard Webhooks (`v1`), by the
Ed25519 of OpenSSL (`v1a`) and by the HMAC of the standard library (the header that the webhook names)."""

import base64
import datetime
import hashlib
import hmac
import http.server
import json
import os
import queue
import threading

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from webfunction import Client

PUBLIC = os.environ["TILL_PUBLIC"]
SHOP = {"merchant_id": os.environ["TILL_MERCHANT"], "installation_id": os.environ["TILL_INSTALLATION"]}
CARD = {"number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49", "security_code": "123"}
CHOICE = {"amount": "10000", "currency": "THB", "payment_method": "CARD"}
OWN_HEADER = "X-Shop-Signature"
DELIVERED_WITHIN_SECONDS = 20


def main():
    merchants = Client.from_package_endpoint(f"{PUBLIC}/merchants", bearer_auth=os.environ["TILL_API_KEY"])
    receiver = Receiver()
    webhook = merchants.connect_webhook(
        name="receiver", destination_url=receiver.address, events=["*"], signature_header=OWN_HEADER
    )
    events = [payment(merchants, receiver, "order-1"), refund(merchants, receiver, "order-1")]
    events.append(tried(merchants, receiver, webhook))
    assert [json.loads(body).get("sequence") for _, body in events] == [1, 2, None], events
    for event in events:
        check_accepted(webhook, *event)
        check_rejected(webhook, *event)
    check_rotation(merchants, receiver, webhook)
    print("every delivery was verified, and everything that was changed rejected")


class Receiver:
    """An endpoint that answers 200 to everything and keeps what it gets."""

    def __init__(self):
        self.received = queue.Queue()
        received = self.received

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.put(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{server.server_port}/events"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def next(self, name):
        """The headers and the bytes of the next delivery, which must be of this event."""
        headers, body = self.received.get(timeout=DELIVERED_WITHIN_SECONDS)
        event = json.loads(body)
        assert event["event"] == name, event
        assert headers["webhook-id"] == event["event_id"], headers
        assert headers["content-type"].startswith("application/json"), headers
        return headers, body


def payment(merchants, receiver, order):
    sdk = Client.from_url(f"{PUBLIC}/sdk")
    token = sdk.tokenize_card(**SHOP, **CARD, usage="SINGLE")
    session = sdk.select_payment_method(**SHOP, **CHOICE, token=token)
    named = {"payment_session_id": session, "external_id": order, "return_url": "https://shop.example/done"}
    merchants.initiate_payment_flow(amount="10000", currency="THB", capture=True, **named)
    return receiver.next("payment_completed")


def refund(merchants, receiver, order):
    merchants.refund_payment(payment_id=order, amount="2500")
    return receiver.next("refund_completed")


def tried(merchants, receiver, webhook):
    answer = merchants.test_webhook(webhook_id=webhook["webhook_id"])
    assert (answer["status"], answer["response_status"]) == ("SUCCESSFUL", 200), answer
    return receiver.next("test")


def check_accepted(keys, headers, body):
    """By each of the three proofs; `keys` are a secret and its public key."""
    assert Webhook(keys["secret"]).verify(body, headers) == json.loads(body)
    assert ed25519_accepts(keys["public_key"], headers, body)
    assert headers[OWN_HEADER.lower()] == plain_hmac(keys["secret"], body), headers


def check_rejected(keys, headers, body):
    """A changed byte of the body, another id, a wrong secret, a wrong public key, and a time that has passed."""
    changed = body.replace(b"\"event\"", b"\"Event\"", 1)
    assert changed != body
    other = {**headers, "webhook-id": "evt_01jz0000000000000000000000"}
    own = Webhook(keys["secret"])
    assert "No matching signature" in rejection(own, changed, headers)
    assert "No matching signature" in rejection(own, body, other)
    assert "No matching signature" in rejection(Webhook(secret_of(b"w" * 32)), body, headers)
    assert not ed25519_accepts(keys["public_key"], headers, changed)
    assert not ed25519_accepts(keys["public_key"], other, body)
    assert not ed25519_accepts(public_key_of(b"w" * 32), headers, body)
    assert headers[OWN_HEADER.lower()] != plain_hmac(keys["secret"], changed)
    assert "too old" in rejection(own, body, replayed(own, headers, body))


def replayed(own, headers, body):
    """The headers as they would have been an hour ago, with a signature that was right then."""
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    signature = own.sign(headers["webhook-id"], then, body.decode())
    return {**headers, "webhook-timestamp": str(int(then.timestamp())), "webhook-signature": signature}


def check_rotation(merchants, receiver, before):
    """A delivery after the rotation is accepted by the secret before and by the new one, and by both public keys."""
    after = merchants.rotate_webhook_secret(webhook_id=before["webhook_id"])
    assert after["secret"] != before["secret"] and after["public_key"] != before["public_key"]
    for headers, body in (payment(merchants, receiver, "order-2"), tried(merchants, receiver, before)):
        check_accepted(after, headers, body)
        check_rejected(after, headers, body)
        assert Webhook(before["secret"]).verify(body, headers) == json.loads(body)
        assert ed25519_accepts(before["public_key"], headers, body)


def rejection(webhook, body, headers):
    """The message with which the library refuses a delivery."""
    try:
        webhook.verify(body, headers)
    except WebhookVerificationError as error:
        return str(error)
    raise AssertionError("the delivery was accepted")


def ed25519_accepts(public_key, headers, body):
    """Whether one of the `v1a` signatures is by this public key."""
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_"), validate=True))
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    signatures = [one.split(",") for one in headers["webhook-signature"].split(" ")]
    for signature in (base64.b64decode(text, validate=True) for version, text in signatures if version == "v1a"):
        try:
            key.verify(signature, content)
        except InvalidSignature:
            continue
        return True
    return False


def plain_hmac(secret, body):
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    return f"hmac_sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}"


def secret_of(key):
    return f"whsec_{base64.b64encode(key).decode()}"


def public_key_of(seed):
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return f"whpk_{base64.b64encode(public).decode()}"


if __name__ == "__main__":
    main()
