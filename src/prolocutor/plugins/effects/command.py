"""`prolocutor effects`: the effects of skills that act, and settling unknown outcomes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from prolocutor.assistant.runner import run
from prolocutor.cli.options import STORE_OPTION, assistant_option, json_option
from prolocutor.cli.output import clean, write_json
from prolocutor.cli.owner import find_owner_door
from prolocutor.config.loading import load_assistant
from prolocutor.config.store_location import store_url
from prolocutor.dialog.ids import format_time
from prolocutor.plugins.effects.door import (
    PATH,
    EffectLine,
    EffectList,
    ListQuery,
    effect_line,
    effect_list,
)
from prolocutor.plugins.effects.effect_desk import EffectDesk
from prolocutor.plugins.effects.fields import field_lines
from prolocutor.stores.store_catalog import open_store

_FILE = assistant_option("The assistant's file.  [default: the demo's]")
_JSON = json_option("All as JSON.")


@click.group(short_help="Show the effects of skills that act, and settle unknown outcomes.")
def effects() -> None:
    """Show the effects of skills that act, and settle unknown outcomes.

    \b
    Examples:
      prolocutor effects list --assistant assistant.yaml
      prolocutor effects show KEY --assistant assistant.yaml
      prolocutor effects resolve KEY done --assistant assistant.yaml
    """


@effects.command("list")
@click.option("--all", "every", is_flag=True, help="Those that are over, too.")
@_FILE
@STORE_OPTION
@_JSON
def list_(every: bool, assistant: Path | None, store: str | None, json_file: str | None) -> None:
    """List the effects that wait for an approval, run, or are not known.

    \b
    Example:
      prolocutor effects list --all --assistant assistant.yaml
    """
    found = _list_at_owner(ListQuery(all=every), assistant, store)
    _print(found, json_file, _lines)


@effects.command()
@click.argument("key")
@_FILE
@STORE_OPTION
@_JSON
def show(key: str, assistant: Path | None, store: str | None, json_file: str | None) -> None:
    """Show all that is known of the effect with this KEY.

    \b
    Example:
      prolocutor effects show 01a20a81739d57cb2082cc2bfd59f210/payments
    """
    found = _list_at_owner(ListQuery(key=key), assistant, store)
    if not found.items:
        what = f"there is no effect {clean(key)}; prolocutor effects list --all shows them"
        raise click.ClickException(what)
    _print(found, json_file, _details)


@effects.command()
@click.argument("key")
@click.argument("outcome", type=click.Choice(["done", "not_done", "again", "approve", "refuse"]))
@_FILE
@STORE_OPTION
@_JSON
def resolve(
    key: str, outcome: str, assistant: Path | None, store: str | None, json_file: str | None
) -> None:
    """Tell the outcome of an effect of unknown outcome, or decide on a waiting effect.

    Its person is told. `again` starts it once more; that, and `approve`, need the running
    assistant.

    \b
    Example:
      prolocutor effects resolve 01a20a81739d57cb2082cc2bfd59f210/payments done
    """
    url = store_url(store, load_assistant(assistant))
    if (door := find_owner_door(url)) is not None:
        body = {"key": key, "decision": outcome}
        found = msgspec.convert(door.post(PATH, body), EffectList)
    else:
        found = run(_direct(url, lambda desk: _decide(desk, key, outcome)))
    _print(found, json_file, _lines)


def _list_at_owner(query: ListQuery, file: Path | None, given: str | None) -> EffectList:
    url = store_url(given, load_assistant(file))
    if (door := find_owner_door(url)) is not None:
        return msgspec.convert(door.post(f"{PATH}/list", msgspec.structs.asdict(query)), EffectList)
    return run(_direct(url, lambda desk: effect_list(desk, query.all, query.key)))


async def _decide(desk: EffectDesk, key: str, outcome: Any) -> EffectList:
    return EffectList([effect_line(await desk.decide(key, outcome, "the command line"))])


async def _direct(
    url: str, work: Callable[[EffectDesk], Coroutine[Any, Any, EffectList]]
) -> EffectList:
    """Decide in the store itself: an assistant that runs on the store later tells the persons."""
    store: Any = open_store(url)
    await store.open()
    try:
        desk = EffectDesk(store)
        found = await work(desk)
        await desk.aclose()
        return found
    finally:
        await store.aclose()


def _print(
    found: EffectList, json_file: str | None, lines: Callable[[EffectList], Iterator[str]]
) -> None:
    if json_file is not None:
        write_json(json_file, found)
    if json_file != "-":
        for line in lines(found):
            click.echo(line)


def _lines(found: EffectList) -> Iterator[str]:
    if not found.items:
        yield "no effect waits, and all are known"
    for item in found.items:
        state = (
            f"waits for {_who(item)}" if item.state == "waiting" else item.state.replace("_", " ")
        )
        when = format_time(item.at)[:19]
        title = clean(item.title, 60)
        yield f"{when}  {state:<18}  {clean(item.service)}  {title}  {clean(item.key)}"


def _who(line: EffectLine) -> str:
    return "an operator" if line.approver == "operator" else "its person"


def _details(found: EffectList) -> Iterator[str]:
    yield from _lines(found)
    for item in found.items:
        yield f"  person     {clean(item.user)}"
        for line in field_lines(item.fields or {}, {}):
            yield f"  field      {clean(line, 200)}"
        if item.approved_by:
            yield f"  approved   by {clean(item.approved_by)}"
        if item.why:
            yield f"  why        {clean(item.why, 300)}"
        for step in item.steps:
            yield f"  {format_time(step.at)[:23]}  {step.state:<9}  by {clean(step.by)}"
        if item.reply is not None:
            yield f"  answer     {clean(msgspec.json.encode(item.reply).decode(), 1000)}"
