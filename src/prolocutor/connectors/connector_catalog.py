"""The connectors by name.

Another package adds its own through an entry point in the group `prolocutor.connectors`: name -> a
class made as `Class(target, name=..., **options)`; `target` is what the connector goes to: a
function, a dotted name, a URL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prolocutor.catalog import Catalog, CatalogEntry
from prolocutor.contracts.connector import Connector

CONNECTORS: Final = Catalog[Callable[..., Connector]](
    "connector",
    {
        "python": "prolocutor.connectors.python:PythonConnector",
        "process": "prolocutor.connectors.process:ProcessConnector",
        "http": "prolocutor.connectors.http:HttpConnector",
        "openai_chat": "prolocutor.connectors.openai_chat:OpenAiChatConnector",
        "parlai": "prolocutor.connectors.parlai:ParlaiConnector",
        "rasa": "prolocutor.connectors.rasa:RasaConnector",
        "parlai_chat": "prolocutor.connectors.parlai_chat:ParlaiChatConnector",
        "a2a": "prolocutor.a2a.connector.connector:A2aConnector",
        "mcp": "prolocutor.mcp.connector.connector:McpConnector",
        "command": "prolocutor.peers.command:CommandConnector",
        "prolocutor": "prolocutor.peers.assistant:AssistantConnector",
        "almond": "prolocutor.peers.almond:AlmondConnector",
        "websocket": "prolocutor.peers.websocket:WebSocketConnector",
        "nats": CatalogEntry("prolocutor.connectors.nats:NatsConnector", extra="nats"),
        "dream": "prolocutor.deeppavlov.dream:make_connector",
    },
    group="prolocutor.connectors",
)

ENDPOINTS: Final = Catalog[Callable[..., object]](
    "connector",
    {"openai_embeddings": "prolocutor.connectors.openai_embeddings:OpenAiEmbeddings"},
    group="prolocutor.endpoints",
)
"""Ways to a model that is no service, by the name of their connector."""
