"""The in-memory store: dictionaries, for tests and for assistants that need not remember."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any

from msgspec import structs

from prolocutor.contracts.store import (
    Answered,
    Beginning,
    Begun,
    FeedRow,
    Finished,
    NewVersion,
    OpenTurn,
    Said,
    Spoken,
    Version,
)
from prolocutor.dialog import agent_state, plain, splicing
from prolocutor.dialog.dialog import Dialog
from prolocutor.errors import Conflict, NotFound, StoreError

DAY = 86_400.0


def from_url(url: str, durability: str) -> MemoryStore:
    """Make the store that `memory:` means; nothing of it is durable."""
    del url, durability
    return MemoryStore()


class MemoryStore:
    """Everything in dictionaries of this process; nothing here ever waits."""

    def __init__(self) -> None:
        self._people: dict[str, _Person] = {}
        self._dialogs: dict[str, _Dialog] = {}
        self._utterances: dict[str, tuple[_Dialog, _Utterance]] = {}
        self._open: dict[str, _Open] = {}
        self._made = 0
        self._feed_floor = 0

    async def open(self) -> None:
        """Do nothing: it is always ready."""

    async def aclose(self) -> None:
        """Do nothing; what was said stays as long as this object does."""

    async def begin(self, beginning: Beginning) -> Begun | Answered:
        """Keep what was said and return what the turn starts from."""
        person = self._people.get(beginning.user)
        if person is None:
            person = self._new_person(beginning)
        elif beginning.request_key is not None:
            answered = person.answered(beginning)
            if answered is not None:
                return answered
        dialog = person.active.get(beginning.dialog_name)
        if dialog is None:
            dialog = self._new_dialog(person, beginning)
        person.feed_end += 1
        person.feed.append(FeedRow(person.feed_end, dialog.dialog_id, beginning.message))
        if beginning.request_key is not None:
            person.requests[beginning.request_key] = _Request(beginning)
        begun = _begun(beginning, dialog, person.feed_end, beginning.window, beginning.hypotheses)
        self._open[beginning.turn_id] = _Open(begun)
        return begun

    async def finish(self, finished: Finished) -> None:
        """Keep all that the turn added and close it."""
        begun = finished.begun
        beginning = begun.beginning
        if beginning.turn_id not in self._open:
            raise StoreError(f"turn {beginning.turn_id} is not open; begin it first")
        person: _Person = begun.person
        dialog: _Dialog = begun.dialog
        human, bot = _newest(begun.human, finished.human), _newest(begun.bot, finished.bot)
        kept = [
            _Utterance(one, _state(one, (bot, begun.bot) if one.by_bot else (human, begun.human)))
            for one in finished.utterances
        ]
        del self._open[beginning.turn_id]
        person.human, dialog.bot = human, bot
        dialog.utterances += kept
        for utterance in kept:
            self._utterances[utterance.utt_id] = (dialog, utterance)
        for message in finished.messages:
            person.feed_end += 1
            person.feed.append(FeedRow(person.feed_end, dialog.dialog_id, message))
        if beginning.request_key is not None:
            person.requests[beginning.request_key].outcome = finished.outcome

    async def unfinished(self) -> list[OpenTurn]:
        """List the turns that were begun and not finished, oldest first."""
        return [
            OpenTurn(
                turn_id=turn_id,
                user=one.begun.beginning.user,
                started=one.begun.beginning.started,
                attempts=one.attempts,
            )
            for turn_id, one in self._open.items()
        ]

    async def resume(self, turn_id: str, window: int | None, hypotheses: int) -> Begun:
        """Count one more attempt and return what the turn starts from, as `begin` did."""
        one = self._open.get(turn_id)
        if one is None:
            raise NotFound(f"no turn {turn_id} is open", field="turn_id")
        one.attempts += 1
        began = one.begun
        one.begun = _begun(began.beginning, began.dialog, began.feed, window, hypotheses)
        one.begun.attempt = one.attempts
        return one.begun

    async def close_dialog(self, user: str, dialog_name: str) -> str | None:
        """End the active dialog of that name."""
        person = self._people.get(user)
        dialog = person.active.pop(dialog_name, None) if person else None
        if dialog is None:
            return None
        dialog.active = False
        return dialog.dialog_id

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Give up to `limit` rows with `n > after`, ascending."""
        person = self._people.get(user)
        if person is None:
            return []
        start = bisect_right(person.feed, after, key=attrgetter("n"))
        return person.feed[start : start + limit]

    async def feed_end(self, user: str) -> int:
        """Give the number of the last row ever written for this person, 0 if none."""
        person = self._people.get(user)
        return person.feed_end if person else 0

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Give a whole dialog by `dialog_id` or `_id`."""
        dialog = self._dialogs.get(dialog_id)
        return dialog.whole() if dialog else None

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> str | None:
        """Give the `dialog_id` of the person's active dialog of that name."""
        person = self._people.get(user)
        dialog = person.active.get(dialog_name) if person else None
        return dialog.dialog_id if dialog else None

    async def dialog_ids(
        self,
        *,
        user: str | None = None,
        skill: str | None = None,
        rating: Any = None,
        since: str | None = None,
        until: str | None = None,
        active: bool | None = None,
        after: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> list[str]:
        """Find dialogs, oldest first; each filter is as the contract says."""
        start = self._dialogs.get(after) if after is not None else None
        rated = plain.encode(rating)
        found = (
            dialog.dialog_id
            for dialog in self._of(user)
            if (skill is None or any(one.skill == skill for one in dialog.utterances))
            and (rating is None or dialog.is_rated(rated))
            and (since is None or dialog.date_start >= since)
            and (until is None or dialog.date_start < until)
            and (active is None or dialog.active == active)
            and (start is None or dialog.number > start.number)
            and (after is None or start is not None or dialog.dialog_id > after)
        )
        return list(islice(found, offset, offset + limit))

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the dialog's."""
        dialog = self._dialogs.get(dialog_id)
        if dialog is None:
            raise NotFound(f"there is no dialog {dialog_id}", field="dialog_id")
        dialog.ratings.append(splicing.rating(rating, user, at))

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        _, utterance = self._utterances.get(utt_id, (None, None))
        if utterance is None:
            raise NotFound(f"there is no utterance {utt_id}", field="utt_id")
        one = splicing.rating(rating, user, at)
        utterance.ratings.append(one)
        utterance.said = structs.replace(
            utterance.said, body=splicing.with_ratings(utterance.said.body, [one])
        )

    async def owner_of(self, id_: str) -> str | None:
        """Give the user whose dialog or utterance this is."""
        dialog = self._dialogs.get(id_) or self._utterances.get(id_, (None,))[0]
        return dialog.person.user if dialog else None

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; False if unknown."""
        person = self._people.pop(user, None)
        if person is None:
            return False
        self._feed_floor = max(self._feed_floor, person.feed_end)
        for dialog in list(self._of(None)):
            if dialog.person is person:
                self._forget(dialog)
        self._open = {i: one for i, one in self._open.items() if one.begun.person is not person}
        return True

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; give their number."""
        open_now = {id(one.begun.dialog) for one in self._open.values()}
        old = [
            dialog
            for dialog in self._of(None)
            if id(dialog) not in open_now and dialog.last_date < before
        ]
        for dialog in old:
            self._forget(dialog)
            person = dialog.person
            person.feed = [row for row in person.feed if row.dialog_id != dialog.dialog_id]
            if person.active.get(dialog.name) is dialog:
                del person.active[dialog.name]
        return len(old)

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first."""
        for dialog in list(self._of(user)):
            if dialog.dialog_id in self._dialogs:
                yield dialog.whole()

    def _new_person(self, beginning: Beginning) -> _Person:
        person = self._people[beginning.user] = _Person(beginning, self._feed_floor)
        return person

    def _new_dialog(self, person: _Person, beginning: Beginning) -> _Dialog:
        self._made += 1
        dialog = _Dialog(beginning, person, self._made)
        person.active[dialog.name] = dialog
        self._dialogs[beginning.new_dialog_id] = dialog
        self._dialogs[beginning.new_id] = dialog
        return dialog

    def _of(self, user: str | None) -> Iterator[_Dialog]:
        """Go through the dialogs, oldest first (each stands there under both of its ids)."""
        for id_, dialog in self._dialogs.items():
            if id_ == dialog.dialog_id and user in (None, dialog.person.user):
                yield dialog

    def _forget(self, dialog: _Dialog) -> None:
        del self._dialogs[dialog.made.new_dialog_id], self._dialogs[dialog.made.new_id]
        for utterance in dialog.utterances:
            del self._utterances[utterance.utt_id]


class _Person:
    """A person: the profile, the feed, what was asked under which key."""

    __slots__ = ("active", "feed", "feed_end", "human", "requests", "user")

    def __init__(self, beginning: Beginning, feed_end: int) -> None:
        self.user = beginning.user
        self.human = Version(0, splicing.new_human(beginning.new_human_id, beginning.user))
        self.active: dict[str, _Dialog] = {}
        self.feed: list[FeedRow] = []
        self.feed_end = feed_end
        self.requests: dict[str, _Request] = {}

    def answered(self, beginning: Beginning) -> Answered | None:
        """Tell what became of this request; None if it is new. Old requests are let go."""
        expired = beginning.started - DAY
        while self.requests and (first := next(iter(self.requests.items())))[1].at < expired:
            del self.requests[first[0]]
        request = self.requests.get(beginning.request_key or "")
        if request is None:
            return None
        if request.hash != beginning.request_hash:
            raise Conflict(
                f"the request key {beginning.request_key!r} was used for another request",
                field="Idempotency-Key",
            )
        return Answered(turn_id=request.turn_id, reply=request.outcome)


class _Dialog:
    """One dialog and its bot."""

    __slots__ = ("active", "bot", "made", "name", "number", "person", "ratings", "utterances")

    def __init__(self, beginning: Beginning, person: _Person, number: int) -> None:
        self.made = beginning
        self.person = person
        self.number = number
        self.name = beginning.dialog_name
        self.active = True
        self.bot = Version(0, splicing.new_bot(beginning.new_bot_id))
        self.utterances: list[_Utterance] = []
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


class _Utterance:
    """One utterance: what a window shows of it, and what is kept beside that."""

    __slots__ = ("date_time", "hypotheses", "ratings", "said", "skill", "utt_id")

    def __init__(self, spoken: Spoken, user: bytes) -> None:
        self.said = Said(spoken.by_bot, spoken.body, user)
        self.utt_id = spoken.utt_id
        self.date_time = spoken.date_time
        self.skill = spoken.active_skill
        self.hypotheses = spoken.hypotheses
        self.ratings: list[bytes] = []

    def with_hypotheses(self) -> Said:
        if self.hypotheses is None:
            return self.said
        return structs.replace(self.said, hypotheses=self.hypotheses)


class _Request:
    """What became of one `request_key`."""

    __slots__ = ("at", "hash", "outcome", "turn_id")

    def __init__(self, beginning: Beginning) -> None:
        self.turn_id = beginning.turn_id
        self.hash = beginning.request_hash
        self.at = beginning.started
        self.outcome: bytes | None = None


class _Open:
    """A turn that was begun and not finished."""

    __slots__ = ("attempts", "begun")

    def __init__(self, begun: Begun) -> None:
        self.begun = begun
        self.attempts = 1


def _begun(
    beginning: Beginning, dialog: _Dialog, feed: int, window: int | None, hypotheses: int
) -> Begun:
    utterances = dialog.utterances
    earlier = utterances if window is None else utterances[-window:] if window else []
    said = [one.said for one in earlier]
    if hypotheses:
        for i in [i for i, one in enumerate(said) if not one.by_bot][-hypotheses:]:
            said[i] = earlier[i].with_hypotheses()
    return Begun(
        beginning=beginning,
        person=dialog.person,
        dialog=dialog,
        dialog_id=dialog.made.new_dialog_id,
        id=dialog.made.new_id,
        date_start=dialog.made.date_time,
        dialog_attributes=dialog.attributes,
        rating=splicing.last_rating(dialog.ratings),
        human=dialog.person.human,
        bot=dialog.bot,
        window=said,
        length=len(utterances),
        feed=feed,
    )


def _newest(known: Version, new: NewVersion | None) -> Version:
    return Version(new.number, new.state) if new else known


def _state(spoken: Spoken, versions: tuple[Version, Version]) -> bytes:
    for version in versions:
        if version.number == spoken.user_version:
            return version.state
    raise StoreError(f"utterance {spoken.utt_id} shows an unknown profile version")
