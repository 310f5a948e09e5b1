"""`prolocutor replay`: the inputs of stored dialogs are sent to a changed assistant."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

import click
import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import BackgroundTasks
from prolocutor.cli.options import SEED_OPTION, assistant_option, concurrency_option, json_option
from prolocutor.cli.output import clean, write_json
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load_assistant
from prolocutor.config.store_location import open_for_reading
from prolocutor.dialog.agent_state import decode_dialog
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput, BadReply, ProlocutorError
from prolocutor.plugins.evaluation.evaluated_agent import set_seed

Change = Literal["same", "text", "skill", "both", "failed"]

CHANGES: Final = ("same", "text", "skill", "both", "failed")
"""Changes of a reply: none, its text, its skill, both; or there is no reply now."""

_WORDS: Final = {
    "same": "the same",
    "text": "another text",
    "skill": "another skill, the same text",
    "both": "another skill and text",
    "failed": "failed",
}
_JSONL: Final = (".jsonl", ".json", ".ndjson")


class ComparedReply(msgspec.Struct, frozen=True):
    """A reply: its text, the skill that gave it, its confidence."""

    text: str
    skill: str
    confidence: float


class ReplayedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A human utterance, sent again. `before` is None for an unanswered utterance."""

    dialog: str
    turn: int
    said: str
    before: ComparedReply | None
    after: ComparedReply | None
    change: Change
    error: str | None = None


class Replay:
    """Sends dialogs again, each as a new user, several at once."""

    def __init__(self, assistant: Assistant, *, concurrency: int = 1) -> None:
        self._assistant = assistant
        self._concurrency = concurrency

    async def turns(self, dialogs: AsyncIterator[Dialog]) -> AsyncIterator[list[ReplayedTurn]]:
        """Return the turns of each dialog, in the dialogs' order."""
        tasks = BackgroundTasks("replayed dialog")
        running: list[asyncio.Task[list[ReplayedTurn]]] = []
        try:
            async for dialog in dialogs:
                running.append(tasks.start(self._dialog(dialog), awaited=True))
                if len(running) >= self._concurrency:
                    yield await running.pop(0)
            while running:
                yield await running.pop(0)
        finally:
            await tasks.aclose()

    async def _dialog(self, dialog: Dialog) -> list[ReplayedTurn]:
        user = f"replay-{new_id()}"
        return [
            await self._turn(dialog, turn, user, said, before)
            for turn, (said, before) in enumerate(exchanges(dialog))
        ]

    async def _turn(
        self,
        dialog: Dialog,
        turn: int,
        user: str,
        said: HumanUtterance,
        before: ComparedReply | None,
    ) -> ReplayedTurn:
        after, error = None, None
        try:
            reply = await self._assistant.reply(said.text, user, attributes=said.attributes)
            after = _compared_reply(reply)
        except ProlocutorError as fault:
            error = f"{type(fault).__name__}: {fault}"
        return ReplayedTurn(
            dialog=dialog.dialog_id,
            turn=turn,
            said=said.text,
            before=before,
            after=after,
            change=find_change(before, after),
            error=error,
        )


def exchanges(dialog: Dialog) -> Iterator[tuple[HumanUtterance, ComparedReply | None]]:
    """Return each human utterance with the bot utterance right after it."""
    for position, utterance in enumerate(dialog.utterances):
        if isinstance(utterance, HumanUtterance):
            following = dialog.utterances[position + 1 : position + 2]
            reply = next((one for one in following if isinstance(one, BotUtterance)), None)
            yield utterance, _compared_reply(reply) if reply is not None else None


def find_change(before: ComparedReply | None, after: ComparedReply | None) -> Change:
    """Return the change of a reply."""
    if after is None:
        return "failed"
    if before is None:
        return "both"
    if before.text == after.text:
        return "same" if before.skill == after.skill else "skill"
    return "text" if before.skill == after.skill else "both"


def _compared_reply(reply: BotUtterance) -> ComparedReply:
    return ComparedReply(reply.text, reply.active_skill, reply.confidence)


@click.command(short_help="Send stored dialogs to a changed assistant.")
@click.argument("source", metavar="STORE|JSONL")
@assistant_option("The changed assistant's file, or its folder.  [default: the demo]", "file")
@click.option("--user", metavar="USER", help="Only this person's dialogs.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N dialogs only.")
@concurrency_option("Dialogs at once.")
@SEED_OPTION
@json_option("Write counts and every turn as JSON instead, to FILE or to stdout.")
def replay(
    source: str,
    file: Path | None,
    user: str | None,
    limit: int | None,
    concurrency: int,
    seed: int,
    json_file: str | None,
) -> None:
    """Send the inputs of stored dialogs to a changed assistant, and show which replies differ.

    STORE is a store as --store takes it; JSONL a file as `dialogs export` writes it. Each dialog
    has a new user, and its inputs come in order. The store is only read; nothing is stored.

    \b
    Examples:
      prolocutor replay prolocutor.db --assistant changed.yaml
      prolocutor replay dialogs.jsonl --assistant changed.yaml --json changes.json
    """
    set_seed(seed)
    turns = asyncio.run(_replay(source, file, user, limit, concurrency, quiet=bool(json_file)))
    counts = Counter(turn.change for turn in turns)
    dialogs = len({turn.dialog for turn in turns})
    summary = {change: counts[change] for change in CHANGES}
    if json_file is not None:
        found = {"dialogs": dialogs, "turns": len(turns), "counts": summary, "rows": turns}
        write_json(json_file, found)
        return
    told = ", ".join(f"{summary[change]:,} {_WORDS[change]}" for change in CHANGES)
    turns_said, dialogs_said = _count_text(len(turns), "turn"), _count_text(dialogs, "dialog")
    click.echo(f"{turns_said} in {dialogs_said}: {told}")


def _count_text(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


async def _replay(
    source: str,
    file: Path | None,
    user: str | None,
    limit: int | None,
    concurrency: int,
    *,
    quiet: bool,
) -> list[ReplayedTurn]:
    settings = load_assistant(file)
    seen: list[ReplayedTurn] = []
    async with (
        _dialogs(source, user, limit) as dialogs,
        build_assistant(settings, store="memory:", recording=False) as assistant,
    ):
        async for turns in Replay(assistant, concurrency=concurrency).turns(dialogs):
            seen += turns
            for line in () if quiet else _lines(turns):
                click.echo(line)
    return seen


@asynccontextmanager
async def _dialogs(
    source: str, user: str | None, limit: int | None
) -> AsyncIterator[AsyncIterator[Dialog]]:
    if source.endswith(_JSONL):
        yield _first(_read_dialogs(Path(source), user), limit)
        return
    async with open_for_reading(source) as store:
        yield _first(store.export(user=user), limit)


async def _first(dialogs: AsyncIterator[Dialog], limit: int | None) -> AsyncIterator[Dialog]:
    count = 0
    async for dialog in dialogs:
        yield dialog
        count += 1
        if count == limit:
            return


async def _read_dialogs(file: Path, user: str | None) -> AsyncIterator[Dialog]:
    with click.open_file(str(file), "rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                dialog = decode_dialog(line)
            except (BadReply, KeyError, TypeError, AttributeError) as error:
                raise BadInput(f"{file}:{number}: this is not a dialog ({error})") from None
            if user in (None, dialog.human.user_external_id):
                yield dialog


def _lines(turns: list[ReplayedTurn]) -> Iterator[str]:
    changed = [turn for turn in turns if turn.change != "same"]
    if not changed:
        return
    yield f"dialog {changed[0].dialog}"
    for turn in changed:
        yield f"  {turn.turn + 1}. {clean(turn.said)}"
        yield f"     before  {_reply_text(turn.before)}"
        yield f"     after   {_reply_text(turn.after) if turn.after else clean(turn.error or '')}"


def _reply_text(said: ComparedReply | None) -> str:
    if said is None:
        return "(no reply)"
    return f"{clean(said.skill)} ({said.confidence:.2f}): {clean(said.text)}"
