"""From a service's target to its connector, and from programs to what runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from prolocutor.catalog import Catalog, CatalogEntry
from prolocutor.connectors.connector_catalog import CONNECTORS
from prolocutor.contracts.caller import Caller
from prolocutor.contracts.connector import Connector
from prolocutor.contracts.programs import Programs
from prolocutor.contracts.store import Store
from prolocutor.dotted_names import resolve
from prolocutor.errors import ConfigError
from prolocutor.pipeline.plan import Addressed, PendingTarget, Service

PROGRAMS: Final = Catalog[Callable[..., Programs]](
    "program language",
    {"thingtalk": CatalogEntry("prolocutor.almond.programs.executor:Executor", extra="thingtalk")},
    group="prolocutor.programs",
)
"""What runs programs, by the language they are written in; made as `make_programs` does."""


def make_programs(
    skills: Sequence[Service], caller: Caller, store: Store, deadline: float
) -> Programs:
    """Make what runs the programs of one assistant; `deadline` is that of a turn, in seconds."""
    return PROGRAMS.make("thingtalk", skills, caller, store, deadline=deadline)


def connect(service: Service) -> Connector:
    """Make the connector of a service; `ConfigError` where its target is none."""
    target = service.target
    batched = service.batch_size > 1
    if service.connector is not None:
        options = target.options if isinstance(target, Addressed) else {}
        target = target.address if isinstance(target, Addressed) else target
        return CONNECTORS.make(
            service.connector, target, name=service.name, batched=batched, **options
        )
    if isinstance(target, str) and target.startswith(("http://", "https://")):
        return CONNECTORS.make(
            "http",
            target,
            name=service.name,
            wire=service.wire,
            batched=batched,
            max_connections=service.max_in_flight,
        )
    if service.process:
        if not isinstance(target, str):
            raise ConfigError("a process of its own needs module:function", key=service.name)
        return CONNECTORS.make("process", target, name=service.name, batched=batched)
    if isinstance(target, str):
        target = resolve(target)
    if callable(target):
        return CONNECTORS.make(
            "python",
            target,
            name=service.name,
            batched=batched,
            inline=service.inline,
            together=service.together,
            max_threads=service.max_in_flight,
        )
    if not isinstance(target, Addressed | PendingTarget) and hasattr(target, "send"):
        return target
    raise ConfigError(f"cannot call a {type(target).__name__}", key=service.name)
