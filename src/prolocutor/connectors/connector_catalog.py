"""The connectors by name, the ways to models outside of services, and hints for a wrong `call`.

Another package adds its own through an entry point in the group `prolocutor.connectors`.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from prolocutor.bounds import check_bounds
from prolocutor.catalog import Catalog
from prolocutor.contracts.connector import ConnectorOptions
from prolocutor.errors import ConfigError
from prolocutor.names import suggest
from prolocutor.plan.pipeline import Call, PendingTarget

CONNECTORS: Final = Catalog[Any]("connector", "prolocutor.connectors", needs=("build",))
"""The options of each connector (`contracts.connector.ConnectorOptions`)."""

SCHEMES: Final = Catalog[Any]("connector for addresses of", "prolocutor.schemes")
"""The options of the connector that an address without a name means, by its scheme."""

ENDPOINTS: Final = Catalog[Any]("connector", "prolocutor.endpoints")
"""Ways to a model that is not a service, by the name of their connector."""

_NAMED: Final = re.compile(r"(?P<name>[A-Za-z]\w*)(?P<scheme>\+\w+:/|:/)?[:/](?P<rest>[\w./:-].*)")
_NO_SCHEME: Final = re.compile(
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]|[\w-]+(\.[\w-]+)*(?=:\d))(:\d{1,5})?(/\S*)?"
)
_DOTTED: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


class ConnectorForm(msgspec.Struct, frozen=True):
    """The class variables of a connector's options about their written form.

    See `contracts.connector.ConnectorOptions`.
    """

    main: str = "url"
    beside: tuple[str, ...] = ()
    rest: str | None = None


def find_form(kind: Any) -> ConnectorForm:
    """Return how the options of a connector are written."""
    said = {name: getattr(kind, name, None) for name in ConnectorForm.__struct_fields__}
    return ConnectorForm(**{name: value for name, value in said.items() if value is not None})


def find_connector_name(call: Call) -> str | None:
    """Return the name of a call's connector, None for a target without a connector.

    Nothing is imported.
    """
    target = call.target
    if call.connector is not None:
        return call.connector
    if isinstance(target, str) and "://" in target:
        place = SCHEMES.place(target.partition("://")[0].lower())
        return next((name for name in CONNECTORS.names() if CONNECTORS.place(name) == place), None)
    return "python" if isinstance(target, str) or callable(target) else None


def find_options_type(call: Call) -> Any:
    """Return the options Struct of a call, by its connector or the form of its target.

    Raise `ConfigError` for an unknown connector or form.
    """
    if call.connector is not None:
        return CONNECTORS.load(call.connector)
    if isinstance(call.target, str) and "://" in call.target:
        return SCHEMES.load(call.target.partition("://")[0].lower())
    if isinstance(call.target, str) or callable(call.target):
        return CONNECTORS.load("python")
    raise ConfigError(f"cannot call a {type(call.target).__name__}")


def make_options(call: Call) -> ConnectorOptions:
    """Return the options of a call's connector; raise `ConfigError` for wrong options."""
    if isinstance(call.target, msgspec.Struct) and isinstance(call.target, ConnectorOptions):
        return call.target
    if isinstance(call.target, PendingTarget):
        raise ConfigError(f"cannot call a {type(call.target).__name__}")
    return convert_options(find_options_type(call), call)


def convert_options(kind: Any, call: Call) -> ConnectorOptions:
    """Return options of a kind with a call's values."""
    values, form = dict(call.options), find_form(kind)
    if call.target != "":
        values[form.main] = call.target
    fields = [field for field in kind.__struct_fields__ if field != "name"]
    if form.rest is not None:
        values = {form.main: values.pop(form.main, ""), form.rest: values}
    if call.connector is None:  # how an address is spoken to means nothing to a function
        values = {key: value for key, value in values.items() if key in fields or key != "wire"}
    for key in values:
        if key not in fields:
            raise ConfigError(f"it has no option {key!r}; {suggest(key, fields)}", key=key)
    try:
        options = kind(**values)
    except TypeError as error:  # a missing option
        raise ConfigError(str(error)) from None
    check_bounds(options)
    made: ConnectorOptions = options
    return made


def call_hint(call: object) -> str | None:
    """Return the probable form of a wrong `call`, None if it cannot be guessed."""
    guesses = [kind.guess(call) for _, kind in CONNECTORS.import_all() if hasattr(kind, "guess")]
    if written := [guess for guess in guesses if guess is not None]:
        return f"write connector: {' or connector: '.join(written)}"
    if not isinstance(call, str):
        return None
    if call in CONNECTORS:
        kind = CONNECTORS.load(call)
        needed = [field.name for field in msgspec.structs.fields(kind) if field.required]
        keys = dict.fromkeys((find_form(kind).main, *needed))
        return f"write connector: {call}, call: {{{', '.join(f'{key}: ...' for key in keys)}}}"
    if _NO_SCHEME.fullmatch(call):
        return f"did you mean 'http://{call}'?"
    if _DOTTED.fullmatch(call):
        module, _, name = call.rpartition(".")
        return f"did you mean '{module}:{name}'?"
    match = _NAMED.fullmatch(call)
    return _hint_connector(match) if match is not None else None


def _hint_connector(found: re.Match[str]) -> str | None:
    """Return the hint for a text with the name of a connector for addresses at its beginning."""
    name, scheme, rest = found["name"].lower(), found["scheme"], found["rest"]
    if name in SCHEMES or name not in CONNECTORS:
        return None
    if find_form(CONNECTORS.load(name)).main != "url":
        return None
    if scheme is not None:  # a2a+https://host, mcp://host
        rest = f"{scheme.strip('+:/') or 'http'}://{rest}"
    return f"write connector: {name}, call: {rest}"
