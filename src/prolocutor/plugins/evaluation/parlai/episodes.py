"""Episodes: messages grouped to them, and a buffer from which any of them can be taken."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final, TypeVar

Example = TypeVar("Example", bound=Mapping[str, Any])

MAX_MEMORY: Final = 8 << 20
"""Bytes above which episodes go to a temporary file without a name."""


class EpisodeBuffer:
    """Episodes by number, in memory while they are few; an index of eight bytes an episode.

    A taken episode is a copy.
    """

    def __init__(self, episodes: Iterable[Sequence[dict[str, Any]]]) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MAX_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._places = array("q")
        self.examples = 0
        for episode in episodes:
            self._places.append(self._file.tell())
            pickle.dump(list(episode), self._file, pickle.HIGHEST_PROTOCOL)
            self.examples += len(episode)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> list[dict[str, Any]]:
        self._file.seek(self._places[number])
        episode: list[dict[str, Any]] = pickle.load(self._file)
        return episode


def split_episodes(
    messages: Iterable[Example], ends: Callable[[Example], bool]
) -> Iterator[list[Example]]:
    """Group messages to episodes; `ends` says whether a message is the last of its episode."""
    episode: list[Example] = []
    for message in messages:
        episode.append(message)
        if ends(message):
            yield episode
            episode = []
    if episode:
        yield episode


def is_done(message: MutableMapping[str, Any]) -> bool:
    """Take `episode_done` out of a message and return it; True where it is missing."""
    return bool(message.pop("episode_done", True))
