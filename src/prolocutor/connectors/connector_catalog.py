"""The connectors by name, and the ways to models that are no services.

Another package adds its own through an entry point in the group `prolocutor.connectors`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prolocutor.catalog import Catalog
from prolocutor.contracts.connector import Connector

CONNECTORS: Final = Catalog[Callable[..., Connector]]("connector", "prolocutor.connectors")

ENDPOINTS: Final = Catalog[Callable[..., object]]("connector", "prolocutor.endpoints")
"""Ways to a model that is no service, by the name of their connector."""
