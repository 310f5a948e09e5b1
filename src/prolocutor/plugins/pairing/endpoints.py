"""External models of selectors, asked over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec.structs import replace

from prolocutor.assistant.call_recording import current_recorder
from prolocutor.connectors.connector_catalog import CONNECTORS, ENDPOINTS, convert_options
from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import Request, ServiceContext
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ConfigError, ServiceError
from prolocutor.pipeline.requests import PayloadRequest
from prolocutor.plan.pipeline import Call


def make_connector(connector: str, endpoint: Call, *, name: str, verb: str) -> Any:
    """Make the connector to an endpoint; raise `ConfigError` unless it has the method `verb`."""
    kinds = ENDPOINTS if connector in ENDPOINTS.names() else CONNECTORS

    def make() -> Any:
        made: Any = convert_options(kinds.load(connector), endpoint).build(
            ServiceContext(name=name)
        )
        if not hasattr(made, verb):
            raise ConfigError(f"the connector {connector!r} reaches no endpoint of this kind")
        return made

    recorder = current_recorder()
    if recorder is None:
        return make()
    return recorder.endpoint(name, replace(endpoint, connector=connector), verb, make)


class ChatEndpoint:
    """A chat model behind a connector that returns a bare text (`complete`)."""

    def __init__(self, connector: str, endpoint: Call, *, name: str) -> None:
        self.connector = make_connector(connector, endpoint, name=name, verb="complete")
        self._name = name

    async def complete(self, messages: list[dict[str, str]]) -> str:
        """Return the reply of the model to these messages; raise `ServiceError` if it fails."""
        asked = PayloadRequest.outside_turns(self._name, messages)
        said: str = await self.connector.complete(asked)
        return said


class ClosingSelector:
    """The connector to a selector of this package; it also closes the external models."""

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
