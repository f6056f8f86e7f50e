"""The pages that customers see: the card page, the issuer's page of 3-D Secure, and the page of a PromptPay code.

They need no script: each is one form, posted to its own address.
"""

import html
import urllib.parse

import answers
import attempts
import checkout
import currencies
import refusals
import timers
from context import of_object

ISSUER_ANSWERS = (*attempts.ANSWERS, *attempts.REFUSING_ANSWERS)
CODE_ANSWERS = ("paid", "failed")
FIELDS = {
    "email": ("Email", "email"),
    "number": ("Card number", "cc-number"),
    "expiry": ("Expiration (MM / YY)", "cc-exp"),
    "cvc": ("CVC", "cc-csc"),
    "name": ("Name on card", "cc-name"),
}


class Pages:
    def __init__(self, store, base):
        self.store, self.base = store, base

    def answer(self, request):
        """The answer to a request of a page, or None when the address is not one of them."""
        page, _, name = request.path.strip("/").rpartition("/")
        pages = {"c/pay": self.card_page, "issuer": self.issuer_page, "promptpay": self.code_page}
        if page not in pages or request.method not in ("GET", "POST"):
            return None
        fields = dict(urllib.parse.parse_qsl(request.body.decode(), keep_blank_values=True))
        with self.store.transaction():
            timers.run_due(self.store, self.base)
        with self.store.transaction():
            try:
                return pages[page](name, fields if request.method == "POST" else None)
            except refusals.Refusal as refusal:
                return answers.of_page(404, document("Nothing here", f"<p>{html.escape(str(refusal))}</p>"))

    def card_page(self, session_id, fields):
        context, session = of_object(self.store, session_id, self.base)
        if session.kind != "checkout.session":
            raise refusals.missing("checkout.session", session_id)
        if session["status"] != "open":
            return answers.of_page(200, ended(session))
        if fields is None:
            known = {"email": session["customer_email"] or ""}
            return answers.of_page(200, card_form(session, known, failure(context, session)))
        try:
            return answers.see_other(checkout.pay(context, session, {name: "" for name in FIELDS} | fields))
        except refusals.Refusal as refusal:
            return answers.of_page(200, card_form(session, fields, str(refusal)))

    def issuer_page(self, token, fields):
        context, intent = self.of_token(token)
        answer = (fields or {}).get("answer")
        if answer not in ISSUER_ANSWERS:
            return answers.of_page(200, question("Your bank asks: is it you who pays?", intent, ISSUER_ANSWERS))
        attempts.answered_by_issuer(context, intent, answer)
        return self.left(context, intent)

    def left(self, context, intent):
        """Sends the customer on; an intent without a way back ends here."""
        address = checkout.went_back(context, intent)
        return answers.see_other(address) if address else answers.of_page(200, document("You can close this page.", ""))

    def code_page(self, token, fields):
        context, intent = self.of_token(token)
        answer = (fields or {}).get("answer")
        if answer not in CODE_ANSWERS:
            return answers.of_page(200, question("Scan to pay with PromptPay", intent, CODE_ANSWERS))
        attempts.end_code(context, intent, answer)
        return self.left(context, intent)

    def of_token(self, token):
        row = self.store.row("SELECT intent FROM tokens WHERE token = ?", token)
        if row is None:
            raise refusals.missing("page", token)
        return of_object(self.store, row["intent"], self.base)


def failure(context, session):
    """Why the session's last attempt failed, for the customer who comes back from the issuer's page."""
    if session["payment_intent"] is None:
        return None
    error = context.find("payment_intent", session["payment_intent"])["last_payment_error"]
    return error and error["message"]


def card_form(session, fields, error):
    shown = {name: "" if name in ("number", "cvc") else fields.get(name, "") for name in FIELDS}
    inputs = "".join(
        f'<p><label for="{name}">{label}</label> <input id="{name}" name="{name}" autocomplete="{hint}" required '
        f'value="{html.escape(shown[name])}"></p>'
        for name, (label, hint) in FIELDS.items()
    )
    told = f'<p role="alert">{html.escape(error)}</p>' if error else ""
    back = session["cancel_url"]
    link = f'<p><a id="back" href="{html.escape(back)}">Back to the shop</a></p>' if back else ""
    amount = html.escape(currencies.shown(session["amount_total"], session["currency"]))
    line = html.escape(session.private["line"])
    button = '<p><button type="submit">Pay</button></p>'
    form = f'{told}<form method="post"><p id="amount">{line} {amount}</p>{inputs}{button}</form>{link}'
    return document("Pay by card", form, session["locale"])


def ended(session):
    told = "You have paid already." if session["status"] == "complete" else "This page has expired."
    address = session["success_url"] if session["status"] == "complete" else session["cancel_url"]
    address = (address or "").replace("{CHECKOUT_SESSION_ID}", session.id)
    link = f'<p><a id="back" href="{html.escape(address)}">Back to the shop</a></p>' if address else ""
    return document(told, link, session["locale"])


def question(title, intent, words):
    amount = html.escape(currencies.shown(intent["amount"], intent["currency"]))
    buttons = "".join(f'<p><button name="answer" value="{word}">{word}</button></p>' for word in words)
    return document(title, f'<form method="post"><p id="amount">{amount}</p>{buttons}</form>')


def document(title, inner, locale=None):
    language = "en" if locale in (None, "auto") else locale
    head = f'<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
    main = f"<main><h1>{html.escape(title)}</h1>{inner}</main>"
    return f'<!doctype html><html lang="{language}">{head}<body>{main}</body></html>'
