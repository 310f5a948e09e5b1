"""Store: keeps the dialogs. Seven contracts, split by their users.

`TurnStore` serves a turn by two trips, `open_turn` and `close_turn`. `FeedStore` holds everything
said to or by a person, in order. `AgendaStore` holds scheduled work, `RecordStore` small documents
of a person beside the dialogs, `AmountStore` sums, `ConversationStore` a person's conversations;
`ArchiveStore` looks up, rates, exports and deletes dialogs.

Life cycle: `open` once before anything else, `aclose` once at the end. All methods may be called
from an event loop by many tasks at once. When a method returns, its change is durable (as far as
the store is durable at all). After a `StoreError` nothing has changed.

A person has at most a single open turn at any time, and `deliver` comes between the turns of its
person: the assistant's queue ensures both. The caller makes ids and times, never the store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from operator import attrgetter
from typing import Any, Final, Protocol

import msgspec

from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import BotUtterance, Change, Dialog, HumanUtterance
from prolocutor.dialog.ids import DialogId, TurnId, UtteranceId

NO_ASK_CLOSING: Final = b'{"ask":null}'
"""The closing of a turn after which nothing is asked."""

NO_ROUND: Final = b"{}"
"""The `dialog.rounds.Round` of a dialog in which nothing is asked."""

MAX_AGENDA_ENTRIES: Final = 1000
"""The most entries that a person has on the agenda."""

_STORED: Final = (
    "turn_id",
    "user",
    "dialog_name",
    "channel_type",
    "utt_id",
    "bot_utt_id",
    "date_time",
    "started",
    "text",
    "attributes",
    "message",
    "start",
    "round",
    "request_key",
    "request_hash",
    "window",
    "hypotheses",
)
"""The stored fields in order; later fields have to come at the end."""

_UNUSED: Final = {"human_id": "", "dialog_id": "", "id": "", "bot_id": ""}
"""The `new_dialog` of a turn that is resumed: its dialog was made when it was opened."""

_values_of: Final = attrgetter(*_STORED)
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Any] | dict[str, Any]).decode


class NewDialog(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Ids for a person and a dialog, used only if they do not exist yet.

    `human_id` becomes the `id` of the person's profile, `bot_id` of the bot's, `id` the dialog's
    `_id` in the agent state. `attributes` is the first JSON object of a new dialog's attributes.
    """

    human_id: str
    dialog_id: DialogId
    id: str
    bot_id: str
    attributes: bytes = b"{}"


class FeedRow(msgspec.Struct, frozen=True, gc=False):
    """A row of a person's feed: `n` ascends by one, `message` is a JSON object.

    `id` counts the messages of a dialog name of this person, from 0 without gaps, on through all
    dialogs of that name, including closed dialogs. No id is given twice, even where old dialogs are
    deleted (only a person who was deleted and comes back starts anew). A row belongs to the dialog
    `dialog_id`, which is called `dialog_name`.

    A row with a person's words has an id and no closing. The last row of a turn, or of a
    notification, has a `closing`: the JSON object `{"ask", "code"?, "entities"?}` of the ask open
    from then on. A turn without a message leaves a row whose `message` and `id` are None.


    """

    n: int
    dialog_id: DialogId
    message: bytes | None
    dialog_name: str = "main"
    id: int | None = None
    closing: bytes | None = None


class FeedStore(Protocol):
    """Reads feeds, and the current round of a dialog. Turns and deliveries write both."""

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending; an unknown person has none."""

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for a person, 0 for none."""

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last `limit` rows of a dialog name, ascending.

        With `after`, return the first `limit` rows after the message with this `id`. Rows without a
        message count too.
        """

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return the `Round` (JSON) of a person's active dialog of a name, `{}` without an open
        ask.
        """


class AgendaEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a person, or work for them, scheduled for a time.

    - `key` is the skill's own name for it: another entry of the same person, skill and key replaces
      it.
    - `due` is a time in seconds (UNIX).
    - `body` (JSON) is for the executor of the entry.
    - `dropped` counts the earlier entries removed from a person's full agenda.

    The person need not exist yet.
    """

    user: str
    dialog_name: str = "main"
    skill: str
    key: str
    due: float
    body: bytes
    dropped: int = 0


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """Unasked messages of the assistant, stored in one transaction with the change of their entry.

    - `messages` become feed rows as in `TurnClosing`, the last with `closing`; without messages
      there is no row.
    - `round` replaces the dialog's round (None: it stays).
    - `entry` is taken off the agenda, or replaced by `again`.
    - `struck` and `entries` change it as in `TurnClosing`.
    - `date_time` is the agent state time.

    If the person or an active dialog of that name does not exist, they are created with
    `new_dialog`, as by `open_turn`, provided there are messages or a round.
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
    new_dialog: NewDialog


class AgendaStore(Protocol):
    """An entry stays until it is delivered or struck.

    Entries with the same `due` keep the order in which they were written.
    """

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of an entry with the same user, skill and key.

        A person has at most `limit` entries (1 or more). Beyond that the earliest other entry,
        by `due`, of the skill with the most entries is removed. The earliest remaining entry then
        counts it in `dropped`, together with the count of the removed entry.
        """

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of a skill, if named), earliest first."""

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry, in one transaction.

        Return False, and change nothing, if `delivery.entry` is not on the agenda any more exactly
        as it was given.
        """


class TurnOpening(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The input of a person, stored before any service runs.

    - `text` and `attributes` (JSON object) become the human utterance `utt_id`.
    - `message` (JSON object) becomes its row of the feed.
    - `encoded_text` is the text as JSON, if the caller has it, which saves encoding it again.
    - `request_key` and `request_hash` identify a client's repeated request.
    - `window` is the number of earlier utterances to return (None: all), `hypotheses` the number of
      the last human utterances among them that are returned with their hypotheses.
    - `start` (JSON) is stored for a second run and returned by `resume_turn`.
    - `round` is the dialog's round under which the words were read (None: any), which decides
      whether they are a password. Under another round a store opens no turn: it raises
      `RoundChanged`, and has stored nothing.
    """

    turn_id: TurnId
    user: str
    dialog_name: str
    channel_type: str
    utt_id: UtteranceId
    bot_utt_id: UtteranceId
    date_time: str
    started: float
    text: str
    encoded_text: bytes = b""
    attributes: bytes
    message: bytes
    start: bytes = b"{}"
    round: bytes | None = None
    request_key: str | None = None
    request_hash: bytes | None = None
    window: int | None = 4
    hypotheses: int = 0
    new_dialog: NewDialog


class ProfileVersion(msgspec.Struct, gc=False):
    """A version of a profile: its number and its agent state JSON."""

    number: int
    state: bytes


class NewProfileVersion(msgspec.Struct, frozen=True, kw_only=True):
    """The next version of a profile: the whole new state, and its changes."""

    number: int
    state: bytes
    changes: list[Change]


class UtteranceParts(msgspec.Struct, gc=False):
    """An utterance in parts of agent state JSON, ready to splice.

    `body` is the utterance without `user` and `hypotheses`, `user` the profile at that time. Equal
    versions of a profile are the same object, for callers to decode it once. A human utterance's
    `hypotheses` are `[]` unless the caller requested them.
    """

    by_bot: bool
    body: bytes
    user: bytes
    hypotheses: bytes = b"[]"

    @property
    def state(self) -> bytes:
        """The whole utterance."""
        if self.by_bot:
            return agent_state.bot_utterance(self.body, self.user)
        return agent_state.human_utterance(self.body, self.user, self.hypotheses)


class NewUtterance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An utterance to store.

    - `body` is its agent state JSON object without `user` and `hypotheses`.
    - `user_version` is the version of the human's or bot's profile in its `user`.
    - `hypotheses` is a JSON list, kept apart from the body.
    """

    utt_id: UtteranceId
    by_bot: bool
    date_time: str
    body: bytes
    user_version: int
    active_skill: str | None = None
    hypotheses: bytes | None = None


class OpenedTurn(msgspec.Struct, kw_only=True):
    """The state at the start of a turn. A store may return a subclass with its own handles.

    - `length` is the number of utterances in the dialog before this turn.
    - `feed` is the number n and `feed_id` the id of the feed row just written.
    - `attempt` is 1 for the first run of the turn.
    - `round` is the dialog's `dialog.rounds.Round` (JSON) as the last turn or delivery left it,
      `{}` in a new dialog.
    - `rating` is the JSON value of the dialog's last rating.
    - `active_skills` are the skills of the bot utterances before this turn, oldest first, where the
      pipeline reads them; the assistant adds them.
    """

    opening: TurnOpening
    dialog_id: DialogId
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
    active_skills: Sequence[str] | None = None


class AnsweredRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Returned in place of `OpenedTurn` if the request was answered before, or its turn is open.

    `reply` is the outcome given to `close_turn`, None while the turn is open.
    """

    turn_id: TurnId
    reply: bytes | None


class TurnClosing(msgspec.Struct, frozen=True, kw_only=True):
    """All additions of a turn, stored in one transaction.

    - `messages` are the feed rows of the reply (JSON objects); they get the numbers that follow.
      The last of them has the `closing` (JSON); without messages a row without a message has it.
    - `outcome` (JSON) becomes `AnsweredRequest.reply` for a client that sends the request again.
    - `round` replaces the dialog's round (None: it stays).
    - `struck` (skill, key) names agenda entries of this person to remove, before `entries` are
      written as by `AgendaStore.schedule`.
    - `previous_reply` replaces the body of the dialog's last utterance before this turn (None: it
      stays), which is a bot's.
    - `records` are deleted with the dialog.
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
    previous_reply: bytes | None = None
    records: Sequence[NewRecord] = ()


class UnfinishedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn without its closing, found at the opening of the store.

    `attempts` counts its runs, including the first.
    """

    turn_id: TurnId
    user: str
    started: float
    attempts: int


class TurnStore(Protocol):
    """The part of a store for turns."""

    async def open(self) -> None:
        """Open the store; raise `StoreLocked`, `StoreCorrupt` or another `StoreError`."""

    async def aclose(self) -> None:
        """Finish the submitted work, then release all resources."""

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store the input durably; return the state at the start of the turn.

        A missing person, active dialog of the name or bot is created.
        Raise `Conflict` when `request_key` was used with another `request_hash` less than a day
        ago.
        """

    async def close_turn(self, closing: TurnClosing) -> None:
        """Store all additions of the turn and close it; then its messages are in the feed.

        Raise `StoreError` if the turn is not open.
        """

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the turns without a closing, oldest first."""

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count another attempt durably; return the state at the start of the turn.

        Its opening need not have the `new_dialog`: the dialog was made when the turn was opened.
        Raise `NotFound` if no such turn is open.
        """

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End a person's active dialog of a name; return its id, None if there is none."""


class NewRecord(msgspec.Struct, frozen=True):
    """A document added by a turn; it belongs to the turn's person and dialog."""

    kind: str
    key: str
    body: bytes


class StoredDocument(msgspec.Struct, frozen=True):
    """A document of any person; later messages have higher numbers."""

    number: int
    user: str
    key: str
    body: bytes


class RecordChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a document whose body is still `before`; None stands for no document.

    `about` is used for a new document.
    """

    user: str
    kind: str
    key: str
    before: bytes | None
    after: bytes | None
    about: str = ""


class RecordStore(Protocol):
    """Documents of persons; the user "" stands for the assistant itself."""

    async def change_records(self, changes: Sequence[RecordChange]) -> bool:
        """Make all changes, or none; return whether they were made.

        None is made if a document equals neither its `before` nor its new body, because another
        writer was faster.
        """

    async def record(self, user: str, kind: str, key: str) -> bytes | None:
        """Return the document with this key; None if the key is unknown."""

    async def put_record(
        self, user: str, kind: str, key: str, body: bytes, about: str = ""
    ) -> None:
        """Write a document, in place of a document with the same kind and key.

        `about` is the id of a dialog or an utterance: the document is deleted with the dialog.
        """

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""

    async def records_since(
        self, kind: str, after: int = 0, limit: int = 10_000
    ) -> list[StoredDocument]:
        """Return the latest documents of a kind, of all users, with numbers above `after`.

        There are `limit` at most, the oldest first. On a store that replicas share a number may
        appear after a higher one: `record_count` tells.
        """

    async def record_count(self, kind: str) -> int:
        """Return the number of documents of a kind, of all users."""

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""


class Amount(msgspec.Struct, frozen=True):
    """A sum of a person and a thing, "" for neither, in a period such as a day; `number` is the
    sum.

    An addition may not raise the sum above `limit`.
    """

    kind: str
    user: str
    name: str
    period: str
    amount: float
    number: int = 1
    limit: float | None = None


class AmountStore(Protocol):
    """Sums shared by all users of the store, such as the costs of calls."""

    async def add_amounts(self, added: Sequence[Amount]) -> list[float] | int:
        """Add all amounts and return the sums, or none and the index of an amount over its limit.

        Callers sort the amounts in the same order everywhere, which prevents deadlocks.
        """

    async def amounts(self, kind: str, first: str, last: str) -> list[Amount]:
        """Return the sums of a kind in periods from `first` to `last`, by period."""

    async def delete_amounts(self, kind: str, before: str) -> None:
        """Delete the sums of a kind in earlier periods."""


class ConversationRow(msgspec.Struct, frozen=True):
    """A conversation: its name, the number `n` of its last row in the feed, and `at`.

    `at` is the agent state time of its last utterance, or of its beginning. `first` is the person's
    first message there (JSON), None if only the assistant has spoken.
    """

    name: str
    n: int
    at: str
    first: bytes | None


class ConversationStore(Protocol):
    """Reads and deletes conversations."""

    async def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return up to `limit` conversations with `n < before`, the latest first.

        Conversations without rows in the feed are left out.
        """

    async def feed_before(
        self, user: str, before: int | None = None, limit: int = 100
    ) -> list[FeedRow]:
        """Return up to `limit` rows with `n < before`, the latest first.

        Rows of running turns are left out.
        """

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete a person's dialogs of a name in which no turn runs; return their number.

        Numbers and ids of the feed are not reused.
        """


class DialogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query for dialogs, oldest first; conditions of None do not count.

    - `user_prefix`: of all users whose names begin so.
    - `newest_first` turns the order around.
    - `skill` spoke in the dialog.
    - `rating` (a JSON value) was given to the dialog or to an utterance in it.
    - `since`, `until` (agent state times): it started at or after `since`, before `until`.
    - `after`: its id comes after this id.
    """

    user: str | None = None
    user_prefix: str | None = None
    skill: str | None = None
    rating: Any = None
    since: str | None = None
    until: str | None = None
    active: bool | None = None
    after: str | None = None
    newest_first: bool = False
    offset: int = 0
    limit: int = 100


ALL_DIALOGS: Final = DialogQuery()


class RatedReply(msgspec.Struct, frozen=True):
    """A rating of a reply: the question of `user`, the replying skill, and the rating.

    Later ratings have higher numbers.
    """

    number: int
    utt_id: str
    user: str
    question: str
    skill: str
    rating: Any


class _StoredWords(msgspec.Struct):
    text: str
    active_skill: str = ""


_SAID: Final = msgspec.json.Decoder(_StoredWords)


def rated_reply(
    number: int, utt_id: str, user: str, asked: bytes, replied: bytes, rating: str
) -> RatedReply:
    """Return a rating of the bodies of two utterances; `rating` is JSON."""
    question, skill = _SAID.decode(asked).text, _SAID.decode(replied).active_skill
    return RatedReply(number, utt_id, user, question, skill, plain.decode(rating.encode()))


class ArchiveStore(Protocol):
    """The part of a store for work outside of turns."""

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog, hypotheses and ratings included, by `dialog_id` or `_id`."""

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return the human utterance before the reply with this `utt_id`, and the reply.

        Hypotheses and ratings are included. The list is empty if no reply has this id.
        """

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the `dialog_id` of the person's active dialog of this name."""

    async def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the matching dialogs, oldest first."""

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add `{rating, user_external_id, datetime}` to the dialog's `attributes.ratings`.

        Raise `NotFound` for an unknown dialog.
        """

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the `attributes.ratings` of an utterance, of human or bot.

        Raise `NotFound` for an unknown utterance.
        """

    async def ratings_since(self, after: int = 0, limit: int = 10_000) -> list[RatedReply]:
        """Return the latest ratings of replies with numbers above `after`.

        There are `limit` at most, the oldest first. On a store that replicas share a number may
        appear after a higher one: `rating_count` tells.
        """

    async def rating_count(self) -> int:
        """Return the number of ratings of replies."""

    async def find_owner(self, id_: str) -> str | None:
        """Return the user of a dialog (`dialog_id`, `_id`) or of an utterance (`utt_id`)."""

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all their data, including agenda and records.

        Return False if there is no data.
        """

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; return their number."""

    async def erase(self) -> None:
        """Overwrite deleted and replaced data, as far as the store can.

        `delete_person`, `delete_older` and `delete_conversation` do so too.
        """

    def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without delaying turns."""


class Store(
    TurnStore,
    FeedStore,
    AgendaStore,
    RecordStore,
    AmountStore,
    ConversationStore,
    ArchiveStore,
    Protocol,
):
    """A whole store."""


def pack_opening(opening: TurnOpening) -> bytes:
    """Write an opening as stores keep it."""
    return _encode(_values_of(opening))


def unpack_opening(packed: bytes) -> TurnOpening:
    """Read a stored opening; older openings have their fields by name."""
    found = _decode(packed)
    fields = found if isinstance(found, dict) else dict(zip(_STORED, found, strict=False))
    return msgspec.convert({"new_dialog": _UNUSED, **fields}, TurnOpening)
