"""Chat: a chat endpoint for those who choose by asking a model; it ends with their service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from prolocutor.connectors.catalog import make_connector
from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import Request
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import Plain, decode, encode
from prolocutor.errors import ConfigError, ServiceError
from prolocutor.pipeline.plan import Addressed

_SECONDS: Final = 60.0


class Asked(msgspec.Struct, frozen=True):
    """What a model is asked: messages, each with `role` and `content`."""

    service: str
    turn_id: str
    messages: bytes
    timeout: float = _SECONDS

    @property
    def key(self) -> str:
        """A key of its own: asking a model twice does no harm."""
        return f"{self.turn_id}/{self.service}"

    def value(self) -> Any:
        """Give the messages."""
        return decode(self.messages)

    def body(self) -> bytes:
        """Give the messages as JSON."""
        return self.messages


class Chat:
    """The way to a chat endpoint, by a connector that gives a bare text (`complete`)."""

    def __init__(self, connector: str, endpoint: Addressed, *, name: str) -> None:
        made: Any = make_connector(
            connector, endpoint.address, name=name, batched=False, **endpoint.options
        )
        if not hasattr(made, "complete"):
            raise ConfigError(f"the connector {connector!r} reaches no chat endpoint")
        self.connector = made
        self._name = name

    async def complete(self, messages: list[dict[str, str]]) -> str:
        """Give what the model says to these messages; raises `ServiceError`."""
        asked = Asked(self._name, new_id(), encode(messages))
        said: str = await self.connector.complete(asked)
        return said


class Ending:
    """The way to a selector of ours; its chat endpoint ends when it does."""

    def __init__(self, target: Callable[..., Any], chat: Chat, *, name: str) -> None:
        self._selector = PythonConnector(target, name=name)
        self._chat = chat

    async def send(self, requests: Sequence[Request]) -> Sequence[Plain | ServiceError]:
        """Ask the selector."""
        return await self._selector.send(requests)

    async def aclose(self) -> None:
        """Close the connections to the endpoint, and what the selector holds."""
        await self._chat.connector.aclose()
        await self._selector.aclose()
