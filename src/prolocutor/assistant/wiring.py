"""From a service's target to its connector, and from programs to what runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.assistant.person_access import shared_store
from prolocutor.catalog import Catalog
from prolocutor.connectors.connector_catalog import CONNECTORS
from prolocutor.contracts.caller import Caller
from prolocutor.contracts.connector import Connector
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import Store
from prolocutor.dotted_names import resolve
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Call, CandidateAnnotator, PendingTarget, Skill, StageService
from prolocutor.plugins.nats.nats_address import NatsServers, is_nats, read_call, read_servers

if TYPE_CHECKING:  # it needs the extra `nats`
    from prolocutor.plugins.nats.nats_connection import NatsConnection

PROGRAMS: Final = Catalog[Callable[..., Programs]]("program language", "prolocutor.programs")
"""What runs programs, by the language they are written in; made as `make_programs` does."""

BROKERS: Final = Catalog[Callable[..., "NatsConnection"]]("message broker", "prolocutor.brokers")
"""What carries messages between processes."""

BROKER_URLS: Final = Catalog[Callable[[str], object]]("message broker", "prolocutor.broker_urls")
"""What reads the URL of a broker, by its scheme."""

WAKE_UPS: Final = Catalog[Callable[..., BrokerWakeUps]]("way for hints", "prolocutor.wake_ups")
"""What carries hints between replicas."""

_BY_NATS: Final = (None, "nats")


def make_programs(
    skills: Sequence[Skill], caller: Caller, store: Store, deadline: float
) -> Programs:
    """Make what runs the programs of one assistant; `deadline` is that of a turn, in seconds."""
    return PROGRAMS.make("thingtalk", skills, caller, store, deadline=deadline)


class ServiceWiring:
    """Makes the connectors of one assistant; those to the same NATS servers share a connection.

    `assistant` is its name; `messages` the URL of the NATS servers that `nats://NAME` goes to.
    """

    def __init__(self, assistant: str = DEFAULTS.name, messages: str | None = None) -> None:
        self._assistant = assistant
        self._servers = None if messages is None else read_servers(messages)
        self._connections: dict[NatsServers, NatsConnection] = {}

    def connect(self, service: StageService) -> Connector:
        """Make the connector of a service; `ConfigError` where its target is none."""
        call = service.call
        if isinstance(call.target, str) and is_nats(call.target) and call.connector in _BY_NATS:
            return self._connect_by_nats(service, call.target, call)
        return connect(service)

    def broker(self, store: Store) -> BrokerWakeUps | None:
        """Return the way for hints by `messages`; None where no replicas share the store."""
        if self._servers is None or shared_store(store) is None:
            return None
        return WAKE_UPS.make("nats", self._connection(self._servers), self._assistant)

    def _connect_by_nats(self, service: StageService, target: str, call: Call) -> Connector:
        instead = None
        if (other := call.options.get("instead")) is not None:
            instead = connect(msgspec.structs.replace(service, target=other))
        servers = read_call(target).servers or self._servers
        return CONNECTORS.make(
            "nats",
            target,
            name=service.name,
            assistant=self._assistant,
            connection=None if servers is None else self._connection(servers),
            instead=instead,
        )

    def _connection(self, servers: NatsServers) -> NatsConnection:
        if servers not in self._connections:
            self._connections[servers] = BROKERS.make("nats", servers, name=self._assistant)
        return self._connections[servers]


def connect(service: StageService) -> Connector:
    """Make the connector of a service that is not behind NATS; `ConfigError` for no target."""
    call, batched = service.call, service.batch_size > 1
    target = call.target
    if call.connector == "process" and not isinstance(target, str):
        raise ConfigError("a process of its own needs module:function", key=service.name)
    if call.connector is not None:
        return CONNECTORS.make(
            call.connector, target, name=service.name, batched=batched, **call.options
        )
    if isinstance(target, str) and target.startswith(("http://", "https://")):
        return CONNECTORS.make(
            "http",
            target,
            name=service.name,
            wire=call.options.get("wire", "native"),
            batched=batched,
            max_connections=service.max_in_flight,
        )
    if isinstance(target, str):
        target = resolve(target)
    if callable(target):
        return CONNECTORS.make(
            "python",
            target,
            name=service.name,
            batched=batched,
            inline=call.options.get("inline", False),
            together=isinstance(service, CandidateAnnotator) and service.together,
            max_threads=service.max_in_flight,
        )
    if not isinstance(target, PendingTarget) and hasattr(target, "send"):
        return target
    raise ConfigError(f"cannot call a {type(target).__name__}", key=service.name)
