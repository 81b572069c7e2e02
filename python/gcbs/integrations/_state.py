"""The state of samplers as plain JSON, which a trainer writes into its own checkpoint."""

from __future__ import annotations

import base64
import zlib
from typing import Any


def to_json(value: Any) -> Any:
    """Dicts, lists and numbers as they are, bytes as compressed text."""
    if isinstance(value, dict):
        return {str(name): to_json(of) for name, of in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(of) for of in value]
    if isinstance(value, bytes):
        return {"zlib": base64.b85encode(zlib.compress(value, 1)).decode("ascii")}
    return value


def from_json(value: Any) -> Any:
    """The inverse."""
    if isinstance(value, dict):
        if set(value) == {"zlib"}:
            return zlib.decompress(base64.b85decode(value["zlib"]))
        return {name: from_json(of) for name, of in value.items()}
    if isinstance(value, list):
        return [from_json(of) for of in value]
    return value
