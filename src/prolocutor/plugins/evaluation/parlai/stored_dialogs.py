"""Stored dialogs: users' dialogs with the assistant, as episodes for training or tests.

Each human utterance with a reply is an example, the reply its label. An utterance without a reply
is put before the next utterance, with a newline between. Notifications are left out: they reply to
no input.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager

import msgspec

from prolocutor.config.store_location import Dialogs, dialog_opener
from prolocutor.data_sets import DataPlace
from prolocutor.dialog.dialog import Dialog, HumanUtterance
from prolocutor.plugins.evaluation.parlai.message import Message


class StoredData(msgspec.Struct, frozen=True, kw_only=True):
    """The dialogs of a store; an empty PATH is your own."""

    def build(self, place: DataPlace) -> StoredDialogs:
        """Return the data set."""
        return StoredDialogs(dialog_opener(place.path), name=place.spec)


class StoredDialogs:
    """The dialogs of a store named `name`.

    `episodes` runs an event loop of its own for each pass, so call it outside event loops;
    asynchronous code calls `dialog_episodes`.
    """

    def __init__(self, dialogs: Dialogs, *, name: str = "store") -> None:
        self._dialogs = dialogs
        self._name = name

    @property
    def id(self) -> str:
        """The given name."""
        return self._name

    @property
    def portion(self) -> float | None:
        """Not known: dialogs are read until there are no more."""
        return None

    def episodes(self) -> Iterator[list[Message]]:
        """Read all dialogs once."""
        with asyncio.Runner() as runner:
            opened = self._dialogs()
            episodes = dialog_episodes(runner.run(_enter(opened)))
            try:
                while (episode := runner.run(_next(episodes))) is not None:
                    yield episode
            finally:
                runner.run(_close(episodes, opened))


async def dialog_episodes(dialogs: AsyncIterator[Dialog]) -> AsyncIterator[list[Message]]:
    """Yield an episode for each dialog with at least one reply."""
    async for dialog in dialogs:
        if episode := dialog_episode(dialog):
            yield episode


def dialog_episode(dialog: Dialog) -> list[Message]:
    """Make the examples of a dialog.

    Further fields: `dialog_id`, `utt_id` of the human utterance, and the `active_skill` and
    `confidence` of the reply.
    """
    episode: list[Message] = []
    said: list[HumanUtterance] = []
    for utterance in dialog.utterances:
        if isinstance(utterance, HumanUtterance):
            said.append(utterance)
        elif said:
            message = Message(text="\n".join(one.text for one in said), labels=[utterance.text])
            message["dialog_id"] = dialog.dialog_id
            message["utt_id"] = said[-1].utt_id
            message["active_skill"] = utterance.active_skill
            message["confidence"] = utterance.confidence
            episode.append(message)
            said = []
    return episode


async def _enter(
    opened: AbstractAsyncContextManager[AsyncIterator[Dialog]],
) -> AsyncIterator[Dialog]:
    return await opened.__aenter__()


async def _next(episodes: AsyncIterator[list[Message]]) -> list[Message] | None:
    return await anext(episodes, None)


async def _close(
    episodes: AsyncIterator[list[Message]],
    opened: AbstractAsyncContextManager[AsyncIterator[Dialog]],
) -> None:
    try:
        if (close := getattr(episodes, "aclose", None)) is not None:
            await close()
    finally:
        await opened.__aexit__(None, None, None)
