"""What happens to a session on its card page and at its end."""

import attempts
import events
import intents
import payment_methods
import refusals
import sessions


def expire(context, session):
    """`POST /v1/checkout/sessions/{id}/expire`."""
    if session["status"] != "open":
        told = 'Only Checkout Sessions with a status in ["open"] can be expired.'
        raise refusals.refused(f"{told} This Checkout Session has a status of `{session['status']}`.")
    close(context, session)


def close(context, session):
    """Nobody can pay the session any more; an intent that its page began is canceled."""
    session.update(status="expired", url=None)
    context.store.end_timer("session_expires", session.id)
    context.save(session)
    if session["payment_intent"] is not None:
        intents.end(context, context.find("payment_intent", session["payment_intent"]), "automatic")
    events.emit(context, "checkout.session.expired", session)


def pay(context, session, fields):
    """A customer's card on the page. Answers where the customer goes on, or raises what the page shows."""
    month, _, year = fields["expiry"].partition("/")
    if not (month.strip().isdigit() and year.strip().isdigit()):
        raise payment_methods.card_error("invalid_expiry_month", "exp_month")
    card = {"number": fields["number"], "exp_month": int(month), "exp_year": int(year), "cvc": fields["cvc"]}
    billing = {"email": fields["email"], "name": fields["name"]}
    method = payment_methods.card(context, {"card": card, "billing_details": billing})
    intent = intent_of(context, session)
    sessions.attach(context, session, intent, fields["email"], fields["name"])
    refusal = attempts.begin(context, intent, method, session["url"])
    if refusal is not None:
        raise refusal
    return went_on(context, intent)


def intent_of(context, session):
    """The session's intent, which its page makes at the first attempt."""
    if session["payment_intent"] is not None:
        return context.find("payment_intent", session["payment_intent"])
    values = {"payment_method_options": session.private.get("payment_method_options", {})}
    values |= session.private.get("payment_intent_data", {})
    values |= {"amount": session["amount_total"], "currency": session["currency"]}
    intent = intents.new(context, values, session["payment_method_types"], session=session.id)
    events.emit(context, "payment_intent.created", intent)
    return intent


def went_on(context, intent):
    """Where the customer goes after an attempt of a session's intent."""
    if intent["status"] == "requires_action":
        return intent["next_action"]["redirect_to_url"]["url"]
    sessions.follow(context, intent)
    session = context.find("checkout.session", intent.private["session"])
    if session["status"] == "complete":
        return session["success_url"].replace("{CHECKOUT_SESSION_ID}", session.id)
    return session["url"]


def went_back(context, intent):
    """Where the customer goes from the issuer's page or a PromptPay page."""
    if intent.private["session"]:
        return went_on(context, intent)
    address = intent.private["return_url"]
    if address is None:
        return None
    ended = "failed" if intent["status"] == "requires_payment_method" else "succeeded"
    query = f"payment_intent={intent.id}&payment_intent_client_secret={intent['client_secret']}&redirect_status={ended}"
    return f"{address}{'&' if '?' in address else '?'}{query}"
