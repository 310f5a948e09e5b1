"""Filling a store quickly: a real turn, stored again and again under new ids, past the engine."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import structs

from bench.turns.workload import make_pipeline, said
from prolocutor import Assistant
from prolocutor.contracts.store import OpenedTurn, TurnClosing, TurnOpening, TurnStore
from prolocutor.dialog import ids
from prolocutor.stores.sqlite.sqlite_store import MemoryStore, SqliteStore

LANES = 200
SQL = Path(__file__).resolve().parents[2] / "src" / "prolocutor" / "stores" / "sqlite" / "sql"


class Recorder(MemoryStore):
    """Remembers what the last turn handed to its store."""

    last: TurnClosing

    async def close_turn(self, finished: TurnClosing) -> None:
        """Keep it here too."""
        self.last = finished
        await super().close_turn(finished)


async def recorded() -> TurnClosing:
    """A turn in the middle of a dialog of the standard pipeline, as a store gets it."""
    store = Recorder()
    async with Assistant(make_pipeline("turn-inline"), store=store) as assistant:
        for number in range(1, 5):
            await assistant.turn(said("turn-inline", "ann", number)[0], user="ann")
    return store.last


async def fill(path: Path, dialogs: Iterable[tuple[str, int]]) -> None:
    """Stores dialogs of so many turns, given as (user, turns), in a file."""
    model = await recorded()
    store = SqliteStore(path, durability="relaxed")
    await store.open()
    waiting = iter(dialogs)

    async def lane() -> None:
        for user, turns in waiting:
            for _ in range(turns):
                await repeat(model, store, user)

    try:
        await asyncio.gather(*(lane() for _ in range(LANES)))
    finally:
        await store.aclose()


async def repeat(model: TurnClosing, store: TurnStore, user: str) -> None:
    """Stores the recorded turn once more, as this person's."""
    old = model.opened.opening
    opened = await store.open_turn(renamed(old, user))
    assert isinstance(opened, OpenedTurn)
    said = opened.opening
    spoken = []
    for utterance in model.utterances:
        before, after = (
            (old.bot_utt_id, said.bot_utt_id) if utterance.by_bot else (old.utt_id, said.utt_id)
        )
        profile = opened.bot if utterance.by_bot else opened.human
        spoken.append(
            structs.replace(
                utterance,
                utt_id=after,
                body=utterance.body.replace(before.encode(), after.encode()),
                user_version=profile.number,
            )
        )
    await store.close_turn(structs.replace(model, opened=opened, utterances=spoken))


def renamed(old: TurnOpening, user: str) -> TurnOpening:
    """The same opening with new ids, of another user."""
    names = ("human_id", "dialog_id", "id", "bot_id")
    new_dialog = structs.replace(old.new_dialog, **{name: ids.new_id() for name in names})
    return structs.replace(
        old,
        turn_id=ids.new_id(),
        user=user,
        utt_id=ids.new_id(),
        bot_utt_id=ids.new_id(),
        new_dialog=new_dialog,
    )


async def kept(folder: Path, people: int) -> Path:
    """The file with one dialog of each of so many people; made once, used again."""
    path = folder / f"people-{people}-{version()}.db"
    if not path.exists():
        making = folder / f"people-{os.getpid()}.db"
        await fill(making, ((f"person-{number}", 1) for number in range(people)))
        for old in folder.glob("people-*-*.db"):  # noqa: ASYNC240
            old.unlink()
        making.rename(path)
    return path


def version() -> str:
    """Changes with the tables of the store and with what is stored."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted(SQL.rglob("*.sql")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
