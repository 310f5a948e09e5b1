"""A shelf: episodes that any of can be taken at any time, in memory while they are few."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

MAX_MEMORY: Final = 8 << 20
"""Bytes beyond which episodes go to a temporary file, which only this process knows."""


class EpisodeBuffer:
    """Episodes by number; what is taken is a copy. Memory: eight bytes an episode."""

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
