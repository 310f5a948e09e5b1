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
        "openai_chat": "prolocutor.connectors.chat:OpenAiChatConnector",
        "parlai": "prolocutor.plugins.evaluation.agent_connector:ParlaiConnector",
        "rasa": "prolocutor.plugins.rasa.connector:RasaConnector",
        "parlai_chat": "prolocutor.plugins.evaluation.chat_connector:ParlaiChatConnector",
        "a2a": "prolocutor.plugins.a2a.connector.connector:A2aConnector",
        "mcp": "prolocutor.plugins.mcp.connector.connector:McpConnector",
        "command": "prolocutor.connectors.command:CommandConnector",
        "prolocutor": "prolocutor.plugins.assistants.connector:AssistantConnector",
        "almond": "prolocutor.plugins.almond.connector.connector:AlmondConnector",
        "websocket": "prolocutor.connectors.websocket:WebSocketConnector",
        "nats": CatalogEntry("prolocutor.plugins.nats.connector:NatsConnector", extra="nats"),
        "dream": "prolocutor.plugins.deeppavlov.dream:make_connector",
    },
    group="prolocutor.connectors",
)

ENDPOINTS: Final = Catalog[Callable[..., object]](
    "connector",
    {"openai_embeddings": "prolocutor.connectors.embeddings:OpenAiEmbeddings"},
    group="prolocutor.endpoints",
)
"""Ways to a model that is no service, by the name of their connector."""
