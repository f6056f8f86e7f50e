"""Forms and answers judged by the types of Stripe's published Python client: a member that it does not have, a member
that must be there and is not, a value of another type, a word that is not among the documented ones.

Closed words are typed there as `Literal[...] | str`; here the documented ones are meant.
"""

import builtins
import typing

import stripe
import stripe.checkout
import stripe.params
import stripe.params.checkout
import typing_extensions
from stripe import _stripe_object
from stripe._object_classes import get_object_class
from stripe._stripe_object import UntypedStripeObject

STRIPES = (_stripe_object, stripe.params, stripe.params.checkout, stripe, stripe.checkout)
NAMESPACES = (builtins, *STRIPES, typing, typing_extensions)


class AnotherName:
    """A name that only one module gives to a class: the object itself tells which, by its member `object`."""


class Names(dict):
    """Names of the client's annotations, looked for where its modules import them from."""

    def __missing__(self, name):
        for namespace in NAMESPACES:
            if hasattr(namespace, name):
                return getattr(namespace, name)
        return AnotherName


def resolved(annotation):
    """An annotation without quotes and without `NotRequired` around it."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return resolved(eval(annotation, {}, Names()))
    if typing.get_origin(annotation) in (typing.NotRequired, typing_extensions.NotRequired):
        return resolved(typing.get_args(annotation)[0])
    return annotation


def members_of(kind):
    """The annotated members of a class, those of its bases included."""
    members = {}
    for base in reversed(kind.__mro__):
        members |= base.__dict__.get("__annotations__", {})
    return {name: one for name, one in members.items() if name != "OBJECT_NAME" and not name.startswith("_")}


def is_optional(annotation):
    if isinstance(annotation, (typing.ForwardRef, str)):
        return False
    return type(None) in typing.get_args(annotation)


def faults_of_form(form, parameters, path=""):
    """What the typed parameters do not have of a form: of Python's values, or of texts as they were sent."""
    members = members_of(parameters)
    faults = [f"{path}{name} is missing" for name in parameters.__required_keys__ - form.keys()]
    for name, value in form.items():
        if name not in members:
            faults.append(f"{path}{name} is no member of {parameters.__name__}")
        else:
            faults += faults_of_value(value, resolved(members[name]), f"{path}{name}")
    return faults


def faults_of_answer(answer, kind, path=""):
    """What a class of the client does not have of an answer's object, and what the answer lacks."""
    members = members_of(kind)
    faults = [f"{path}{name} is no member of {kind.__qualname__}" for name in answer.keys() - members.keys()]
    for name, annotation in members.items():
        if name in answer:
            faults += faults_of_value(answer[name], resolved(annotation), f"{path}{name}")
        elif not is_optional(annotation):
            faults.append(f"{path}{name} is missing")
    return faults


def faults_of_value(value, annotation, path):
    annotation = resolved(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union or type(annotation).__name__ == "UnionType":
        return faults_of_union(value, [resolved(one) for one in arguments], path)
    if origin is typing.Literal:
        return [] if value in arguments else [f"{path}: {value!r} is no documented word"]
    if isinstance(value, list) and origin is list:
        return [fault for at, one in enumerate(value) for fault in faults_of_value(one, arguments[0], f"{path}[{at}]")]
    if isinstance(value, dict):
        return faults_of_dict(value, annotation, origin, path)
    return [] if is_plain(value, annotation) else [f"{path}: {value!r} is no {annotation}"]


def faults_of_union(value, choices, path):
    """The faults by the choice that fits best; texts beside literals that say more than "empty" are the literals'."""
    words = [one for one in choices if typing.get_origin(one) is typing.Literal and set(typing.get_args(one)) != {""}]
    if words:
        choices = [one for one in choices if one is not str]
    if value is not None:
        choices = [one for one in choices if one is not type(None)]
    if isinstance(value, dict) and known_object(value):
        return faults_of_object(value, path)
    return min((faults_of_value(value, one, path) for one in choices), key=len)


def known_object(value):
    """The client's class of an object that says what it is."""
    name = value.get("object")
    kind = get_object_class("V1", name if isinstance(name, str) else "")
    return None if kind is stripe.StripeObject else kind


def faults_of_object(value, path):
    """An object that says what it is, or a list of them."""
    return faults_of_dict(value, None, None, path)


def faults_of_dict(value, annotation, origin, path):
    if origin in (dict, UntypedStripeObject) or annotation is UntypedStripeObject:
        return []
    if value.get("object") == "list":
        return [fault for at, one in enumerate(value["data"]) for fault in faults_of_object(one, f"{path}[{at}]")]
    kind = known_object(value) or annotation
    if isinstance(kind, type) and issubclass(kind, stripe.StripeObject):
        return faults_of_answer(value, kind, f"{path}.")
    if typing_extensions.is_typeddict(kind):
        return faults_of_form(value, kind, f"{path}.")
    return [f"{path}: an object is no {annotation}"]


def is_plain(value, annotation):
    """A value of a type, or the text that a form sends for it."""
    if annotation is bool:
        return value in (True, False, "true", "false")
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool) or isinstance(value, str) and value.isdigit()
    return annotation is type(None) and value is None or isinstance(annotation, type) and isinstance(value, annotation)
