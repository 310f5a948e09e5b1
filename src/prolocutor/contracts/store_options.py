"""StoreOptions: how a store is named, made and copied."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import msgspec

from prolocutor.contracts.store import AgendaEntry, Amount, Store
from prolocutor.contracts.turn_record_store import AgentSpan, TurnHour

Durability = Literal["full", "relaxed"]


class StoredVersion(msgspec.Struct, frozen=True):
    """A version of a profile; only key frames have a `state`."""

    number: int
    changes: bytes
    state: bytes | None


class StoredUtterance(msgspec.Struct, frozen=True):
    """An utterance, at its position in the dialog."""

    position: int
    utt_id: str
    by_bot: bool
    user_version: int
    date_time: str
    body: bytes
    hypotheses: bytes | None


class StoredRating(msgspec.Struct, frozen=True):
    """A rating of the utterance at a position, or of the whole dialog (None)."""

    position: int | None
    value: str
    shown: bytes


class StoredTurn(msgspec.Struct, frozen=True):
    """The record of a turn, by the position of its reply; `flags` are bits."""

    position: int
    at: float
    seconds: float
    cost: float
    flags: int
    record: bytes


class StoredFacts(msgspec.Struct, frozen=True):
    """The entry of a dialog in lists, with the keys by which they find it; `last` is a position."""

    at: float
    began: float
    turns: int
    slowest: float
    cost: float
    failed: int
    flags: int
    last: int | None
    channel: str


class StoredDialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog. `number` is its place in the order in which dialogs were made.

    Without `facts` the receiving store derives them from the utterances.
    """

    number: int
    dialog_id: str
    id: str
    bot_id: str
    name: str
    channel_type: str
    date_start: str
    active: bool
    attributes: bytes
    round: bytes
    skills: list[str]
    bot: list[StoredVersion]
    utterances: list[StoredUtterance]
    ratings: list[StoredRating]
    turns: list[StoredTurn] = []
    facts: StoredFacts | None = None


class StoredFeedRow(msgspec.Struct, frozen=True):
    """A row of the feed; a row without a message has the `id` of the message before."""

    n: int
    dialog_id: str
    dialog_name: str
    id: int
    message: bytes | None
    closing: bytes | None


class StoredRequest(msgspec.Struct, frozen=True):
    """The outcome of a request, kept for a client's second try."""

    key: str
    hash: bytes | None
    turn_id: str
    dialog_id: str
    at: float
    outcome: bytes


class StoredOpenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An interrupted turn; `opening` is a `TurnOpening` in MessagePack."""

    turn_id: str
    attempts: int
    dialog_id: str
    dialog_name: str
    n: int
    id: int
    started: float
    request_key: str | None
    request_hash: bytes | None
    opening: bytes


class StoredRecord(msgspec.Struct, frozen=True):
    """A document of the person; it is deleted with the dialog whose `dialog_id` is `about`."""

    kind: str
    key: str
    body: bytes
    about: str = ""


class StoredPerson(msgspec.Struct, frozen=True, kw_only=True):
    """All that is stored of a user. `human_id` is None where no person has the name.

    `feed_end` is the last number given in the feed, but for open turns, `said` the last id of a
    message by dialog name. All lists are in the order in which they were written.
    """

    user: str
    human_id: str | None = None
    feed_end: int = 0
    human: list[StoredVersion] = []
    said: dict[str, int] = {}
    dialogs: list[StoredDialog] = []
    feed: list[StoredFeedRow] = []
    requests: list[StoredRequest] = []
    open_turns: list[StoredOpenTurn] = []
    agenda: list[AgendaEntry] = []
    records: list[StoredRecord] = []


class UnrecordedTurns(msgspec.Struct, frozen=True):
    """The counts of turns without records.

    These are the figures of hours and agents, by time, from turns whose records are no longer kept,
    and all `amounts`, by kind and period.
    """

    hours: list[TurnHour] = []
    agents: list[AgentSpan] = []
    amounts: list[Amount] = []


class StoreTransfer(Protocol):
    """A store from which persons are taken, or into which they are put. Nobody else may use it."""

    async def migrate(self) -> list[str]:
        """Bring the store up to date; return what there is to say of its condition.

        Raise `StoreLocked` where its present users could not go on.
        """

    async def open(self, *, alone: bool = True) -> list[str]:
        """Get ready and bring the store up to date; return what there is to say of its condition.

        `alone`: raise `StoreLocked` where the store is in use. Otherwise only reading methods may
        be called, and nothing is brought up to date.
        """

    async def aclose(self) -> None:
        """Release it."""

    async def users(self) -> list[str]:
        """Return all users of whom something is stored, "" (the assistant itself) included."""

    async def feed_floor(self) -> int:
        """Return the number after which the feed of a new person starts."""

    async def raise_feed_floor(self, floor: int) -> None:
        """Raise this number to `floor`."""

    async def unrecorded_turns(self) -> UnrecordedTurns:
        """Return the counts of turns without records, and all amounts."""

    async def put_unrecorded(self, counted: UnrecordedTurns) -> None:
        """Replace these counts; the argument may be changed."""

    async def taken_out(self, user: str) -> StoredPerson:
        """Return all that is stored of a user."""

    async def put_person(self, person: StoredPerson) -> None:
        """Replace the stored data of a user by this person, in one transaction.

        Hours and agents count the turns with records.
        """


class StoreContext(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant for which a store is made.

    `durability`: `full` waits for the disk at each commit; `relaxed` may lose the last turns in a
    power cut, though not in a crash of the process.
    """

    durability: Durability = "full"


@runtime_checkable
class StoreOptions(Protocol):
    """The options of a store, a frozen Struct named by an entry point of `prolocutor.stores`.

    The name is the scheme of its URLs. A class method `from_url(url)` returns the options of a URL,
    and raises `ConfigError` for an unusable URL; where there is none, the Struct has the field
    `url`.
    """

    def build(self, context: StoreContext) -> Store:
        """Return the store, not yet open."""


@runtime_checkable
class CopiedStore(StoreOptions, Protocol):
    """A store for `prolocutor store` to migrate, check and copy."""

    def transfer(self) -> StoreTransfer:
        """Return the mover of persons out of the store and into it."""
