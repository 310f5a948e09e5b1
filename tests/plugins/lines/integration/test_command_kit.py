"""The connector to programs keeps what every connector must keep."""

import sys
from pathlib import Path

from prolocutor.contracts.connector import Connector
from prolocutor.plugins.lines.command import Command, CommandConnector
from prolocutor.testing.connector_kit import ConnectorKit

BOT = Path(__file__).with_name("bot.py")


class TestCommandConnector(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return CommandConnector(Command(run=[sys.executable, str(BOT), behaviour]), name="service")
