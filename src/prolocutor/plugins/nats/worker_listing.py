"""WorkerListing: a worker among NATS's micro services (`$SRV.PING|INFO|STATS`).

Tools such as `nats micro list` show its card and its load.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

import msgspec
from nats.aio.client import Client
from nats.micro.service import (
    EndpointInfo,
    EndpointStats,
    Service,
    ServiceConfig,
    ServiceInfo,
    ServiceStats,
)

from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.worker_settings import WorkerSettings


class ListedWorker(Protocol):
    """The parts of a worker that a listing shows."""

    received: int
    errors: int
    seconds: float
    last_error: str

    @property
    def settings(self) -> WorkerSettings:
        """The settings of the worker."""

    @property
    def load(self) -> wire.WorkerLoad:
        """The present load of the worker."""


class WorkerListing(Service):
    """Answers listings of a worker; calls use other subscriptions, so draining loses none."""

    def __init__(self, client: Client, worker: ListedWorker) -> None:
        settings = worker.settings
        metadata = {
            "service": settings.service,
            "assistant": settings.assistant,
            "batch_size": str(settings.batch_size),
        }
        if settings.card:
            metadata["card"] = msgspec.json.encode(settings.card).decode()
        config = ServiceConfig(
            name=wire.micro_name(settings.service),
            version=_version(),
            description=settings.description or f"workers of {settings.service}",
            metadata=metadata,
            queue_group=wire.QUEUE_GROUP,
        )
        super().__init__(client, config)
        self._worker = worker

    def stats(self) -> ServiceStats:
        """Return the statistics of the worker, with times in nanoseconds."""
        stats = super().stats()
        worker = self._worker
        spent = int(worker.seconds * 1e9)
        endpoint = EndpointStats(
            name="call",
            subject=worker.settings.subject,
            queue_group=wire.QUEUE_GROUP,
            num_requests=worker.received,
            num_errors=worker.errors,
            processing_time=spent,
            average_processing_time=spent // max(1, worker.received),
            last_error=worker.last_error,
            data=msgspec.to_builtins(worker.load),
        )
        stats.endpoints = [endpoint]
        return stats

    def info(self) -> ServiceInfo:
        """Return the description of the worker."""
        info = super().info()
        settings = self._worker.settings
        info.endpoints = [
            EndpointInfo(name="call", subject=settings.subject, queue_group=wire.QUEUE_GROUP)
        ]
        return info


def _version() -> str:
    try:
        found = version("prolocutor")
    except PackageNotFoundError:
        return "0.0.0"
    return found if found.replace(".", "").isdigit() and found.count(".") == 2 else "0.0.0"
