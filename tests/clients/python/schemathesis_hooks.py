"""Spells the one thing that schemathesis 4.32 cannot read in a way that it can."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    rewrite(raw_schema)


def rewrite(node):
    """Rewrites a document in place, from the leaves up. An array with `prefixItems` is converted to an older draft for
    answers, and then checked by the newer one. Instead each of its items is looked for at any place; the length stays."""
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        rewrite(child)
    if isinstance(node, dict) and isinstance(prefix := node.pop("prefixItems", None), list):
        node["allOf"] = [{"contains": item} for item in prefix]
