"""Spells what schemathesis 4.32 cannot read in ways that it can."""

import schemathesis

JSON_TYPES = {"object", "array", "string", "number", "boolean", "null"}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    rewrite(raw_schema)


def rewrite(node):
    """Rewrites a document in place, from the leaves up."""
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        rewrite(child)
    if isinstance(node, dict):
        rewrite_tuple(node)
        rewrite_any(node)


def rewrite_tuple(schema):
    """An array with `prefixItems` is converted to an older draft for answers, and then checked by the newer one. Instead each
    of its items is looked for at any place; the length stays as it is."""
    if isinstance(prefix := schema.pop("prefixItems", None), list):
        schema["allOf"] = [{"contains": item} for item in prefix]


def rewrite_any(schema):
    """A list of types inside of `anyOf` ends the program. The list of all of them says nothing."""
    types = schema.get("type")
    if isinstance(types, list) and set(types) >= JSON_TYPES:
        del schema["type"]
