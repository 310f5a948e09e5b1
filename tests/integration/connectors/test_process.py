"""A function in a child process of its own: what it may do, and what it cannot survive."""

from prolocutor.connectors.process import ProcessConnector
from prolocutor.contracts.connector import Connector
from prolocutor.testing.connector_kit import ConnectorKit


class TestKit(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return ProcessConnector(f"prolocutor.testing.behaviours:{behaviour}", name=behaviour)

    async def connect_batched(self, behaviour: str) -> Connector:
        dotted = f"prolocutor.testing.behaviours:{behaviour}"
        return ProcessConnector(dotted, name=behaviour, batched=True)
