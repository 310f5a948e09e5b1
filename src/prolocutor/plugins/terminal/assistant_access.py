"""The assistant of a command: in this process, or in the process that owns the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner import OwnerDoor, OwnerNote, find_owner_door, leave_note
from prolocutor.cli.turn_output import TurnOutput, turn_output
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load_assistant
from prolocutor.config.store_location import store_url


class AssistantAccess(Protocol):
    """Access to an assistant, in this process or another."""

    async def say(self, text: str, user: str) -> TurnOutput:
        """Send an input and return the whole turn."""

    async def close_dialog(self, user: str) -> None:
        """End the person's dialog; the next input begins another."""


class LocalAssistant:
    """An assistant in this process."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def say(self, text: str, user: str) -> TurnOutput:
        """Send an input and return the whole turn."""
        return turn_output(text, await self._assistant.turn(text, user=user, channel="cmd_client"))

    async def close_dialog(self, user: str) -> None:
        """End the person's dialog."""
        await self._assistant.archive.close(user)


class ServedAssistant:
    """The assistant of another process, through its door."""

    def __init__(self, door: OwnerDoor) -> None:
        self._door = door

    async def say(self, text: str, user: str) -> TurnOutput:
        """Send an input and return the whole turn."""
        said = {"user": user, "text": text}
        turn = await asyncio.to_thread(self._door.post, "/owner/turn", said)
        return msgspec.convert(turn, TurnOutput)

    async def close_dialog(self, user: str) -> None:
        """End the person's dialog."""
        await asyncio.to_thread(self._door.post, "/owner/close", {"user": user})


@asynccontextmanager
async def open_access(
    command: str, given: Path | None, store: str | None
) -> AsyncIterator[AssistantAccess]:
    """Open the served assistant if another process owns the store, else the file's assistant."""
    settings = load_assistant(given)
    url = store_url(store, settings)
    if (door := find_owner_door(url, Path(settings.file))) is not None:
        yield ServedAssistant(door)
        return
    async with build_assistant(settings, store=url) as assistant:
        leave_note(assistant.store, OwnerNote(command, settings.file))
        yield LocalAssistant(assistant)
