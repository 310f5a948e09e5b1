"""What each connection is prepared with: time-outs, durability, the replica's name."""

from __future__ import annotations

import logging
from typing import Final

from prolocutor.errors import ConfigError, StoreAway
from prolocutor.plugins.postgresql.database_line import Connection
from prolocutor.plugins.postgresql.queries import named

log = logging.getLogger(__name__)

LOCK_MS: Final = 2_000
"""How long a trip waits for a row that another one has locked."""
LOST_MS: Final = 10_000
"""How long the server keeps a connection whose other end does not answer."""


class LineSession:
    """Prepares the connections of one line.

    `statement_ms` bounds a statement. `hints_only`: nothing that it writes has to survive.
    """

    def __init__(
        self, durability: str, *, shown: str, statement_ms: int, hints_only: bool = False
    ) -> None:
        self._durability = "relaxed" if hints_only else durability
        self._shown = shown
        self._statement_ms = statement_ms
        self.application_name = "prolocutor"
        self.standbys = ""
        """The server's `synchronous_standby_names`, as last seen."""

    async def __call__(self, connection: Connection) -> None:
        """Prepare a connection; raise where the server cannot be used."""
        (facts,) = await connection.fetch(named("session_facts"))
        if facts["encoding"] != "UTF8":
            raise ConfigError(
                f"{self._shown}: the database is in {facts['encoding']}; make one in UTF8: "
                "createdb --encoding UTF8 --template template0",
                key="store",
            )
        if facts["read_only"]:
            raise StoreAway(f"{self._shown}: the server only reads, it is a standby")
        self.standbys = facts["standbys"]
        settings = {
            "application_name": self.application_name,
            "statement_timeout": str(self._statement_ms),
            "lock_timeout": str(LOCK_MS),
            "tcp_user_timeout": str(LOST_MS),
            "jit": "off",
            "bytea_output": "hex",
        }
        if self._durability == "relaxed":
            settings["synchronous_commit"] = "off"
        elif facts["synchronous_commit"] == "off":
            settings["synchronous_commit"] = "on"
        await connection.fetch(named("prepare_session"), [*settings], [*settings.values()])
        await connection.fetch(named("compress_fast"))
