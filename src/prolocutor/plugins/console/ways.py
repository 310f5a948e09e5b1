"""The operators' view of a service's address: without keys, queries and arguments."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from prolocutor.connectors.connector_catalog import find_connector_name
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import StageService

MAX_WAY: Final = 300

_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_SECRET: Final = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_:.~-]{24,}")
"""A part of a path that looks like a key: long, with letters and digits."""


_LOGIN: Final = re.compile(r"[^,]*@")
"""The name and password of each of several hosts."""


class ServiceWay(msgspec.Struct, frozen=True):
    """The address of a service, and the `kind` of its connector."""

    kind: str
    way: str


def find_way(service: StageService) -> ServiceWay:
    """Return the kind of a service's connector, and its address."""
    target = service.call.target
    try:
        kind = find_connector_name(service.call) or "connector"
    except ConfigError:  # an address that no connector is for
        kind = "connector"
    return ServiceWay(
        kind, _public_address(target) if isinstance(target, str) else _dotted_name(target)
    )


def _public_address(address: str) -> str:
    """Return an address without possibly secret parts; of a command, its program alone."""
    if not _ADDRESS.match(address):
        return (address.split() or [""])[0][:MAX_WAY]
    try:
        parts = urlsplit(address)
        host = _LOGIN.sub("", parts.netloc)
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{_SECRET.sub('…', parts.path)}"[:MAX_WAY]


def _dotted_name(target: object) -> str:
    """Return the dotted name of a function, or of another object's class."""
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{named.__module__}:{getattr(named, '__qualname__', '')}"
