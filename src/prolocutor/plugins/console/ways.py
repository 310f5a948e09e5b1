"""How a service is reached, as operators are shown it: without keys, queries and arguments."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from prolocutor.plan.pipeline import StageService
from prolocutor.plugins.nats.nats_address import is_nats, read_call

MAX_WAY: Final = 300

_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_SECRET: Final = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_:.~-]{24,}")
"""A part of a path that looks like a key: long, with letters and digits."""


class ServiceWay(msgspec.Struct, frozen=True):
    """How a service is reached: the `kind` of its connector, and where to."""

    kind: str
    way: str


def way_of(service: StageService) -> ServiceWay:
    """Return how a service is reached."""
    target, kind = service.call.target, service.call.connector
    if isinstance(target, str):
        return ServiceWay(kind or _kind_of(target), _shown(target))
    if kind is None:
        kind = "python" if callable(target) else "connector"
    return ServiceWay(kind, _name_of(target))


def _kind_of(target: str) -> str:
    if is_nats(target):
        return "nats"
    return "http" if _ADDRESS.match(target) else "python"


def _shown(address: str) -> str:
    """Return an address without what may be secret in it; of a command its program alone."""
    if is_nats(address):
        call = read_call(address)
        where = "" if call.servers is None else f"{call.servers}/"
        return f"nats://{where}{call.service}"
    if not _ADDRESS.match(address):
        return (address.split() or [""])[0][:MAX_WAY]
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{_SECRET.sub('…', parts.path)}"[:MAX_WAY]


def _name_of(target: object) -> str:
    """Return the dotted name of a function, of another object that of its class."""
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{named.__module__}:{getattr(named, '__qualname__', '')}"
