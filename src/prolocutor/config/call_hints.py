"""Hints in place of a `call` in another program's form."""

from __future__ import annotations

import re
from typing import Final

from prolocutor.connectors.connector_catalog import CONNECTORS, SCHEMES, form_of

_NAMED: Final = re.compile(r"(?P<name>[A-Za-z]\w*)(?P<scheme>\+\w+:/|:/)?[:/](?P<rest>[\w./:-].*)")
_NO_SCHEME: Final = re.compile(
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]|[\w-]+(\.[\w-]+)*(?=:\d))(:\d{1,5})?(/\S*)?"
)
_DOTTED: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


def call_hint(call: object) -> str | None:
    """Return the probable form of a wrong `call`, None if it cannot be guessed."""
    guesses = [kind.guess(call) for _, kind in CONNECTORS.installed() if hasattr(kind, "guess")]
    if written := [guess for guess in guesses if guess is not None]:
        return f"write connector: {' or connector: '.join(written)}"
    if not isinstance(call, str):
        return None
    if _NO_SCHEME.fullmatch(call):
        return f"did you mean 'http://{call}'?"
    if _DOTTED.fullmatch(call):
        module, _, name = call.rpartition(".")
        return f"did you mean '{module}:{name}'?"
    found = _NAMED.fullmatch(call)
    return _for_connector(found) if found is not None else None


def _for_connector(found: re.Match[str]) -> str | None:
    """Return the hint for a text that begins with the name of a connector for addresses."""
    name, scheme, rest = found["name"].lower(), found["scheme"], found["rest"]
    if name in SCHEMES or name not in CONNECTORS:
        return None
    if form_of(CONNECTORS.load(name)).main != "url":
        return None
    if scheme is not None:  # a2a+https://host, mcp://host
        rest = f"{scheme.strip('+:/') or 'http'}://{rest}"
    return f"write connector: {name}, call: {rest}"
