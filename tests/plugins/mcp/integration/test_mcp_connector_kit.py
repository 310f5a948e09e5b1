"""The connector to MCP's tools keeps what every connector must keep."""

import sys
from pathlib import Path

from prolocutor.contracts.connector import Connector
from prolocutor.plugins.mcp.connector.connector import McpConnector, McpTool
from prolocutor.testing.connector_kit import ConnectorKit

SERVER = Path(__file__).with_name("tool_server.py")


class TestMcpConnector(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return McpConnector(
            McpTool(
                run=[sys.executable, str(SERVER), behaviour],
                arguments={"request": "{request}"},
                returns="value",
            ),
            name="service",
        )
