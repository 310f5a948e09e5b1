"""Episodes: a teacher's messages dialog by dialog, and hashes by which examples are found again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec

from prolocutor.plugins.evaluation.example_rows import json_value

Message = Mapping[str, Any]

_HASH_BYTES: Final = 8
_ENCODER: Final = msgspec.json.Encoder(enc_hook=repr)
_GROUP_FIELDS: Final = ("domain", "task", "intent")


class Episode(msgspec.Struct):
    """The teacher's messages of a dialog, in order.

    `first` is the position of the first message in the data. Each of `hashes` is over a message and
    all messages before it. `task` is the data set, where there are several.
    """

    number: int
    first: int
    messages: list[Message]
    hashes: list[str]
    task: str = ""

    def __len__(self) -> int:
        return len(self.messages)


def group_episodes(messages: Iterable[Message], limit: int | None = None) -> Iterator[Episode]:
    """Group messages into episodes, up to `limit` messages in all.

    An episode ends where `episode_done` is true, and at the end of the data.
    """
    number = count = 0
    said: list[Message] = []
    hashes: list[str] = []
    if limit is not None and limit <= 0:
        return
    for message in messages:
        hashes.append(_hash(message, hashes[-1] if hashes else ""))
        said.append(message)
        count += 1
        full = count == limit
        if message.get("episode_done") or full:
            yield Episode(number, count - len(said), said, hashes)
            number, said, hashes = number + 1, [], []
            if full:
                return
    if said:
        yield Episode(number, count - len(said), said, hashes)


def episodes_of_tasks(
    tasks: Iterable[tuple[str, Iterable[Message]]], limit: int | None = None
) -> Iterator[Episode]:
    """Return the episodes of several data sets in sequence, up to `limit` messages in all.

    Episodes of a single data set have no `task`.
    """
    sets = list(tasks)
    number = first = 0
    for task, messages in sets:
        for episode in group_episodes(messages, None if limit is None else limit - first):
            episode.number, episode.first = number, first
            episode.task = task if len(sets) > 1 else ""
            number, first = number + 1, first + len(episode)
            yield episode


def example_group(message: Message, task: str = "") -> str:
    """Return the group of an example: its `domain`, `task` or `intent`, else its data set."""
    for field in _GROUP_FIELDS:
        if group := message.get(field):
            return str(group)
    return task or str(message.get("id") or "")


def _hash(message: Message, before: str) -> str:
    """Hash a message without the name of its data set, which changes with the folder."""
    fields = {name: value for name, value in message.items() if name != "id"}
    try:
        data = _ENCODER.encode(fields)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        data = _ENCODER.encode(json_value(fields))
    return blake2b(data, digest_size=_HASH_BYTES, key=before.encode()).hexdigest()
