"""TurnStore: what a turn needs of a store, in two trips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from prolocutor.contracts.store.agenda_store import AgendaEntry
from prolocutor.contracts.store.feed_store import NO_ASK_CLOSING, NO_ROUND
from prolocutor.contracts.store.new_dialog import NewDialog
from prolocutor.contracts.store.record_store import NewRecord
from prolocutor.dialog import splicing
from prolocutor.dialog.ids import DialogId, TurnId, UtteranceId
from prolocutor.dialog.profiles import Change


class TurnOpening(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a person said, stored before any service runs.

    `text` and `attributes` (JSON object) become the human utterance `utt_id`; `message` (JSON
    object) its row of the feed. `encoded_text` is the text as JSON where the caller has it, so that
    it need not be encoded again. `request_key` and `request_hash` identify a request that a client
    sends again. `window` is the number of earlier utterances to return (None: all), `hypotheses`
    the number of the last human ones among them that are returned with their hypotheses. `start`
    (JSON) is stored for a second run and returned by `resume_turn`. `round` is the dialog's round
    under which the words were read; a shared store opens no turn under another one.
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
    """One version of a profile: its number and its agent state JSON."""

    number: int
    state: bytes


class NewProfileVersion(msgspec.Struct, frozen=True, kw_only=True):
    """The next version of a profile: the whole new state, and what changed."""

    number: int
    state: bytes
    changes: list[Change]


class UtteranceParts(msgspec.Struct, gc=False):
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


class NewUtterance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One utterance to be stored.

    `body` is its agent state JSON object without `user` and `hypotheses`; `user_version` the
    version of the human's or bot's profile that its `user` shows. `hypotheses` is a JSON list, kept
    apart from the body.
    """

    utt_id: UtteranceId
    by_bot: bool
    date_time: str
    body: bytes
    user_version: int
    active_skill: str | None = None
    hypotheses: bytes | None = None


class OpenedTurn(msgspec.Struct, kw_only=True):
    """What a turn starts from. A store may return a subclass with handles of its own.

    `length` is the number of utterances in the dialog before this turn; `feed` the number n and
    `feed_id` the id of the feed row just written; `attempt` 1 for the first run of the turn;
    `round` the dialog's `dialog.rounds.Round` (JSON) as the last turn or delivery left it, `{}` in
    a new dialog. `rating` is the JSON value of the dialog's last rating. `active_skills` are those
    of the bot utterances before this turn, oldest first, where the pipeline reads them; the
    assistant adds them.
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
    """Returned in place of `OpenedTurn`: this request was answered before, or its turn is open.

    `reply` is the outcome as `close_turn` got it, None while the turn is open.
    """

    turn_id: TurnId
    reply: bytes | None


class TurnClosing(msgspec.Struct, frozen=True, kw_only=True):
    """All that a turn adds, stored in one transaction: either all of it or nothing.

    `messages` are the feed rows of the reply (JSON objects); they get the numbers that follow. The
    last of them has the `closing` (JSON); without messages a row without a message has it.
    `outcome` (JSON) becomes `AnsweredRequest.reply` for a client that sends the request again.
    `round` replaces the dialog's round (None: it stays). This person's agenda entries named in
    `struck` (skill, key) are removed, then `entries` are written as by `AgendaStore.schedule`.
    `previous_reply` replaces the body of the dialog's last utterance before this turn (None: it
    stays), which is a bot's. `records` are deleted with the dialog.
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
    """A turn that was opened and not closed, found when the store was opened.

    `attempts` counts its runs, the first included.
    """

    turn_id: TurnId
    user: str
    started: float
    attempts: int


class TurnStore(Protocol):
    """What a turn needs of a store."""

    async def open(self) -> None:
        """Get ready; raise `StoreLocked`, `StoreCorrupt` or another `StoreError` on failure."""

    async def aclose(self) -> None:
        """Finish what was submitted, then release all resources."""

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store what was said, durably, and return what the turn starts from.

        The person, the dialog (the active one of that name) and its bot are made where they do not
        exist. Raise `Conflict` when `request_key` was used with another `request_hash` less than a
        day ago.
        """

    async def close_turn(self, closing: TurnClosing) -> None:
        """Store all that the turn added and close it; its messages are in the feed then.

        Raise `StoreError` if the turn is not open.
        """

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the turns that were opened and not closed, oldest first."""

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt, durably, and return what the turn starts from.

        Its opening need not have the `new_dialog`: the dialog was made when the turn was opened.
        Raise `NotFound` if no such turn is open.
        """

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End the active dialog of that name and return its id; None if there is none."""
