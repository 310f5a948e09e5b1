"""The models that selectors ask over HTTP; their connections are closed with the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec

from prolocutor.connectors.connector_catalog import CONNECTORS, ENDPOINTS, options_from
from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import DeltaSink, Request, ServiceContext
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import Plain, decode, encode
from prolocutor.errors import ConfigError, ServiceError
from prolocutor.plan.pipeline import Call

_SECONDS: Final = 60.0


class ModelRequest(msgspec.Struct, frozen=True):
    """What a model is asked: messages, each with `role` and `content`."""

    service: str
    turn_id: str
    messages: bytes
    timeout: float = _SECONDS
    deltas: DeltaSink | None = None

    @property
    def key(self) -> str:
        """An idempotency key; asking a model twice does no harm."""
        return f"{self.turn_id}/{self.service}"

    def value(self) -> Any:
        """Return the messages."""
        return decode(self.messages)

    def body(self) -> bytes:
        """Return the messages as JSON."""
        return self.messages


def connector_of(connector: str, endpoint: Call, *, name: str, verb: str) -> Any:
    """Make the connector to an endpoint; raise `ConfigError` unless it has the method `verb`."""
    kinds = ENDPOINTS if connector in ENDPOINTS.names() else CONNECTORS
    made: Any = options_from(kinds.load(connector), endpoint).build(ServiceContext(name=name))
    if not hasattr(made, verb):
        raise ConfigError(f"the connector {connector!r} reaches no endpoint of this kind")
    return made


class ChatEndpoint:
    """A chat model behind a connector that returns a bare text (`complete`)."""

    def __init__(self, connector: str, endpoint: Call, *, name: str) -> None:
        self.connector = connector_of(connector, endpoint, name=name, verb="complete")
        self._name = name

    async def complete(self, messages: list[dict[str, str]]) -> str:
        """Return what the model says to these messages; raise `ServiceError` if it fails."""
        asked = ModelRequest(self._name, new_id(), encode(messages))
        said: str = await self.connector.complete(asked)
        return said


class ClosingSelector:
    """The connector to one of our selectors, which closes the models that it asks as well."""

    def __init__(
        self,
        target: Callable[..., Any],
        ends: Sequence[Callable[[], Awaitable[None]]],
        *,
        name: str,
    ) -> None:
        self.target = target
        self._selector = PythonConnector(target, name=name)
        self._ends = ends

    async def send(self, requests: Sequence[Request]) -> Sequence[Plain | ServiceError]:
        """Ask the selector."""
        return await self._selector.send(requests)

    async def aclose(self) -> None:
        """Close the connections to the models, and the selector."""
        for end in self._ends:
            await end()
        await self._selector.aclose()
