"""`prolocutor person`: export persons, import them, move them from one database to another."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import IO, Any

import click
import msgspec

from prolocutor.config.store_location import store_url
from prolocutor.contracts.store_options import StoredPerson, StoreTransfer
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.transfer import person_moves
from prolocutor.plugins.transfer.person_moves import MovingStore
from prolocutor.stores.store_catalog import open_transfer

_decode = msgspec.json.Decoder(StoredPerson).decode


class BucketsParam(click.ParamType[frozenset[int]]):
    """A range of buckets, `0-511`, or one."""

    name = "buckets"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[int]:
        """Return the buckets."""
        first, _, last = str(value).partition("-")
        try:
            low, high = int(first), int(last or first)
        except ValueError:
            low, high = 1, 0
        if not 0 <= low <= high < person_moves.BUCKET_COUNT:
            self.fail(f"{value!r} is not a range of buckets; write 0-511, at most 4095", param, ctx)
        return frozenset(range(low, high + 1))


_BUCKETS = click.option(
    "--buckets", type=BucketsParam(), default=None, help="All of these buckets: 0-511."
)


@click.group(short_help="Export, import and move persons.")
def person() -> None:
    """Export persons, import them, move them from one database to another.

    All ids and the order stay. USER is as in `prolocutor dialogs list`; a person is in one of 4,096
    buckets, by the CRC-32 of the name after its last colon.

    \b
    Examples:
      prolocutor person export postgresql://prolocutor@db0/prolocutor ann > ann.jsonl
      prolocutor person import postgresql://prolocutor@db1/prolocutor ann.jsonl
      prolocutor person move postgresql://prolocutor@db0/prolocutor \\
        postgresql://prolocutor@db1/prolocutor --buckets 0-511
    """


@person.command("export", short_help="Write persons, one line of JSON each.")
@click.argument("store")
@click.argument("users", nargs=-1, metavar="[USER]...")
@_BUCKETS
def export(store: str, users: tuple[str, ...], buckets: frozenset[int] | None) -> None:
    """Write all that is stored of persons, one line of JSON each; assistants go on meanwhile.

    USER "" is the assistant itself: its keys, settings and ratings that teach.

    \b
    Example:
      prolocutor person export prolocutor.db ann > ann.jsonl
    """
    _check_chosen(users, buckets)
    asyncio.run(_export(store, users, buckets or frozenset()))


async def _export(given: str, users: Collection[str], buckets: Collection[int]) -> None:
    async with _open_store(given, alone=False) as source:
        for user in await person_moves.choose_users(source, users, buckets):
            click.echo(msgspec.json.encode(await source.taken_out(user)))


@person.command("import", short_help="Put persons into a store.")
@click.argument("store")
@click.argument("file", type=click.File("rb"))
def import_(store: str, file: IO[bytes]) -> None:
    """Put the persons of a file (- for standard input) into a store; print who was written.

    Who is there already, exactly so, stays. Somebody else of that name is an error.

    \b
    Example:
      prolocutor person import postgresql://prolocutor@db/prolocutor ann.jsonl
    """
    asyncio.run(_import(store, file))


async def _import(given: str, file: IO[bytes]) -> None:
    async with _open_store(given, alone=True) as target:
        for number, line in enumerate(file):
            try:
                read = _decode(line)
            except msgspec.MsgspecError as error:
                raise BadInput(f"line {number + 1}: {error}") from error
            if await person_moves.put_in(target, read):
                click.echo(read.user)


@person.command(short_help="Move persons to another database.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.argument("users", nargs=-1, metavar="[USER]...")
@_BUCKETS
def move(source: str, target: str, users: tuple[str, ...], buckets: frozenset[int] | None) -> None:
    """Move persons from one PostgreSQL database to another while assistants use both.

    What a person says during the move waits, or is answered by 503 with Retry-After, and so is
    everything that comes to FROM afterwards: the router then leads them to TO. Who is moved is
    printed at once, one name on a line. A move that was interrupted goes on where it stopped: say
    the same again.

    \b
    Example:
      prolocutor person move postgresql://prolocutor@db0/prolocutor \\
        postgresql://prolocutor@db1/prolocutor --buckets 2048-2303
    """
    _check_chosen(users, buckets)
    asyncio.run(_move(source, target, users, buckets or frozenset()))


async def _move(given: str, other: str, users: Collection[str], buckets: Collection[int]) -> None:
    if store_url(given) == store_url(other):
        raise ConfigError("FROM and TO are the same store")
    async with _open_store(given, alone=False) as source, _open_store(other, alone=False) as target:
        if not isinstance(source, MovingStore) or not isinstance(target, MovingStore):
            raise ConfigError("only postgresql:// stores are moved from and to; see `store copy`")
        names = await person_moves.choose_users(source, users, buckets)
        async for user in person_moves.move(source, target, names):
            click.echo(user)
            sys.stdout.flush()


def _check_chosen(users: Collection[str], buckets: Collection[int] | None) -> None:
    if not users and not buckets:
        raise ConfigError("name persons, or --buckets")


@asynccontextmanager
async def _open_store(given: str, *, alone: bool) -> AsyncIterator[StoreTransfer]:
    """Open a store; for a move, other processes may use the store as well."""
    transfer = open_transfer(store_url(given))
    await transfer.open(alone=alone and not isinstance(transfer, MovingStore))
    try:
        yield transfer
    finally:
        await transfer.aclose()
