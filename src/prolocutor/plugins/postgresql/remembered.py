"""The cache of a replica: the data about persons for the start of a turn.

Opening a turn compares `people.version` with the cached version, and reads again only if it
differs. So the cache may be out of date at any time without harm.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from prolocutor.contracts.store import ProfileVersion, UtteranceParts
from prolocutor.dialog.ids import DialogId

MAX_PERSONS: Final = 4096
MAX_DIALOGS: Final = 4
MAX_WINDOW: Final = 32
"""The most utterances remembered of one dialog; a longer window is read again in each turn."""
MAX_WINDOW_BYTES: Final = 65_536


class RememberedDialog:
    """The active dialog of a name: its bot and its last utterances as JSON to splice."""

    __slots__ = ("agent_state_id", "attributes", "bot", "date_start", "dialog", "dialog_id",
                 "length", "named", "rating", "recent", "round", "said", "skills", "window",
                 "with_hypotheses")  # fmt: skip

    dialog: int
    named: int
    """The number of the dialog's name."""
    dialog_id: DialogId
    agent_state_id: str
    date_start: str
    attributes: bytes
    rating: bytes
    round: bytes
    bot: ProfileVersion
    length: int
    said: int
    """The last id given to a message under this name."""
    recent: list[UtteranceParts]
    """The last utterances, oldest first."""
    window: int
    with_hypotheses: bool
    """Whether `recent` has the hypotheses."""
    skills: set[str]
    """Skills that are known to have spoken here."""

    def reaches(self, window: int | None, hypotheses: int) -> bool:
        """Return whether the cache suffices for a turn with a given window."""
        needed = self.length if window is None else min(window, self.length)
        return len(self.recent) >= needed and (self.with_hypotheses or not hypotheses)

    def trim(self) -> None:
        """Drop the oldest utterances if they are too many or too large.

        A few more than the window may stay; not every turn then shifts the list.
        """
        recent = self.recent
        if len(recent) > self.window + 4:
            del recent[: len(recent) - self.window]
        size = 0
        for place in range(len(recent) - 1, -1, -1):
            one = recent[place]
            size += len(one.body) + len(one.user) + len(one.hypotheses)
            if size > MAX_WINDOW_BYTES:
                del recent[: place + 1]
                break


class RememberedPerson:
    """A person at a version: the profile, and some active dialogs by name."""

    __slots__ = ("dialogs", "human", "human_id", "person", "version")

    def __init__(self, person: int, human_id: str, version: int, human: ProfileVersion) -> None:
        self.person = person
        self.human_id = human_id
        self.version = version
        self.human = human
        self.dialogs: dict[str, RememberedDialog] = {}

    def add(self, name: str, dialog: RememberedDialog) -> None:
        """Add the active dialog of a name; replace the oldest if there are many."""
        self.dialogs.pop(name, None)
        self.dialogs[name] = dialog
        if len(self.dialogs) > MAX_DIALOGS:
            del self.dialogs[next(iter(self.dialogs))]


class Remembered:
    """The most recently used persons."""

    def __init__(self, at_most: int = MAX_PERSONS) -> None:
        self._persons: OrderedDict[str, RememberedPerson] = OrderedDict()
        self._at_most = at_most

    def person(self, user: str) -> RememberedPerson | None:
        """Return a cached person, or None."""
        return self._persons.get(user)

    def add(self, user: str, person: RememberedPerson) -> None:
        """Cache a person, in place of the least recently used person."""
        self._persons[user] = person
        self._persons.move_to_end(user)
        if len(self._persons) > self._at_most:
            self._persons.popitem(last=False)

    def drop(self, user: str) -> None:
        """Drop a person from the cache."""
        self._persons.pop(user, None)

    def clear(self) -> None:
        """Empty the cache."""
        self._persons.clear()
