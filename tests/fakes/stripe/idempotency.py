"""Idempotency keys: the first answer is kept for a day and given again to the same call, whatever it was."""

import json

import refusals

KEPT_SECONDS = 24 * 3600
KEY_MAX = 255


def check(key):
    if len(key) > KEY_MAX:
        raise refusals.invalid("Idempotency keys have at most 255 characters.")


def stored(context, path, form):
    """The status and body that were answered under the context's key, or None."""
    row = context.store.row(
        "SELECT * FROM keys WHERE account = ? AND livemode = ? AND key = ? AND created > ?",
        context.account["id"], context.livemode, context.key, context.now - KEPT_SECONDS,
    )
    if row is None:
        return None
    if row["path"] != path:
        raise refusals.key_of_other(context.key, f"for the same endpoint ('{row['path']}')")
    if row["parameters"] != digest(form):
        raise refusals.key_of_other(context.key, "with the same parameters")
    return row["status"], json.loads(row["body"])


def keep(context, path, form, status, body):
    context.store.execute(
        "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?)", context.account["id"], context.livemode,
        context.key, path, digest(form), status, json.dumps(body), context.now,
    )


def digest(form):
    return json.dumps(form, sort_keys=True)
