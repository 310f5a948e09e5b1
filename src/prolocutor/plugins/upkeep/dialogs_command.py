"""`prolocutor dialogs`: list, show, export, rate and delete stored dialogs."""

from __future__ import annotations

import asyncio
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Final

import click
import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table
from rich.text import Text

from prolocutor.cli.options import STORE_OPTION
from prolocutor.cli.output import visible
from prolocutor.config.store_location import open_for_reading
from prolocutor.contracts.store import DialogQuery, Store
from prolocutor.dialog.agent_state import encode_dialog
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.errors import NotFound
from prolocutor.plugins.upkeep.store_changes import change, full_id
from prolocutor.plugins.upkeep.times import AgeParam, TimeParam, local

Utterance = HumanUtterance | BotUtterance

HEADS = ("id", "started", "user", "turns", "answered", "rating", "first words")

_PAGE_ROWS: Final = 1000
_NUMBER: Final = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")


class DialogListRow(msgspec.Struct, frozen=True):
    """A dialog in a list."""

    id: str
    started: str
    user: str
    turns: int
    skills: str
    rating: str
    first: str


def list_row(dialog: Dialog) -> DialogListRow:
    """Return a dialog as a row of a list."""
    utterances = [
        utterance for utterance in dialog.utterances if isinstance(utterance, HumanUtterance)
    ]
    spoke = Counter(
        utterance.active_skill
        for utterance in dialog.utterances
        if isinstance(utterance, BotUtterance) and utterance.active_skill
    )
    return DialogListRow(
        dialog.dialog_id,
        local(dialog.date_start),
        dialog.human.user_external_id,
        len(utterances),
        ", ".join(name for name, _ in spoke.most_common(3)),
        _rating_cell(dialog.rating),
        utterances[0].text if utterances else "",
    )


def table(rows: list[DialogListRow], console: Console) -> None:
    """Print dialogs as a table."""
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for head in HEADS:
        last = head == HEADS[-1]
        shown.add_column(
            head,
            justify="right" if head == "turns" else "left",
            no_wrap=head in ("id", "started") or last,
            overflow="ellipsis" if last else "fold",
        )
    for row in rows:
        shown.add_row(*map(Text, _cells(row)))
    console.print(shown)


def plain(rows: list[DialogListRow]) -> list[str]:
    """Return dialogs as lines with tabs between the columns."""
    return ["\t".join(" ".join(cell.split()) for cell in _cells(row)) for row in rows]


def head(dialog: Dialog) -> str:
    """Return a dialog's id, user, start, channel and state in one line."""
    parts = [
        f"dialog {dialog.dialog_id} of {visible(dialog.human.user_external_id)}",
        f"started {local(dialog.date_start)}",
        f"by {dialog.channel_type}",
        "open" if dialog.active else "closed",
    ]
    if dialog.rating is not None:
        parts.append(f"rated {_rating_cell(dialog.rating)}")
    return ", ".join(parts)


def transcript(dialog: Dialog, *, ids: bool = False) -> list[Text]:
    """Return a line for each utterance: time, speaker, text; `ids` adds the utterances' ids."""
    names = [visible(_speaker(utterance)) for utterance in dialog.utterances]
    width = min(max(map(len, names), default=0), 24)
    return [
        _line(one, name, width, ids=ids) for one, name in zip(dialog.utterances, names, strict=True)
    ]


def _line(utterance: Utterance, name: str, width: int, *, ids: bool) -> Text:
    line = Text(f"{utterance.utt_id}  " if ids else "", style="dim")
    by_bot = isinstance(utterance, BotUtterance)
    line.append(f"{local(utterance.date_time, '%H:%M:%S')}  ", style="dim")
    line.append(f"{name:<{width}}  ", style="cyan" if by_bot else "bold")
    line.append(visible(utterance.text), style="" if by_bot else "bold")
    notes = [f"{utterance.confidence:.3g}"] if isinstance(utterance, BotUtterance) else []
    ratings = utterance.attributes.get("ratings")
    if isinstance(ratings, list) and ratings and isinstance(ratings[-1], dict):
        notes.append(f"rated {_rating_cell(ratings[-1].get('rating'))}")
    if notes:
        line.append(f"  ({', '.join(notes)})", style="dim")
    return line


def _speaker(utterance: Utterance) -> str:
    if isinstance(utterance, HumanUtterance):
        return utterance.user.user_external_id
    return utterance.active_skill or "(nobody)"


def _rating_cell(rating: object) -> str:
    if rating is None:
        return ""
    return rating if isinstance(rating, str) else msgspec.json.encode(rating).decode()


def _cells(row: DialogListRow) -> tuple[str, ...]:
    cells = row.id, row.started, row.user, str(row.turns), row.skills, row.rating, row.first
    return tuple(map(visible, cells))


@click.group(short_help="List, show, export, rate and delete dialogs.")
def dialogs() -> None:
    """List, show, export, rate and delete stored dialogs.

    `list`, `show` and `export` read the store beside its owner. `rate` and `delete` go through the
    door of `prolocutor serve` while that owns the store.

    \b
    Examples:
      prolocutor dialogs list --user ann --since 7d
      prolocutor dialogs show 01a1fa53b3b9
      prolocutor dialogs export --out dialogs.jsonl
      prolocutor dialogs rate 01a1fa53b3b9 5
      prolocutor dialogs delete --older-than 30d
    """


@dialogs.command("list", short_help="List dialogs, the latest first.")
@click.option("--user", metavar="USER", help="Only this person's.")
@click.option(
    "--since", type=TimeParam(), help="Begun then or later: 2026-11-20, or 7d for days ago."
)
@click.option("--until", type=TimeParam(), help="Begun before then.")
@click.option("--skill", metavar="NAME", help="Only those in which this skill spoke.")
@click.option("--rating", metavar="RATING", help="Only those rated so, as a whole or in a part.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@STORE_OPTION
def list_dialogs(
    user: str | None,
    since: str | None,
    until: str | None,
    skill: str | None,
    rating: str | None,
    limit: int,
    store: str | None,
) -> None:
    """List dialogs, the latest first: id, start, person, turns, who answered most, rating.

    In a pipe the columns are apart by tabs.

    \b
    Examples:
      prolocutor dialogs list
      prolocutor dialogs list --skill calculator --since 2026-11-01 --limit 100
    """
    query = DialogQuery(
        user=user, since=since, until=until, skill=skill, rating=_rating(rating), limit=_PAGE_ROWS
    )
    rows = asyncio.run(_rows(query, limit, store))
    if sys.stdout.isatty():
        table(rows, Console(highlight=False))
    else:
        for line in plain(rows):
            click.echo(line)


async def _rows(query: DialogQuery, limit: int, given: str | None) -> list[DialogListRow]:
    async with open_for_reading(given) as store:
        ids = [dialog_id async for dialog_id in _all_ids(store, query)][-limit:]
        found = [await store.dialog(id_) for id_ in reversed(ids)]
    return [list_row(one) for one in found if one is not None]


async def _all_ids(store: Store, query: DialogQuery) -> AsyncIterator[str]:
    while page := await store.dialog_ids(query):
        for id_ in page:
            yield id_
        query = replace(query, after=page[-1])


@dialogs.command(short_help="Show all that was said in a dialog.")
@click.argument("id_", metavar="ID")
@click.option("--ids", is_flag=True, help="Put the id of each utterance in front of it.")
@STORE_OPTION
def show(id_: str, ids: bool, store: str | None) -> None:
    """Show all that was said in a dialog, who answered, and how sure.

    ID is the dialog's, or enough of its beginning.

    \b
    Example:
      prolocutor dialogs show 01a1fa53b3b9 --ids
    """
    dialog = asyncio.run(_dialog(id_, store))
    console = Console(highlight=False, soft_wrap=True)
    console.print(head(dialog), style="dim")
    for line in transcript(dialog, ids=ids):
        console.print(line)


async def _dialog(id_: str, given: str | None) -> Dialog:
    async with open_for_reading(given) as store:
        dialog = await store.dialog(await full_id(store, id_))
    if dialog is None:
        raise NotFound(f"no dialog has the id {id_}; prolocutor dialogs list shows some")
    return dialog


@dialogs.command(short_help="Write dialogs as JSON lines.")
@click.option("--user", metavar="USER", help="Only this person's.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl"]),
    default="jsonl",
    show_default=True,
    help="One dialog a line, as the agent state of DeepPavlov Agent.",
)
@click.option("--out", metavar="FILE", default="-", help="Where to.  [default: stdout]")
@STORE_OPTION
def export(user: str | None, form: str, out: str, store: str | None) -> None:
    """Write whole dialogs as JSON, a dialog a line, oldest first.

    Each is the agent state of DeepPavlov Agent with all hypotheses and annotations. They are
    written singly, however many there are, while the assistant goes on.

    \b
    Examples:
      prolocutor dialogs export --user ann --out ann.jsonl
      prolocutor dialogs export | jq -r '.utterances[].text'

    """
    asyncio.run(_export(user, out, store))


async def _export(user: str | None, out: str, given: str | None) -> None:
    async with open_for_reading(given) as store:
        with click.open_file(out, "wb") as file:
            async for dialog in store.export(user=user):
                file.write(encode_dialog(dialog) + b"\n")


@dialogs.command(short_help="Delete a person, or old dialogs.")
@click.option("--user", metavar="USER", help="This person, with all that is theirs.")
@click.option(
    "--older-than",
    "before",
    type=AgeParam(),
    help="Dialogs in which nothing was said for so long: 30d.",
)
@click.option("--yes", is_flag=True, help="Do not ask whether you are sure.")
@STORE_OPTION
def delete(user: str | None, before: str | None, yes: bool, store: str | None) -> None:
    """Delete a person with all that is theirs, or the dialogs of everybody that are old.

    It cannot be undone. A person is deleted at all doors; what is deleted is overwritten in the
    file.

    \b
    Examples:
      prolocutor dialogs delete --user ann
      prolocutor dialogs delete --older-than 30d --yes
    """
    if (user is None) == (before is None):
        raise click.UsageError("Say either --user or --older-than.")
    what = f"everything of {user}" if user else f"all dialogs last used before {before} UTC"
    if yes or click.confirm(f"Delete {what}?", err=True):
        click.echo(asyncio.run(_delete(user, before, store)))
    else:
        click.echo("Nothing is deleted.")


async def _delete(user: str | None, before: str | None, given: str | None) -> str:
    async with change(given) as store:
        if user is not None:
            if not await store.delete_person(user):
                raise NotFound(f"nobody is called {user}")
            return f"{user} is deleted, with all that was theirs."
        number = await store.delete_older(before or "")
        return "1 dialog is deleted." if number == 1 else f"{number} dialogs are deleted."


@dialogs.command(short_help="Rate a dialog or an utterance.")
@click.argument("id_", metavar="ID")
@click.argument("rating")
@STORE_OPTION
def rate(id_: str, rating: str, store: str | None) -> None:
    """Rate a dialog as a whole, or an utterance.

    ID is the dialog's or the utterance's (`dialogs show --ids` tells them). RATING is a number or
    a word. Ratings add up; the last rating of a dialog shows in lists.

    \b
    Example:
      prolocutor dialogs rate 01a1fa53b3b9 5
    """
    click.echo(asyncio.run(_rate(id_, _rating(rating), store)))


async def _rate(id_: str, rating: Any, given: str | None) -> str:
    async with open_for_reading(given) as store:
        id_ = await full_id(store, id_)
    async with change(given) as changed:
        what = await changed.rate(id_, rating)
    return f"The {what} {id_} is rated {rating}."


def _rating(text: str | None) -> Any:
    """Read a rating: a number if possible, else a text."""
    if text is None or not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)
