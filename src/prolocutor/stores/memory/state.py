"""What the in-memory store keeps: people, their dialogs and feeds, what is open, what is due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from prolocutor.contracts.store import (
    NO_ROUND,
    AgendaEntry,
    AnsweredRequest,
    Delivery,
    FeedRow,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog import agent_state, plain, splicing
from prolocutor.dialog.dialog import Dialog
from prolocutor.errors import Conflict

DAY = 86_400.0


class MemoryState:
    """All dictionaries of one store."""

    __slots__ = ("agenda", "dialogs", "feed_floor", "made", "noted", "open", "people", "records",
                 "utterances")  # fmt: skip

    def __init__(self) -> None:
        self.people: dict[str, MemoryPerson] = {}
        self.dialogs: dict[str, MemoryDialog] = {}
        self.utterances: dict[str, tuple[MemoryDialog, MemoryUtterance]] = {}
        self.open: dict[str, MemoryOpenTurn] = {}
        self.agenda: dict[str, dict[tuple[str, str], NumberedEntry]] = {}
        """A person's entries by skill and key."""
        self.records: dict[str, dict[str, dict[str, bytes]]] = {}
        """A person's documents by kind and key."""
        self.noted = 0
        self.made = 0
        self.feed_floor = 0

    def person_for(self, made: TurnOpening | Delivery) -> MemoryPerson:
        """Return the person, a new one if need be."""
        person = self.people.get(made.user)
        if person is None:
            person = self.people[made.user] = MemoryPerson(made, self.feed_floor)
        return person

    def dialog_for(self, person: MemoryPerson, made: TurnOpening | Delivery) -> MemoryDialog:
        """Return the active dialog of that name, a new one if need be."""
        dialog = person.active.get(made.dialog_name)
        if dialog is None:
            self.made += 1
            dialog = person.active[made.dialog_name] = MemoryDialog(made, person, self.made)
            self.dialogs[made.new_dialog_id] = dialog
            self.dialogs[made.new_id] = dialog
        return dialog

    def dialogs_of(self, user: str | None) -> Iterator[MemoryDialog]:
        """Go through the dialogs, oldest first (each stands there under both of its ids)."""
        for id_, dialog in self.dialogs.items():
            if id_ == dialog.dialog_id and user in (None, dialog.person.user):
                yield dialog

    def forget(self, dialog: MemoryDialog) -> None:
        """Forget a dialog with its utterances."""
        del self.dialogs[dialog.made.new_dialog_id], self.dialogs[dialog.made.new_id]
        for utterance in dialog.utterances:
            del self.utterances[utterance.utt_id]


class MemoryPerson:
    """A person: the profile, the feed, what was asked under which key."""

    __slots__ = ("active", "feed", "feed_end", "human", "ids", "requests", "user")

    def __init__(self, made: TurnOpening | Delivery, feed_end: int) -> None:
        self.user = made.user
        self.human = ProfileVersion(0, splicing.new_human(made.new_human_id, made.user))
        self.active: dict[str, MemoryDialog] = {}
        self.feed: list[FeedRow] = []
        self.feed_end = feed_end
        self.ids: dict[str, int] = {}
        """The number of messages so far, by dialog name."""
        self.requests: dict[str, MemoryRequest] = {}

    def say_all(
        self, dialog: MemoryDialog, messages: Sequence[bytes | None], closing: bytes
    ) -> None:
        """Add rows to the feed, the last of them with the closing."""
        for position, message in enumerate(messages, start=1):
            self.say(dialog, message, closing if position == len(messages) else None)

    def say(
        self, dialog: MemoryDialog, message: bytes | None, closing: bytes | None = None
    ) -> FeedRow:
        """Add a row to the feed; give it."""
        self.feed_end += 1
        id_ = None
        if message is not None:
            id_ = self.ids.get(dialog.name, 0)
            self.ids[dialog.name] = id_ + 1
        row = FeedRow(self.feed_end, dialog.dialog_id, message, dialog.name, id_, closing)
        self.feed.append(row)
        return row

    def answered(self, opening: TurnOpening) -> AnsweredRequest | None:
        """Tell what became of this request; None if it is new. Old requests are let go."""
        expired = opening.started - DAY
        while self.requests and (first := next(iter(self.requests.items())))[1].at < expired:
            del self.requests[first[0]]
        request = self.requests.get(opening.request_key or "")
        if request is None:
            return None
        if request.hash != opening.request_hash:
            raise Conflict(
                f"the request key {opening.request_key!r} was used for another request",
                field="Idempotency-Key",
            )
        return AnsweredRequest(turn_id=request.turn_id, reply=request.outcome)


class MemoryDialog:
    """One dialog and its bot."""

    __slots__ = ("active", "bot", "made", "name", "number", "person", "ratings", "round",
                 "utterances")  # fmt: skip

    def __init__(self, made: TurnOpening | Delivery, person: MemoryPerson, number: int) -> None:
        self.made = made
        self.person = person
        self.number = number
        self.name = made.dialog_name
        self.active = True
        self.round = NO_ROUND
        self.bot = ProfileVersion(0, splicing.new_bot(made.new_bot_id))
        self.utterances: list[MemoryUtterance] = []
        self.ratings: list[bytes] = []

    @property
    def dialog_id(self) -> str:
        return self.made.new_dialog_id

    @property
    def date_start(self) -> str:
        return self.made.date_time

    @property
    def last_date(self) -> str:
        return self.utterances[-1].date_time if self.utterances else self.date_start

    @property
    def attributes(self) -> bytes:
        kept = self.made.new_dialog_attributes
        return splicing.attributes_with_ratings(kept, self.ratings) if self.ratings else kept

    def is_rated(self, rating: bytes) -> bool:
        """Return whether the dialog or one of its utterances was rated so."""
        ratings: Iterable[list[bytes]] = (self.ratings, *(u.ratings for u in self.utterances))
        return any(splicing.last_rating([one]) == rating for some in ratings for one in some)

    def whole(self) -> Dialog:
        """Decode the whole dialog."""
        spoken_by_bot = [one.date_time for one in self.utterances if one.said.by_bot]
        return Dialog(
            dialog_id=self.dialog_id,
            id=self.made.new_id,
            human=agent_state.human_from_state(plain.decode(self.person.human.state)),
            bot=agent_state.bot_from_state(plain.decode(self.bot.state)),
            channel_type=self.made.channel_type,
            date_start=self.date_start,
            date_finish=spoken_by_bot[-1] if spoken_by_bot else None,
            active=self.active,
            utterances=[
                agent_state.utterance_from_state(plain.decode(one.with_hypotheses().state))
                for one in self.utterances
            ],
            attributes=plain.decode(self.attributes),
            rating=plain.decode(splicing.last_rating(self.ratings)),
        )


class MemoryUtterance:
    """One utterance: what a window shows of it, and what is kept beside that."""

    __slots__ = ("date_time", "hypotheses", "ratings", "said", "skill", "utt_id")

    def __init__(self, spoken: NewUtterance, user: bytes) -> None:
        self.said = UtteranceParts(spoken.by_bot, spoken.body, user)
        self.utt_id = spoken.utt_id
        self.date_time = spoken.date_time
        self.skill = spoken.active_skill
        self.hypotheses = spoken.hypotheses
        self.ratings: list[bytes] = []

    def with_hypotheses(self) -> UtteranceParts:
        """Return what a window shows where hypotheses are wanted."""
        if self.hypotheses is None:
            return self.said
        return structs.replace(self.said, hypotheses=self.hypotheses)


class MemoryRequest:
    """What became of one `request_key`."""

    __slots__ = ("at", "hash", "outcome", "turn_id")

    def __init__(self, opening: TurnOpening) -> None:
        self.turn_id = opening.turn_id
        self.hash = opening.request_hash
        self.at = opening.started
        self.outcome: bytes | None = None


class NumberedEntry(NamedTuple):
    """An entry of the agenda, and the how-manieth of all that were written it is."""

    entry: AgendaEntry
    number: int


class MemoryOpenTurn:
    """A turn that was begun and not finished."""

    __slots__ = ("attempts", "opened")

    def __init__(self, opened: OpenedTurn) -> None:
        self.opened = opened
        self.attempts = 1
