"""Store: where dialogs are kept. Five promises, split by who uses them.

`TurnStore` is what a turn needs: two trips, `begin` and `finish`. `Archive` is for those who look
things up, rate, export and delete. `Feed` is everything said to or by a person, in order. `Agenda`
is what is to be done at a time, `Records` small documents of a person beside the dialogs.

Life cycle: `open` once before anything else, `aclose` once at the end. Every method may be called
from one event loop by many tasks at once. What a method returned has happened durably (as far as
the store is durable at all); a method that raised `StoreError` has changed nothing.

Exactly one turn of a person is between `begin` and `finish` at any time, and `deliver` comes
between the turns of its person: the assistant's queue sees to it. Ids and times are made by the
caller, never by the store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.dialog import splicing
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.profiles import Change
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance

MAX_AGENDA_ENTRIES: Final = 1000
"""The most entries that a person has on the agenda."""

NO_ASK_CLOSING: Final = b'{"ask":null}'
"""The closing of a turn after which nothing is waited for."""

NO_ROUND: Final = b"{}"
"""The `dialog.rounds.Round` of a dialog that waits for nothing."""


class TurnOpening(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said, to be written down before anything runs.

    The `new_…` ids are used only where the person, the dialog or its bot does not exist yet.
    `text` and `attributes` (JSON object) become the human utterance; `message` (JSON object) its
    row of the feed. `request_key` and `request_hash` are for a client that asks again. `window` is
    the number of earlier utterances to return (None: all), `hypotheses` of how many of the last
    human ones the hypotheses are wanted too. `start` (JSON) is kept for a second run and given back
    by `resume`.
    """

    turn_id: str
    user: str
    dialog_name: str
    channel_type: str
    utt_id: str
    bot_utt_id: str
    date_time: str
    started: float
    text: str
    attributes: bytes
    message: bytes
    start: bytes = b"{}"
    request_key: str | None = None
    request_hash: bytes | None = None
    window: int | None = 4
    hypotheses: int = 0
    new_human_id: str
    new_dialog_id: str
    new_id: str
    new_bot_id: str
    new_dialog_attributes: bytes = b"{}"


class ProfileVersion(msgspec.Struct):
    """One version of a profile: its number and its agent state JSON."""

    number: int
    state: bytes


class UtteranceParts(msgspec.Struct):
    """One utterance in parts, each agent state JSON, ready to be spliced.

    `body` is the utterance without `user` and `hypotheses`, `user` the profile as it was then. The
    same version of a profile is the same object, so that it need not be decoded twice. A human
    utterance's `hypotheses` are `[]` unless they were asked for.
    """

    by_bot: bool
    body: bytes
    user: bytes
    hypotheses: bytes = b"[]"

    @property
    def state(self) -> bytes:
        """The whole utterance."""
        if self.by_bot:
            return splicing.bot_utterance(self.body, self.user)
        return splicing.human_utterance(self.body, self.user, self.hypotheses)


class OpenedTurn(msgspec.Struct, kw_only=True):
    """What a turn starts from. `person` and `dialog` are the store's own handles.

    `length` is the number of utterances in the dialog before this turn; `feed` the number n and
    `feed_id` the id of the feed row just written; `attempt` 1 for the first run of the turn;
    `round` the dialog's `dialog.rounds.Round` (JSON) as the last turn or delivery left it, `{}` in
    a new dialog.
    """

    opening: TurnOpening
    person: Any
    dialog: Any
    dialog_id: str
    id: str
    date_start: str
    dialog_attributes: bytes
    rating: bytes
    human: ProfileVersion
    bot: ProfileVersion
    window: list[UtteranceParts]
    length: int
    feed: int
    feed_id: int
    attempt: int = 1
    round: bytes = NO_ROUND


class AnsweredRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Instead of `OpenedTurn`: this request was answered before; or its turn is still running."""

    turn_id: str
    reply: bytes | None
    """The stored outcome as `finish` got it; None while the turn is open."""


class NewUtterance(msgspec.Struct, frozen=True, kw_only=True):
    """One utterance to be stored.

    `body` is its agent state JSON object without `user` and `hypotheses`; `user_version` the
    version of the human's or bot's profile that its `user` shows.
    """

    utt_id: str
    by_bot: bool
    date_time: str
    body: bytes
    user_version: int
    active_skill: str | None = None
    hypotheses: bytes | None = None
    """JSON list; stored apart from the body."""


class NewProfileVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A profile one version further: the whole new state, and what changed."""

    number: int
    state: bytes
    changes: list[Change]


class TurnClosing(msgspec.Struct, frozen=True, kw_only=True):
    """All that a turn adds, stored in one transaction: either all of it or nothing.

    `messages` are the feed rows of the reply (JSON objects); they get the numbers that follow.
    `closing` (JSON) stands in the last of them; where there are none, in a row without a message.
    `outcome` (JSON) is what `AnsweredRequest.reply` gives back to a client that asks again.
    `round` is what the dialog waits for from now on (None: as before). This person's agenda entries
    named in `struck` (skill, key) are removed, then `entries` are written as by
    `AgendaStore.schedule`.
    """

    opened: OpenedTurn
    utterances: Sequence[NewUtterance]
    human: NewProfileVersion | None
    bot: NewProfileVersion | None
    messages: Sequence[bytes]
    outcome: bytes
    closing: bytes = NO_ASK_CLOSING
    round: bytes | None = None
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()


class UnfinishedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was begun and not finished, found when the store was opened."""

    turn_id: str
    user: str
    started: float
    attempts: int
    """How often it was started, the first time included."""


class FeedRow(msgspec.Struct, frozen=True):
    """One row of a person's feed: `n` ascends by one, `message` is a JSON object.

    `id` counts the messages of one dialog name of this person, from 0 without gaps, on through all
    dialogs of that name, closed ones too; no id comes again, even where old dialogs are deleted
    (only a person who was deleted and comes back starts anew). A row is of the dialog `dialog_id`,
    which is called `dialog_name`. What a person says has an id and no closing. The last row of a
    turn, or of what the assistant says unasked, has a `closing`: the JSON object
    `{"ask", "code"?, "entities"?}` of what is waited for from then on. A turn without a word leaves
    one row whose `message` and `id` are None.
    """

    n: int
    dialog_id: str
    message: bytes | None
    dialog_name: str = "main"
    id: int | None = None
    closing: bytes | None = None


class AgendaEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the agenda: something to be said to a person, or done for them, at a time.

    `key` is the skill's own name for it: another entry of the same person, skill and key takes its
    place. `due` is a time in seconds (UNIX). `body` (JSON) is for whoever does it. `dropped` counts
    the entries that had to go before this one because a person has only so many. The person need
    not be known yet.
    """

    user: str
    dialog_name: str = "main"
    skill: str
    key: str
    due: float
    body: bytes
    dropped: int = 0


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What the assistant says unasked, stored in one transaction with what becomes of its entry.

    `messages` become feed rows as in `TurnClosing`, the last with `closing`; none: no row at all.
    `round` is what the dialog waits for from now on (None: as before). `entry` is taken off the
    agenda, or replaced by `again`; `struck` and `entries` change it as in `TurnClosing`.
    `date_time` is the agent state time. The `new_…` ids are used where the person or an active
    dialog of that name does not exist: they are made, as by `open_turn`, if there are messages or a
    round.
    """

    user: str
    dialog_name: str = "main"
    messages: Sequence[bytes] = ()
    closing: bytes = NO_ASK_CLOSING
    round: bytes | None = None
    entry: AgendaEntry | None = None
    again: AgendaEntry | None = None
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    date_time: str
    channel_type: str = "assistant"
    new_human_id: str
    new_dialog_id: str
    new_id: str
    new_bot_id: str
    new_dialog_attributes: bytes = b"{}"


class TurnStore(Protocol):
    """What a turn needs of a store."""

    async def open(self) -> None:
        """Get ready; `StoreLocked`, `StoreCorrupt` or `StoreError` where that cannot be."""

    async def aclose(self) -> None:
        """Finish what was handed over, then let go of everything."""

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Write down what was said, durably, and return what the turn starts from.

        Makes the person, the dialog (the active one of that name) and its bot where they do not
        exist. `Conflict` when `request_key` was used with another `request_hash` (kept a day).
        """

    async def close_turn(self, finished: TurnClosing) -> None:
        """Store all that the turn added and close it. The turn's messages are in the feed now."""

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """List the turns that were begun and not finished, oldest first."""

    async def resume_turn(self, turn_id: str, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt, durably, and return what the turn starts from, as `begin` did."""

    async def close_dialog(self, user: str, dialog_name: str) -> str | None:
        """End the active dialog of that name and give its `dialog_id`; None if there is none."""


class FeedStore(Protocol):
    """Everything said to or by a person, one row each, in order."""

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending; unknown people have none."""

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for this person, 0 if none."""

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last `limit` rows of one dialog name, ascending; with `after`, the first
        `limit` of those that follow the message with this `id`. Rows without a message count as
        well."""

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return what the active dialog of that name waits for (`Round` as JSON), `{}` if
        nothing."""


class AgendaStore(Protocol):
    """What is to be said or done at a time. An entry stays until it is delivered or struck.

    Entries of one `due` stand in the order in which they were written."""

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of one of the same user, skill and key.

        A person has at most `limit` entries (one at least): beyond that one of the others goes,
        the earliest by `due` of the skill that has most, and the earliest that is left then counts
        it in `dropped`, together with all that it had counted."""

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; False if there is none."""

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of one skill), earliest first."""

    async def deliver(self, delivery: Delivery) -> bool:
        """Say it and settle its entry, in one transaction; False (and nothing is changed) if
        `delivery.entry` is not on the agenda any more exactly as it was given."""


class RecordStore(Protocol):
    """Small JSON documents of a person, by kind and key; "" is nobody: of the assistant itself."""

    async def put_record(self, user: str, kind: str, key: str, body: bytes) -> None:
        """Write a document, in place of the one of this kind and key."""

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; False if there is none."""


class ArchiveStore(Protocol):
    """Looking things up, rating, exporting, deleting."""

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog, hypotheses and ratings included, by `dialog_id` or `_id`."""

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return the reply with this `utt_id` after what it answers, hypotheses and ratings
        included; nothing where no reply has it."""

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> str | None:
        """Return the `dialog_id` of the person's active dialog of that name."""

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
        """Find dialogs, oldest first: of this person, in which this skill spoke, rated so (the
        dialog or one of its utterances), started at or after `since` and before `until` (agent
        state times), active or closed, whose id comes after `after`."""

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add `{rating, user_external_id, datetime}` to the dialog's `attributes.ratings`.

        `NotFound` for an unknown dialog."""

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Same for an utterance, of human or bot."""

    async def owner_of(self, id_: str) -> str | None:
        """Return the user whose dialog (`dialog_id`, `_id`) or utterance (`utt_id`) this is."""

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs, agenda and records too; False if there is
        nothing of theirs."""

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; give their number."""

    def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without holding up the turns."""


class Store(TurnStore, FeedStore, AgendaStore, RecordStore, ArchiveStore, Protocol):
    """A whole store: what SQLite and the in-memory store both keep."""
