"""Files with wrong contents and the digest that belongs to them."""

import json

from fuzzing.forged_models import put_together, taken_apart


def forge(path, change):
    """Rewrite a model file after `change` was called with its header; return the path."""
    parts = taken_apart(path.read_bytes())
    inner = json.loads(json.dumps(parts.inner))
    change(inner)
    path.write_bytes(put_together(type(parts)(parts.outer, inner, parts.data)))
    return path


def entry(plain, *keys):
    """Return what plain JSON of a file has under these keys; dicts are lists of pairs there."""
    for key in keys:
        if isinstance(plain, dict) and "$dict" in plain:
            plain = dict(map(tuple, plain["$dict"]))[key]
        else:
            plain = plain[key]
    return plain


def put(plain, key, value):
    """Set what a dict, or an object, of a file has under a key."""
    if key in plain.get("fields", ()):
        plain["fields"][key] = value
        return
    for pair in plain["$dict"]:
        if pair[0] == key:
            pair[1] = value
            return
    raise KeyError(key)
