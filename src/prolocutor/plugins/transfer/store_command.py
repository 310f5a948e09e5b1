"""`prolocutor store`: bring a store up to date, check it, copy it into another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from prolocutor.cli.lazy_group import LazyGroup
from prolocutor.config.store_location import check_exists, sqlite_file, store_url
from prolocutor.contracts.store_options import StoreTransfer
from prolocutor.errors import ConfigError, StoreError
from prolocutor.plugins.transfer import store_copy
from prolocutor.stores.store_catalog import open_transfer

_SHOWN_EACH = 100
_LEFT_OUT = (
    "What hours and agents count of turns whose records are gone, and what calls cost, is not"
    " copied, since TO has users of its own."
)


@click.group(
    cls=LazyGroup, group="prolocutor.commands.store", short_help="Migrate, check and copy stores."
)
def store() -> None:
    """Bring a store up to date, check it, copy it into another.

    A store is a SQLite file, sqlite:///FILE or postgresql://USER@HOST/DATABASE. Stop the assistants
    that use it before `copy`, and those that use a SQLite file before `migrate`.

    \b
    Examples:
      prolocutor store migrate postgresql://prolocutor@db/prolocutor
      prolocutor store check prolocutor.db
      prolocutor store copy prolocutor.db postgresql://prolocutor@db/prolocutor
    """


@store.command(short_help="Bring a store up to date.")
@click.argument("url")
def migrate(url: str) -> None:
    """Bring the store up to date; a new one gets its tables.

    Assistants do the same when they start. It does no harm to do it twice, or from two places.
    Replicas on PostgreSQL go on meanwhile; where a release would break them it says so and waits
    for you to stop them.

    \b
    Example:
      prolocutor store migrate postgresql://prolocutor@db/prolocutor
    """
    for line in asyncio.run(_migrate(url)):
        click.echo(line)


async def _migrate(given: str) -> list[str]:
    return await open_transfer(store_url(given)).migrate()


@store.command(short_help="Read everything and say what is wrong.")
@click.argument("url")
@click.option("--repair", is_flag=True, help="Mend what can be mended; stop the assistants first.")
def check(url: str, repair: bool) -> int:
    """Read everything that is stored and say what is wrong.

    It reads beside the assistants that use the store. Exit status 1 if something is wrong.

    With `--repair` persons of whom parts are lost can talk again: versions of a profile that are
    missing become as those before them, utterances after a gap move up. Make a backup first.

    \b
    Example:
      prolocutor store check prolocutor.db
    """
    return asyncio.run(_check(url, repair))


async def _check(given: str, repair: bool) -> int:
    _check_file(given)
    async with _open_store(given, alone=repair) as (transfer, condition):
        for line in condition:
            click.echo(line)
        found = await store_copy.check(transfer, _progress, repair=repair)
    click.echo(
        f"{found.users} users, {found.dialogs} dialogs, {found.utterances} utterances, "
        f"{found.open_turns} open turns"
    )
    faults = [line for line in condition if line.startswith("damaged")] + found.faults
    for fault in found.faults:
        click.echo(fault)
    for user in found.repaired:
        click.echo(f"repaired: {user}")
    click.echo("Something is wrong." if faults else "All is well.")
    return 1 if faults else 0


@store.command(short_help="Copy a store into another.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(source: str, target: str) -> None:
    """Copy everything of one store into another, of the same kind or another kind.

    All ids stay. A copy that was interrupted goes on where it stopped: say the same again. At the
    end all that was copied is compared, records of turns and the console's figures included.

    \b
    Example:
      prolocutor store copy prolocutor.db postgresql://prolocutor@db/prolocutor
    """
    click.echo(asyncio.run(_copy(source, target)))


async def _copy(given: str, other: str) -> str:
    _check_file(given)
    if store_url(given) == store_url(other):
        raise ConfigError("FROM and TO are the same store")
    async with (
        _open_store(given, alone=True) as (source, _),
        _open_store(other, alone=True) as (target, _),
    ):
        outcome = await store_copy.copy(source, target, _progress)
        different = await store_copy.differences(source, target, _progress)
        figures_differ = await store_copy.unrecorded_differ(source, target)
    if different:
        some = ", ".join(repr(user) for user in different[:5])
        raise StoreError(f"{len(different)} users are not the same in TO: {some}")
    if figures_differ and not outcome.others:
        raise StoreError("the figures by hour and agent, or the costs of calls, differ in TO")
    others = f", {outcome.others} others are in TO" if outcome.others else ""
    return (
        f"{outcome.written} users are copied, {outcome.kept} were there already{others}; "
        "dialogs, feeds, open turns, requests, agenda, documents, records of turns and figures are "
        "compared and the same." + (f"\n{_LEFT_OUT}" if figures_differ else "")
    )


@asynccontextmanager
async def _open_store(given: str, *, alone: bool) -> AsyncIterator[tuple[StoreTransfer, list[str]]]:
    transfer = open_transfer(store_url(given))
    condition = await transfer.open(alone=alone)
    try:
        yield transfer, condition
    finally:
        await transfer.aclose()


def _check_file(given: str) -> None:
    file = sqlite_file(store_url(given))
    if file is not None:
        check_exists(file)


def _progress(done: int, total: int) -> None:
    if done == total or done % _SHOWN_EACH == 0:
        click.echo(f"\r{done} of {total} users", nl=done == total, err=True)
