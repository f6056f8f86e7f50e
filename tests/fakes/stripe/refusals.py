"""Refusals in Stripe's form."""

DOCUMENTATION = "https://stripe.com/docs/error-codes/"


class Refusal(Exception):
    """An error that is answered. `executed` says whether the call had begun to execute: only then its key keeps it."""

    def __init__(self, status, kind, message, code=None, param=None, executed=False, headers=(), **members):
        super().__init__(message)
        self.status, self.executed, self.headers = status, executed, dict(headers)
        error = {"type": kind, "message": message, **members}
        if code is not None:
            error |= {"code": code, "doc_url": documentation_of(code)}
        if param is not None:
            error["param"] = param
        self.body = {"error": error}


def documentation_of(code):
    return DOCUMENTATION + code.replace("_", "-")


def invalid(message, code=None, param=None, status=400, **more):
    """A form or a value that is refused before anything is executed."""
    return Refusal(status, "invalid_request_error", message, code=code, param=param, **more)


def refused(message, code=None, param=None, **members):
    """A call that the state of its object does not allow."""
    return invalid(message, code=code, param=param, executed=True, **members)


def missing(kind, object_id, param="id"):
    return invalid(f"No such {kind}: '{object_id}'", code="resource_missing", param=param, status=404, executed=True)


def no_secret():
    message = "You did not provide an API key: send it in the Authorization header."
    return invalid(message, status=401, headers={"WWW-Authenticate": 'Basic realm="Stripe"'})


def unknown_secret(secret):
    shown = f"{secret[:8]}{'*' * max(len(secret) - 12, 0)}{secret[-4:]}"
    headers = {"WWW-Authenticate": 'Basic realm="Stripe"'}
    return invalid(f"Invalid API Key provided: {shown}", status=401, headers=headers)


def revoked_secret(secret):
    return invalid(f"Expired API Key provided: {secret[:8]}****", code="api_key_expired", status=401)


def forbidden():
    return invalid("The provided key does not have the required permissions for this endpoint.", status=403)


def wrong_version(given, pinned):
    told = "No Stripe-Version was sent" if given is None else f"Invalid Stripe API version: {given}"
    return invalid(f"{told}. This fake plays {pinned} only.")


def unknown_address(method, path):
    return invalid(f"Unrecognized request URL ({method}: {path}).", status=404)


def rate_limited():
    message = "Request rate limit exceeded."
    return invalid(message, code="rate_limit", status=429, headers={"Stripe-Rate-Limited-Reason": "global-rate"})


def key_in_use(key):
    message = (
        "There is currently another in-progress request using this Idempotent Key (that probably means you submitted "
        f"twice, and the other request is still going through): {key}. Please try again later."
    )
    return Refusal(409, "idempotency_error", message, code="idempotency_key_in_use")


def object_locked():
    return invalid("This object is being accessed by another request. Try again.", code="lock_timeout", status=409)


def key_of_other(key, what):
    message = (
        f"Keys for idempotent requests can only be used {what} they were first used with. Try using a key other than "
        f"'{key}' if you meant to execute a different request."
    )
    return Refusal(400, "idempotency_error", message)


def internal():
    return Refusal(500, "api_error", "An unknown error occurred", executed=True)
