"""Forms as Stripe's API takes them: `a[b]=1&c[]=2&d[0][e]=3` as nested dicts and lists of strings."""

import re
import urllib.parse

from refusals import invalid

PART = re.compile(r"\[([^\[\]]*)\]")


def parsed(text):
    """The nested form of a body or a query."""
    form = {}
    for name, value in urllib.parse.parse_qsl(text, keep_blank_values=True, max_num_fields=1000):
        put(form, path_of(name), value)
    return with_lists(form)


def path_of(name):
    """`a[b][]` as the parts `a`, `b` and the empty one."""
    head, bracket, rest = name.partition("[")
    tail = bracket + rest
    if not head or PART.sub("", tail):
        raise invalid(f"Invalid parameter name: {name}", code="parameter_unknown", param=name)
    return [head, *PART.findall(tail)]


def put(form, path, value):
    """Sets a value below nested dicts; an empty part appends."""
    for part, following in zip(path, [*path[1:], None]):
        part = part or str(len(form))
        if following is None:
            if part in form:
                raise invalid(f"The parameter {part} was given twice.", param=part)
            form[part] = value
            return
        form = form.setdefault(part, {})
        if not isinstance(form, dict):
            raise invalid(f"Invalid object: {part}", param=part)


def with_lists(form):
    """The form with a list in place of each dict whose names count from 0."""
    if not isinstance(form, dict):
        return form
    inner = {name: with_lists(value) for name, value in form.items()}
    if inner and list(inner) == [str(at) for at in range(len(inner))]:
        return list(inner.values())
    return inner
