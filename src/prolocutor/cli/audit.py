"""`prolocutor audit`: what operators did."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import click
import msgspec

from prolocutor.cli.options import STORE_OPTION
from prolocutor.cli.owner import door_of
from prolocutor.cli.owner_channel import AUDIT, AuditList
from prolocutor.config.store_location import store_url
from prolocutor.dialog.ids import format_time
from prolocutor.durations import DAY
from prolocutor.errors import printable
from prolocutor.stores.store_catalog import open_store
from prolocutor.web.audit_trail import AuditedAct, acts_of


@click.command(short_help="List what operators did.")
@click.option(
    "--days",
    type=click.FloatRange(0, min_open=True),
    default=7.0,
    show_default=True,
    help="How far to look back.",
)
@STORE_OPTION
def audit(days: float, store: str | None) -> None:
    """List what operators did: when, who, from which address, which request.

    The columns are apart by tabs. What changes something or looks at one dialog, person or turn is
    kept for 90 days; lists and figures that were looked at are in the log alone.

    \b
    Example:
      prolocutor audit --days 1
    """
    for act in asyncio.run(_acts(days * DAY, store)):
        shown = (format_time(act.at)[:19], act.who, act.address, act.method, act.path)
        click.echo("\t".join(printable(one) for one in shown))


async def _acts(seconds: float, given: str | None) -> list[AuditedAct]:
    url = store_url(given)
    if (door := door_of(url)) is not None:
        return msgspec.convert(door.post(AUDIT, {"seconds": seconds}), AuditList).acts
    store: Any = open_store(url)
    await store.open()
    try:
        return await acts_of(store, time.time() - seconds)
    finally:
        await store.aclose()
