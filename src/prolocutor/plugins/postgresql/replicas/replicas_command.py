"""`prolocutor replicas`: the processes of a shared store, and the workers behind NATS."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from prolocutor.assistant.sharing import is_shared
from prolocutor.catalog import Catalog
from prolocutor.cli.options import STORE_OPTION, json_option
from prolocutor.cli.output import clean, write_json
from prolocutor.config.loading import assistant_file, load
from prolocutor.config.store_location import store_url
from prolocutor.errors import ConfigError, ProlocutorError
from prolocutor.plugins.postgresql.replicas.shared_store import ReplicaStatus
from prolocutor.stores.store_catalog import open_store

FINDERS: Final = Catalog[Callable[[str], Awaitable[Sequence[Any]]]](
    "message broker", "prolocutor.worker_finders"
)
"""Functions that find the workers behind a broker, by the scheme of its URL."""


class WorkerGroup(msgspec.Struct, kw_only=True):
    """The workers of a service: their number, their calls now, their calls so far."""

    service: str
    assistant: str
    workers: int = 0
    held: int = 0
    hold: int = 0
    calls: int = 0
    busy: int = 0
    late: int = 0


class ReplicaOverview(msgspec.Struct, frozen=True, kw_only=True):
    """Who lives. `workers` is None where no NATS is named."""

    replicas: list[ReplicaStatus]
    workers: list[WorkerGroup] | None = None


@click.command(short_help="List the processes that share a store, and workers.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@STORE_OPTION
@click.option("--messages", metavar="NATS-URL", help="Where workers are.  [default: the file's]")
@json_option("All as JSON.")
def replicas(
    file: Path | None, store: str | None, messages: str | None, json_file: str | None
) -> None:
    """List the replicas of a shared store: who lives, open turns, takeovers, and the workers.

    A replica is a `prolocutor serve` on a PostgreSQL store. The exit status is 1 if none lives.

    \b
    Examples:
      prolocutor replicas my-assistant/assistant.yaml
      prolocutor replicas --store postgresql://db1,db2/prolocutor --messages nats://n1
    """
    settings = load(assistant_file(file)) if file is not None else None
    url = store_url(store, settings)
    if messages is None and settings is not None:
        messages = settings.messages
    found = asyncio.run(_look(url, messages))
    if json_file is not None:
        write_json(json_file, found)
    if json_file != "-":
        for line in overview_lines(found):
            click.echo(line)
    if all(replica.dead or replica.left < 0 for replica in found.replicas):
        raise ProlocutorError("no replica lives")


async def _look(url: str, messages: str | None) -> ReplicaOverview:
    shared: Any = open_store(url)
    if not is_shared(shared):
        scheme = url.partition(":")[0]
        what = f"a {scheme} store belongs to one process; replicas share one on PostgreSQL"
        raise ConfigError(what, key="store")
    await shared.open()
    try:
        living = await shared.replicas()
    finally:
        await shared.aclose()
    workers = None
    if messages is not None:
        groups: dict[tuple[str, str], WorkerGroup] = {}
        for one in await FINDERS.load(messages.partition("://")[0])(messages):
            made = WorkerGroup(service=one.service, assistant=one.assistant)
            group = groups.setdefault((one.service, one.assistant), made)
            group.workers += 1
            group.held += one.load.held
            group.hold += one.load.hold
            group.calls += one.load.calls
            group.busy += one.load.busy
            group.late += one.load.late
        workers = list(groups.values())
    return ReplicaOverview(replicas=living, workers=workers)


def overview_lines(found: ReplicaOverview) -> Iterator[str]:
    """Write who lives as a table."""
    if not found.replicas:
        yield "No replica has joined."
    else:
        columns = f"{'open turns':>11}{'waiting':>9}{'took over':>11}"
        yield f"{'replica':>8}  {'state':<14}{columns}  since"
    for replica in found.replicas:
        since = datetime.fromtimestamp(replica.joined, UTC).strftime("%Y-%m-%d %H:%M:%S")
        counts = f"{replica.open_turns:>11,}{replica.waiting:>9,}{replica.takeovers:>11,}"
        url = clean(replica.url) if replica.url else ""
        yield f"{replica.number:>8}  {_state(replica):<14}{counts}  {since}  {url}".rstrip()
    if found.workers is None:
        return
    yield ""
    if not found.workers:
        yield "No worker answers."
        return
    yield f"{'service':<20}{'workers':>8}{'held':>8}{'of':>8}{'calls':>12}{'busy':>8}{'late':>8}"
    for group in found.workers:
        yield (
            f"{clean(group.service):<20}{group.workers:>8,}{group.held:>8,}{group.hold:>8,}"
            f"{group.calls:>12,}{group.busy:>8,}{group.late:>8,}"
        )


def _state(status: ReplicaStatus) -> str:
    if status.dead:
        return "dead"
    if status.left < 0:
        return f"late {-status.left:.1f} s"
    return f"lives {status.left:.1f} s"
