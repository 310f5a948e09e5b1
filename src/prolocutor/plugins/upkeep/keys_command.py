"""`prolocutor keys` and `prolocutor audit`: keys of operators and persons, and the audit trail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, get_args

import click
import msgspec

from prolocutor.assistant.sharing import is_shared
from prolocutor.cli.options import STORE_OPTION
from prolocutor.cli.owner import OwnerDoor, find_owner_door
from prolocutor.cli.owner_channel import AUDIT, KEYS, AuditList, KeyCommand, KeyResult, obey
from prolocutor.clocks import DAY
from prolocutor.config.store_location import store_url
from prolocutor.contracts.http import KeyScope
from prolocutor.dialog.ids import format_time
from prolocutor.errors import ConfigError, printable
from prolocutor.stores.store_catalog import open_store
from prolocutor.web.audit_trail import AuditedAct, read_acts
from prolocutor.web.key_ring import KeyRing, StoredKey


@click.group(short_help="Make, list and revoke keys of operators and tokens.")
def keys() -> None:
    """Make, list and revoke keys of operators and tokens of persons, beside those of `auth`.

    The store keeps a digest of each. A server takes them at once, its replicas within seconds.

    \b
    Examples:
      prolocutor keys create dashboard --scope read --days 90
      prolocutor keys list
      prolocutor keys revoke 8f14e45fceea167a
    """


@keys.command(short_help="Make a key and print it, once.")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(get_args(KeyScope)),
    multiple=True,
    help="What it may be used for; may be given several times.",
)
@click.option("--person", help="Make the token of this person instead, who may talk.")
@click.option("--days", type=click.FloatRange(0, min_open=True), help="For how long it counts.")
@STORE_OPTION
def create(
    name: str,
    scopes: tuple[KeyScope, ...],
    person: str | None,
    days: float | None,
    store: str | None,
) -> None:
    """Make a key for NAME and print it. It is shown this once.

    `read` looks at dialogs, figures and metrics; `converse` talks for any person; `operate` allows
    the operators' actions (take dialogs over, rate, notify) and the two before; `admin` everything,
    keys and deletion through the commands' own door included.

    With `--person` it is a token, as those of `auth.tokens`: who has it is that person.

    \b
    Examples:
      prolocutor keys create dashboard --scope read --days 90
      prolocutor keys create "phone of ann" --person ann

    """
    if bool(scopes) == bool(person):
        raise click.UsageError("a key needs --scope, a token of a person needs --person")
    seconds = None if days is None else days * DAY
    command = KeyCommand("create", name=name, scopes=list(scopes), seconds=seconds, user=person)
    click.echo(asyncio.run(_ask(command, store)).secret)


@keys.command("list", short_help="List the keys, never their secrets.")
@STORE_OPTION
def list_keys(store: str | None) -> None:
    """List the keys: id, name, scopes, made, end, last use. The columns are apart by tabs.

    In place of the scopes, a token of a person has `person:` and the name.

    \b
    Example:
      prolocutor keys list
    """
    for key in asyncio.run(_ask(KeyCommand("list"), store)).keys:
        click.echo("\t".join(_row(key)))


@keys.command(short_help="Revoke a key.")
@click.argument("id_", metavar="ID")
@STORE_OPTION
def revoke(id_: str, store: str | None) -> None:
    """Revoke the key with this ID.

    \b
    Example:
      prolocutor keys revoke 8f14e45fceea167a
    """
    asyncio.run(_ask(KeyCommand("revoke", id=id_), store))
    click.echo(f"The key {id_} is revoked.")


@keys.command(short_help="Copy keys to other databases.")
@click.argument("source", metavar="FROM")
@click.argument("targets", nargs=-1, required=True, metavar="TO...")
def copy(source: str, targets: tuple[str, ...]) -> None:
    """Give databases the keys of FROM, and revoke there what FROM has not; tell the outcome.

    For cells, each of which keeps keys of its own: make and revoke them in one, then copy.

    \b
    Example:
      prolocutor keys copy postgresql://prolocutor@db0/prolocutor \\
        postgresql://prolocutor@db1/prolocutor
    """
    if source in targets:
        raise ConfigError("FROM is among the databases that are written")
    asyncio.run(_copy(source, targets))


async def _copy(source: str, targets: Sequence[str]) -> None:
    async with _stored_ring(source) as ring:
        wanted = await ring.list()
    if not wanted:
        raise ConfigError(f"{source} has no keys, and would revoke all others")
    for number, target in enumerate(targets, 1):
        async with _stored_ring(target) as ring:
            added, revoked = await ring.match(wanted)
        for what, some in (("added", added), ("revoked", revoked)):
            for key in some:
                click.echo(f"{number}\t{what}\t{key.id}\t{printable(key.name)}")


@asynccontextmanager
async def _stored_ring(given: str) -> AsyncIterator[KeyRing]:
    store: Any = open_store(store_url(given))
    if not is_shared(store):
        raise ConfigError(
            f"{given}: keys are copied between stores that replicas share: postgresql://..."
        )
    await store.open()
    try:
        yield KeyRing(store)
    finally:
        await store.aclose()


def _row(key: StoredKey) -> list[str]:
    times = [key.created, key.expires, key.used]
    shown = ["-" if at is None else format_time(at)[:19] for at in times]
    may = ",".join(key.scopes) if key.user is None else f"person:{key.user}"
    return [key.id, key.name, may, *shown]


async def _ask(command: KeyCommand, given: str | None) -> KeyResult:
    async with _ring(given) as ring:
        if isinstance(ring, OwnerDoor):
            return msgspec.convert(ring.post(KEYS, msgspec.to_builtins(command)), KeyResult)
        return await obey(ring, command)


@asynccontextmanager
async def _ring(given: str | None) -> AsyncIterator[OwnerDoor | KeyRing]:
    """Yield the door of the store's owner, or the keys of a store without an owner."""
    url = store_url(given)
    if (door := find_owner_door(url)) is not None:
        yield door
        return
    store: Any = open_store(url)
    await store.open()
    try:
        yield KeyRing(store)
    finally:
        await store.aclose()


@click.command(short_help="List the operators' actions.")
@click.option(
    "--days",
    type=click.FloatRange(0, min_open=True),
    default=7.0,
    show_default=True,
    help="How far to look back.",
)
@STORE_OPTION
def audit(days: float, store: str | None) -> None:
    """List the operators' actions: when, who, from which address, which request.

    The columns are apart by tabs. Changes, and looks at a single dialog, person or turn are kept
    for 90 days; lists and figures that were looked at are in the log alone.

    \b
    Example:
      prolocutor audit --days 1

    """
    for act in asyncio.run(_acts(days * DAY, store)):
        shown = (format_time(act.at)[:19], act.who, act.address, act.method, act.path)
        click.echo("\t".join(printable(one) for one in shown))


async def _acts(seconds: float, given: str | None) -> list[AuditedAct]:
    url = store_url(given)
    if (door := find_owner_door(url)) is not None:
        return msgspec.convert(door.post(AUDIT, {"seconds": seconds}), AuditList).acts
    store: Any = open_store(url)
    await store.open()
    try:
        return await read_acts(store, time.time() - seconds)
    finally:
        await store.aclose()
