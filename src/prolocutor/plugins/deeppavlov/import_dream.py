"""`prolocutor store import-dream`: stored dialogs of DeepPavlov Agent into a store."""

from __future__ import annotations

import asyncio

import click

from prolocutor.config.store_location import store_url
from prolocutor.plugins.deeppavlov.dream_import import ImportOutcome, import_dialogs
from prolocutor.plugins.deeppavlov.mongo_documents import open_source
from prolocutor.stores.store_catalog import open_transfer

_SHOWN_EACH = 100


@click.command(short_help="Import DeepPavlov Agent's dialogs from MongoDB.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def import_dream(source: str, target: str) -> None:
    """Import DeepPavlov Agent's dialogs from MongoDB: people, dialogs, ratings.

    FROM is a folder with a file of mongoexport for each collection (user, bot, dialog,
    human_utterance, bot_utterance), or mongodb://HOST:27017/NAME, which needs the package pymongo.
    TO is a store; stop the assistants that use it. All ids stay.

    A person known to TO stays unchanged. To resume an interrupted import, repeat the command.

    \b
    Example:
      mongoexport --db dream-dev --collection dialog --out dump/dialog.json
      prolocutor store import-dream dump dream.db
    """
    click.echo(asyncio.run(_import(source, target)))


async def _import(given: str, target: str) -> str:
    source, transfer = open_source(given), open_transfer(store_url(target))
    await transfer.open(alone=True)
    try:
        outcome = await import_dialogs(source, transfer, _progress)
    finally:
        await transfer.aclose()
    return _told(outcome)


def _told(outcome: ImportOutcome) -> str:
    told = (
        f"{outcome.persons:,} persons, {outcome.dialogs:,} dialogs, {outcome.utterances:,}"
        f" utterances and {outcome.ratings:,} ratings are imported;"
        f" {outcome.kept:,} persons were there already"
    )
    if outcome.left_out:
        told += f"; {outcome.left_out:,} documents are left out: whose they are is missing"
    return f"{told}."


def _progress(done: int, total: int) -> None:
    if done == total or done % _SHOWN_EACH == 0:
        click.echo(f"\r{done} of {total} persons", nl=done == total, err=True)
