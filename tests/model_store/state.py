"""The state of an in-memory store: persons, dialogs, feeds, open turns, agenda and records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from prolocutor.clocks import DAY
from prolocutor.contracts.store import (
    NO_ROUND,
    AgendaEntry,
    AnsweredRequest,
    Delivery,
    FeedRow,
    NewDialog,
    NewUtterance,
    OpenedTurn,
    ProfileVersion,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.errors import Conflict


class ModelState:
    """All dictionaries of one store."""

    __slots__ = (
        "agenda",
        "amounts",
        "dialog_count",
        "dialogs",
        "document_count",
        "entry_count",
        "feed_floor",
        "numbers",
        "open_turns",
        "persons",
        "rated",
        "records",
        "utterances",
    )  # fmt: skip

    def __init__(self) -> None:
        self.persons: dict[str, ModelPerson] = {}
        self.dialogs: dict[str, ModelDialog] = {}
        """Each dialog stands here under both of its ids."""
        self.utterances: dict[str, tuple[ModelDialog, ModelUtterance]] = {}
        self.open_turns: dict[str, ModelOpenTurn] = {}
        self.agenda: dict[str, dict[tuple[str, str], NumberedEntry]] = {}
        """A person's entries by skill and key."""
        self.amounts: dict[tuple[str, str, str, str], tuple[float, int]] = {}
        self.records: dict[str, dict[str, dict[str, bytes]]] = {}
        """A person's documents by kind and key."""
        self.numbers: dict[tuple[str, str, str], tuple[int, str]] = {}
        """The number of each document ever, and the dialog that it is deleted with."""
        self.rated: list[tuple[str, Any]] = []
        """The `utt_id` of what was rated, and the rating."""
        self.document_count = self.entry_count = 0
        self.dialog_count = 0
        self.feed_floor = 0

    def person_for(self, source: TurnOpening | Delivery) -> ModelPerson:
        """Return the person, a new one if there is none."""
        person = self.persons.get(source.user)
        if person is None:
            human_id = source.new_dialog.human_id
            person = ModelPerson(source.user, human_id, self.feed_floor)
            self.persons[source.user] = person
        return person

    def dialog_for(self, person: ModelPerson, source: TurnOpening | Delivery) -> ModelDialog:
        """Return the active dialog of that name, a new one if there is none."""
        dialog = person.active.get(source.dialog_name)
        if dialog is None:
            self.dialog_count += 1
            dialog = ModelDialog(source, person, self.dialog_count)
            person.active[source.dialog_name] = dialog
            self.dialogs[dialog.dialog_id] = self.dialogs[dialog.id] = dialog
        return dialog

    def dialogs_of(self, user: str | None) -> Iterator[ModelDialog]:
        """Iterate over the dialogs of one person (None: of all), oldest first."""
        for id_, dialog in self.dialogs.items():
            if id_ == dialog.dialog_id and user in (None, dialog.person.user):
                yield dialog

    def delete(self, dialog: ModelDialog) -> None:
        """Remove a dialog, its rows of the feed included."""
        self.remove(dialog)
        person = dialog.person
        person.feed = [row for row in person.feed if row.dialog_id != dialog.dialog_id]
        if person.active.get(dialog.name) is dialog:
            del person.active[dialog.name]

    def remove(self, dialog: ModelDialog) -> None:
        """Remove a dialog with its utterances."""
        del self.dialogs[dialog.dialog_id], self.dialogs[dialog.id]
        for utterance in dialog.utterances:
            del self.utterances[utterance.utt_id]
        for (user, kind, key), (_, about) in self.numbers.items():
            if about == dialog.dialog_id:
                self.records.get(user, {}).get(kind, {}).pop(key, None)

    def put_record(self, user: str, kind: str, key: str, body: bytes, about: str = "") -> None:
        """Write a document; it is deleted with a dialog, named by an utterance or itself."""
        documents = self.records.setdefault(user, {}).setdefault(kind, {})
        found = self.dialogs.get(about) or self.utterances.get(about, (None,))[0]
        if key not in documents:
            self.document_count += 1
            self.numbers[user, kind, key] = self.document_count, found.dialog_id if found else ""
        documents[key] = body


class ModelPerson:
    """A person: the profile, the feed, the requests by key."""

    __slots__ = ("active", "feed", "feed_end", "human", "message_counts", "requests", "user")

    def __init__(self, user: str, human_id: str, feed_end: int) -> None:
        self.user = user
        self.human = ProfileVersion(0, agent_state.new_human(human_id, user))
        self.active: dict[str, ModelDialog] = {}
        self.feed: list[FeedRow] = []
        self.feed_end = feed_end
        self.message_counts: dict[str, int] = {}
        """The number of messages so far, by dialog name."""
        self.requests: dict[str, ModelRequest] = {}

    def add_rows(
        self, dialog: ModelDialog, messages: Sequence[bytes | None], closing: bytes
    ) -> None:
        """Add rows to the feed, the last of them with the closing."""
        for position, message in enumerate(messages, start=1):
            self.add_row(dialog, message, closing if position == len(messages) else None)

    def add_row(
        self, dialog: ModelDialog, message: bytes | None, closing: bytes | None = None
    ) -> FeedRow:
        """Add one row to the feed and return it; a row without a message has no id."""
        self.feed_end += 1
        id_ = None
        if message is not None:
            id_ = self.message_counts.get(dialog.name, 0)
            self.message_counts[dialog.name] = id_ + 1
        row = FeedRow(self.feed_end, dialog.dialog_id, message, dialog.name, id_, closing)
        self.feed.append(row)
        return row

    def answer_to(self, opening: TurnOpening) -> AnsweredRequest | None:
        """Return the outcome of this request, None if it is new. Expired requests are removed."""
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


class ModelDialog:
    """One dialog and its bot."""

    __slots__ = ("active", "bot", "channel_type", "date_start", "name", "new", "number", "person",
                 "ratings", "round", "utterances")  # fmt: skip

    def __init__(self, source: TurnOpening | Delivery, person: ModelPerson, number: int) -> None:
        self.new: NewDialog = source.new_dialog
        self.name = source.dialog_name
        self.channel_type = source.channel_type
        self.date_start = source.date_time
        self.person = person
        self.number = number
        self.active = True
        self.round = NO_ROUND
        self.bot = ProfileVersion(0, agent_state.new_bot(self.new.bot_id))
        self.utterances: list[ModelUtterance] = []
        self.ratings: list[bytes] = []

    @property
    def dialog_id(self) -> DialogId:
        return self.new.dialog_id

    @property
    def id(self) -> str:
        return self.new.id

    @property
    def last_date(self) -> str:
        return self.utterances[-1].date_time if self.utterances else self.date_start

    @property
    def attributes(self) -> bytes:
        attributes = self.new.attributes
        if not self.ratings:
            return attributes
        return agent_state.attributes_with_ratings(attributes, self.ratings)

    def window(self, size: int | None, hypotheses: int) -> list[UtteranceParts]:
        """Return the last `size` utterances (None: all), the last human ones with hypotheses."""
        utterances = self.utterances
        recent = utterances if size is None else utterances[-size:] if size else []
        shown = [one.parts for one in recent]
        if hypotheses:
            for i in [i for i, one in enumerate(shown) if not one.by_bot][-hypotheses:]:
                shown[i] = recent[i].with_hypotheses()
        return shown

    def is_rated(self, rating: bytes) -> bool:
        """Return whether the dialog or one of its utterances has this rating."""
        ratings: Iterable[list[bytes]] = (self.ratings, *(u.ratings for u in self.utterances))
        return any(agent_state.last_rating([one]) == rating for some in ratings for one in some)

    def whole(self) -> Dialog:
        """Decode the whole dialog."""
        spoken_by_bot = [
            utterance.date_time for utterance in self.utterances if utterance.parts.by_bot
        ]
        return Dialog(
            dialog_id=self.dialog_id,
            id=self.id,
            human=agent_state.human_from_state(plain.decode(self.person.human.state)),
            bot=agent_state.bot_from_state(plain.decode(self.bot.state)),
            channel_type=self.channel_type,
            date_start=self.date_start,
            date_finish=spoken_by_bot[-1] if spoken_by_bot else None,
            active=self.active,
            utterances=[
                agent_state.utterance_from_state(plain.decode(utterance.with_hypotheses().state))
                for utterance in self.utterances
            ],
            attributes=plain.decode(self.attributes),
            rating=plain.decode(agent_state.last_rating(self.ratings)),
        )


class ModelUtterance:
    """One utterance: what a window shows of it, its hypotheses and its ratings."""

    __slots__ = ("date_time", "hypotheses", "parts", "ratings", "skill", "utt_id")

    def __init__(self, new: NewUtterance, user: bytes) -> None:
        self.parts = UtteranceParts(new.by_bot, new.body, user)
        self.utt_id = new.utt_id
        self.date_time = new.date_time
        self.skill = new.active_skill
        self.hypotheses = new.hypotheses
        self.ratings: list[bytes] = []

    def with_hypotheses(self) -> UtteranceParts:
        """Return what a window shows where hypotheses are asked for."""
        if self.hypotheses is None:
            return self.parts
        return structs.replace(self.parts, hypotheses=self.hypotheses)


class ModelRequest:
    """The outcome of one `request_key`, None while its turn is open."""

    __slots__ = ("at", "hash", "outcome", "turn_id")

    def __init__(self, opening: TurnOpening) -> None:
        self.turn_id: TurnId = opening.turn_id
        self.hash = opening.request_hash
        self.at = opening.started
        self.outcome: bytes | None = None


class NumberedEntry(NamedTuple):
    """An entry of the agenda with its number in the order of writing."""

    entry: AgendaEntry
    number: int


class ModelOpenedTurn(OpenedTurn, kw_only=True):
    """An opened turn with its person and dialog at hand."""

    person: ModelPerson
    dialog: ModelDialog


class ModelOpenTurn:
    """A turn that was opened and not closed."""

    __slots__ = ("attempts", "opened")

    def __init__(self, opened: ModelOpenedTurn) -> None:
        self.opened = opened
        self.attempts = 1
