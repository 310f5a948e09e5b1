"""Probe: how connectors find out whether what is behind an address is theirs."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from prolocutor.dialog.plain import JsonObject


class ProbeAnswer(msgspec.Struct, frozen=True):
    """What a server answered: a status, 0 where it did not answer, and the body."""

    status: int
    body: bytes = b""
    content_type: str = ""

    def json(self) -> Any:
        """Return the body as JSON, None if it is none."""
        if self.status != 200:
            return None
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


class UrlProbe(Protocol):
    """Asks what is behind an address, and asks the same only once, however many want to know."""

    @property
    def url(self) -> str:
        """The address as it was given, its query included."""

    @property
    def key(self) -> str | None:
        """The key that is sent as a bearer token, if one was given."""

    async def get(self, url: str) -> ProbeAnswer:
        """Return the answer to a GET; a query that the given address has goes with it."""

    async def post(self, url: str, body: object) -> ProbeAnswer:
        """Return the answer to a POST of JSON."""

    def base(self, *endings: str) -> str:
        """Return the address without its query, and without the first of these endings it has."""


class FoundService(msgspec.Struct, frozen=True, kw_only=True):
    """What was found behind an address, and how it is called.

    `what` names it for people, `name` is a name for the service, `call` what a file has there.
    `timeout` is in seconds. `notes` are for the person who adds it. `certainty`: the surest of
    several wins; 1 for a protocol that says its name, less for an answer that many might give.
    """

    what: str
    name: str
    call: JsonObject | str
    timeout: float = 10.0
    certainty: float = 1.0
    notes: list[str] = []
