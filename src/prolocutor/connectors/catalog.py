"""The connectors by name: each is imported when it is first asked for.

A package of somebody else's adds its own through an entry point in the group
`prolocutor.connectors`: name -> a class made as `Class(target, name=..., **options)`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from prolocutor.contracts.connector import Connector
from prolocutor.errors import ConfigError, MissingExtra

GROUP: Final = "prolocutor.connectors"

OURS: Final = {
    "python": "prolocutor.connectors.python:PythonConnector",
    "process": "prolocutor.connectors.process:ProcessConnector",
    "http": "prolocutor.connectors.http:HttpConnector",
    "openai_chat": "prolocutor.connectors.openai_chat:OpenAiChatConnector",
    "parlai": "prolocutor.connectors.parlai:ParlaiConnector",
    "parlai_chat": "prolocutor.connectors.parlai_chat:ParlaiChatConnector",
}


def names() -> list[str]:
    """Return the names of all connectors, ours and the installed ones."""
    return sorted(OURS.keys() | {point.name for point in entry_points(group=GROUP)})


def make_connector(kind: str, target: Any, *, name: str, **options: Any) -> Connector:
    """Make the connector `kind` to `target` for the service `name`; `ConfigError` if it cannot be.

    `target` is what that connector goes to: a function, a dotted name, a URL.
    """
    make = checked_class(kind, target, name=name, **options)
    connector: Connector = make(target, name=name, **options)
    return connector


def checked_class(kind: str, target: Any, *, name: str, **options: Any) -> Callable[..., Any]:
    """Return the class of the connector `kind`; `ConfigError` if it does not take these options."""
    make = connector_class(kind)
    try:
        inspect.signature(make).bind(target, name=name, **options)
    except TypeError as error:
        raise ConfigError(f"the connector {kind!r} cannot be made: {error}") from None
    return make


def connector_class(kind: str) -> Callable[..., Any]:
    """Return the class of the connector `kind`; `ConfigError` for an unknown name."""
    if kind in OURS:
        return _load(EntryPoint(kind, OURS[kind], GROUP))
    for point in entry_points(group=GROUP, name=kind):
        return _load(point)
    close = get_close_matches(kind, names(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names())}"
    raise ConfigError(f"there is no connector {kind!r}; {hint}")


def _load(point: EntryPoint) -> Callable[..., Any]:
    try:
        found = getattr(importlib.import_module(point.module), point.attr)
    except ModuleNotFoundError as error:
        raise MissingExtra(f"the connector {point.name!r} needs {error.name!r}") from None
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the connector {point.name!r} cannot be loaded: {error}") from error
    return found  # type: ignore[no-any-return]
