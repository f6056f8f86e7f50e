"""The calls of the API: method, address, form, and what each does."""

import accounts
import balance
import checkout
import confirming
import intents
import parameters
import payment_methods
import refunds
import refusals
import sessions


def create_intent(context, values):
    confirm = values.pop("confirm", False)
    intent = intents.create(context, values | ({"confirm": True} if confirm else {}))
    method = confirming.method_of(context, intent, values)
    if confirm:
        chosen = {"payment_method": method.id} if method else {}
        confirming.confirm(context, intent, values | chosen)
    elif method is not None:
        confirming.check_type(context, intent, method)
        intent.update(payment_method=method.id, status="requires_confirmation")
        context.save(intent)
    return intent


def confirm_intent(context, values, intent):
    confirming.confirm(context, intent, values)
    return intent


def capture_intent(context, values, intent):
    intents.capture(context, intent, values)
    return intent


def cancel_intent(context, values, intent):
    intents.cancel(context, intent, values.get("cancellation_reason"))
    return intent


def expire_session(context, _values, session):
    checkout.expire(context, session)
    return session


def found(_context, _values, entity):
    return entity


def account(context, _values):
    return accounts.shown(context.account)


class Route:
    """A call: `kind` is that of the object whose id stands in the address."""

    def __init__(self, method, template, schema, act, kind=None):
        self.method, self.template, self.schema, self.act, self.kind = method, template, schema, act, kind
        self.parts = template.strip("/").split("/")

    def matches(self, parts):
        return len(parts) == len(self.parts) and all(
            wanted == given or wanted == "{id}" for wanted, given in zip(self.parts, parts)
        )

    def run(self, context, path, values):
        """The answer's body; the object is looked for first."""
        if self.kind is None:
            done = self.act(context, values)
        else:
            object_id = path.strip("/").split("/")[self.parts.index("{id}")]
            done = self.act(context, values, context.find(self.kind, object_id, parameter_of(self.kind)))
        return done if isinstance(done, dict) else done.body


def parameter_of(kind):
    """The word by which Stripe's refusal names the id in an address."""
    return {"payment_intent": "intent", "checkout.session": "session"}.get(kind, "id")


FORM = parameters
ROUTES = [
    Route("GET", "/v1/account", FORM.ACCOUNT, account),
    Route("POST", "/v1/checkout/sessions", FORM.SESSION, sessions.create),
    Route("GET", "/v1/checkout/sessions/{id}", FORM.EXPAND, found, "checkout.session"),
    Route("POST", "/v1/checkout/sessions/{id}/expire", FORM.EXPAND, expire_session, "checkout.session"),
    Route("POST", "/v1/payment_methods", FORM.PAYMENT_METHOD, payment_methods.create),
    Route("GET", "/v1/payment_methods/{id}", FORM.EXPAND, found, "payment_method"),
    Route("POST", "/v1/payment_intents", FORM.INTENT, create_intent),
    Route("GET", "/v1/payment_intents/{id}", FORM.EXPAND, found, "payment_intent"),
    Route("POST", "/v1/payment_intents/{id}/confirm", FORM.CONFIRM, confirm_intent, "payment_intent"),
    Route("POST", "/v1/payment_intents/{id}/capture", FORM.CAPTURE, capture_intent, "payment_intent"),
    Route("POST", "/v1/payment_intents/{id}/cancel", FORM.CANCEL, cancel_intent, "payment_intent"),
    Route("GET", "/v1/charges/{id}", FORM.EXPAND, found, "charge"),
    Route("POST", "/v1/refunds", FORM.REFUND, refunds.create),
    Route("GET", "/v1/refunds", FORM.REFUND_LIST, refunds.listed),
    Route("GET", "/v1/refunds/{id}", FORM.EXPAND, found, "refund"),
    Route("GET", "/v1/balance_transactions", FORM.BALANCE_LIST, balance.listed),
    Route("GET", "/v1/balance_transactions/{id}", FORM.EXPAND, found, "balance_transaction"),
]


def route_of(method, path):
    parts = path.strip("/").split("/")
    for route in ROUTES:
        if route.method == method and route.matches(parts):
            return route
    raise refusals.unknown_address(method, path)


def template_of(method, path):
    """The address with `{id}` for ids, for counters; the path itself when there is no such call."""
    try:
        return route_of(method, path).template
    except refusals.Refusal:
        return path
