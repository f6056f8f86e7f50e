"""Accounts, their secrets and their endpoints for notices. A test registers them; there is none before."""

import json
import secrets as random

import refusals

SETTINGS = {
    "country": "TH",
    "default_currency": "thb",
    "raw_card_numbers": True,
    "fee_basis_points": 365,
    "fee_fixed": 0,
    "hold_seconds": 7 * 86400,
    "refund_pending_seconds": 3600,
    "qr_seconds": 86400,
    "rate_per_second": None,
    "name": "A shop of tests",
}
RATES_PER_SECOND = {True: 100, False: 25}


def register(store, wish):
    """Adds or changes an account: any of `SETTINGS`, `account`, `secret`, `livemode`, `revoked`, `webhook`."""
    account_id = wish.get("account") or f"acct_fake{random.token_hex(6)}"
    row = store.row("SELECT body FROM accounts WHERE id = ?", account_id)
    now = int(store.now())
    account = json.loads(row["body"]) if row else SETTINGS | {"id": account_id, "created": now, "webhooks": []}
    account |= {name: wish[name] for name in SETTINGS if name in wish}
    secret, livemode = secret_of(store, account_id, wish, new=row is None)
    if "webhook" in wish:
        kept = [one for one in account["webhooks"] if one["livemode"] != livemode]
        account["webhooks"] = kept + ([wish["webhook"] | {"livemode": livemode}] if wish["webhook"] else [])
    store.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?)", account_id, json.dumps(account))
    return {"account": account_id, "secret": secret, "livemode": livemode}


def secret_of(store, account_id, wish, new):
    """The secret that is registered, made up for a new account, and the mode it works in."""
    secret = wish.get("secret")
    if secret is None and new:
        kind = "live" if wish.get("livemode", True) else "test"
        secret = f"sk_{kind}_fake{random.token_hex(12)}"
    if secret is None:
        return None, wish.get("livemode", True)
    livemode = wish.get("livemode", not secret.startswith(("sk_test_", "rk_test_")))
    revoked = wish.get("revoked", False)
    store.execute("INSERT OR REPLACE INTO secrets VALUES (?, ?, ?, ?)", secret, account_id, livemode, revoked)
    return secret, livemode


def find(store, account_id):
    row = store.row("SELECT body FROM accounts WHERE id = ?", account_id)
    if row is None:
        raise refusals.missing("account", account_id)
    return json.loads(row["body"])


def all_of(store):
    return [json.loads(row["body"]) for row in store.rows("SELECT body FROM accounts ORDER BY id")]


def of_secret(store, secret):
    """The account that a secret belongs to, and whether it is of its live mode."""
    if not secret:
        raise refusals.no_secret()
    row = store.row("SELECT * FROM secrets WHERE secret = ?", secret)
    if row is None:
        raise refusals.unknown_secret(secret)
    if row["revoked"]:
        raise refusals.revoked_secret(secret)
    return find(store, row["account"]), bool(row["livemode"])


def rate_per_second(account, livemode):
    return account["rate_per_second"] or RATES_PER_SECOND[livemode]


def shown(account):
    """The account as `GET /v1/account` answers it."""
    return {
        "id": account["id"],
        "object": "account",
        "business_profile": {"mcc": None, "name": account["name"], "product_description": None, "support_email": None},
        "capabilities": {"card_payments": "active", "promptpay_payments": "active"},
        "charges_enabled": True,
        "country": account["country"],
        "created": account["created"],
        "default_currency": account["default_currency"],
        "details_submitted": True,
        "email": "shop@example.com",
        "metadata": {},
        "payouts_enabled": True,
        "type": "standard",
    }
