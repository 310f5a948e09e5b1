"""The settings of an assistant beside its pipeline, with defaults and bounds."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.bounds import MANY, Count, PositiveSeconds, about, check_bounds
from prolocutor.clocks import DAY, WEEK
from prolocutor.contracts.shared_store import DEFAULT_LEASE
from prolocutor.errors import ConfigError

SLOW_SHARE: Final = 2 / 3
"""The share of the deadline beyond which a turn is slow, where no time is set."""

DEFAULT_STORE: Final = "sqlite:///dialogs.db"


class RecordSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The retention of records of turns, by age and number."""

    expected: ClassVar[str] = "a map of keep, most and slow, or false"

    keep: Annotated[
        float, Meta(gt=0), about("The time for which records are kept.", duration=True)
    ] = WEEK
    most: Annotated[
        int, Meta(ge=0), about("The greatest number of records that are kept.", unit="records")
    ] = 1_000_000
    slow: Annotated[
        Annotated[float, Meta(gt=0, le=DAY)] | None,
        about(
            "A turn that takes longer counts as slow; by default two thirds of the deadline.",
            unit="seconds",
        ),
    ] = None

    @classmethod
    def from_short(cls, value: object) -> RecordSettings | None:
        """Return the default settings for true, None (no records) for false."""
        if not isinstance(value, bool):
            raise ValueError(cls.expected)
        return cls() if value else None

    def slow_beyond(self, deadline: float) -> float:
        """Return the seconds beyond which a turn with this deadline is slow."""
        return deadline * SLOW_SHARE if self.slow is None else self.slow


KeptRecords = Annotated[
    RecordSettings | None,
    about("How long records of turns are kept for operators; `false` keeps none."),
]


class HandoverSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The handover of dialogs to operators; in its texts `{by}` is the operator's name."""

    idle: Annotated[
        PositiveSeconds, about("The silence after which a dialog goes back to the assistant.")
    ] = 900.0
    webhook: Annotated[
        Annotated[str, Meta(pattern=r"https?://\S+")] | None,
        about("The URL that gets each change by POST.", what="a URL"),
    ] = None
    waiting: Annotated[
        Literal["answer", "silent"],
        about("The behaviour of the assistant while it waits for an operator."),
    ] = "answer"
    taken: Annotated[str, about("The text for the person when the operator `{by}` takes over.")] = (
        "You are talking with a person now."
    )
    given: Annotated[
        str, about("The text for the person when the dialog goes back to the assistant.")
    ] = "You are talking with the assistant again."
    missed: Annotated[str, about("The text for the person when no operator took over in time.")] = (
        "Nobody is free at the moment, so I go on."
    )


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a replica among others that share a store."""

    expected: ClassVar[str] = "a map of lease and url"

    lease: Annotated[
        float,
        Meta(ge=0.2, le=DAY),
        about(
            "The time without a sign of life after which other replicas take over its turns.",
            what="a number of seconds",
            duration=True,
        ),
    ] = DEFAULT_LEASE
    url: Annotated[
        str,
        Meta(pattern=r"https?://\S+"),
        about("The address of this replica, as `prolocutor replicas` shows it.", what="a URL"),
    ] = ""

    def check(self) -> None:
        """Raise a `ConfigError` that names the setting that is out of its bounds."""
        check_bounds(self)


class PurseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of the costs of calls, in the currency of the prices on cards."""

    expected: ClassVar[str] = "a map of limits ({person_day: 1.0, total_day: 50})"

    turn: Annotated[float | None, Meta(ge=0), about("The most that a turn may cost.")] = None
    person_day: Annotated[
        float | None, Meta(ge=0), about("The most that a person may cost on a day.")
    ] = None
    person_month: Annotated[
        float | None, Meta(ge=0), about("The most that a person may cost in a month.")
    ] = None
    agent_day: Annotated[
        float | None, Meta(ge=0), about("The most that a service may cost on a day.")
    ] = None
    total_day: Annotated[
        float | None, Meta(ge=0), about("The most that all may cost on a day.")
    ] = None
    at_limit: Annotated[
        Literal["decline", "ask", "cheaper"],
        about(
            "The behaviour where a call would go beyond a limit: the skill declines in "
            "words, the person is asked for permission, or the skill that `instead` "
            "names is asked."
        ),
    ] = "decline"
    instead: Annotated[
        dict[str, str],
        about(
            "Cheaper skills, by the name of the skill in whose place they are asked.",
            item="the name of a skill",
        ),
    ] = {}
    currency: Annotated[str, about("The currency of the amounts, such as EUR.")] = ""


class TurnSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of an assistant's turns, in Python and in a file; times are in seconds."""

    name: Annotated[str, about("The name of the assistant.", what="a name")] = "assistant"
    durability: Annotated[
        Literal["full", "relaxed"],
        about("Whether a reply survives a power cut, or a crash of the process only."),
    ] = "full"
    deadline: Annotated[
        float,
        Meta(gt=0, le=DAY),
        about("The time from the start of a turn until its reply is out.", unit="seconds"),
    ] = 5.0
    reserve: Annotated[
        Annotated[float, Meta(ge=0, le=DAY)] | None,
        about(
            "The part of the deadline that is reserved for the stages after the skills; "
            "by default a quarter, at most 1.",
            unit="seconds",
        ),
    ] = None
    queue_timeout: Annotated[
        PositiveSeconds,
        about("The longest time that an input waits for earlier inputs of the same person."),
    ] = 30.0
    fallback: Annotated[str, about("The text of the reply when no skill has an answer.")] = (
        "Sorry, I have no answer to that."
    )
    recover_within: Annotated[
        float,
        Meta(ge=0),
        about(
            "At the start, turns that were cut off within this time are run again, and "
            "older turns are closed.",
            unit="seconds",
        ),
    ] = 300.0
    max_attributes: Annotated[
        int,
        Meta(ge=0, le=MANY),
        about("The greatest number of attributes of a person or bot.", unit="attributes"),
    ] = 1000
    messages: Annotated[
        str | None,
        about(
            "The URL of the message broker, for workers and for hints between replicas, such as"
            " `nats://host`.",
            secret=True,
            what="the URL of a message broker, such as nats://HOST[:PORT][,HOST...]",
        ),
    ] = None
    handover: Annotated[
        HandoverSettings, about("How a person takes a dialog over from the assistant.")
    ] = HandoverSettings()
    records: KeptRecords = None
    digressions: Annotated[
        Literal["return", "keep", "drop"],
        about(
            "The fate of an open question when another agent answers what the person "
            "says: it is asked again in that reply, stays open silently, or is dropped."
        ),
    ] = "return"
    purse: Annotated[
        PurseSettings | None,
        about("Limits to the cost of calls; without them costs are not counted."),
    ] = None
    asks: Annotated[
        dict[str, Any], about("The options of kinds of asks, by the name of the kind.")
    ] = {}


class AssistantSettings(TurnSettings, frozen=True, kw_only=True):
    """The settings of an assistant beside its pipeline.

    `queue_limit`: how many inputs of one person wait; `max_text`: characters of one input.
    `switch_confidence`: how sure a skill must be to change the subject while another one waits for
    an answer. `records`: None to keep none.
    """

    queue_limit: Count = 100
    max_text: Count = 100_000
    switch_confidence: Annotated[float, Meta(ge=0)] = 0.8

    def check(self) -> None:
        """Raise a `ConfigError` that names the setting that is out of its bounds."""
        check_bounds(self)
        check_bounds(self.handover)
        if self.purse is not None:
            check_bounds(self.purse, path="purse")
        if self.records is not None:
            check_bounds(self.records, path="records")
        if self.reserve is not None and self.reserve >= self.deadline:
            what = f"expected less than the deadline of {self.deadline:g}, found {self.reserve:g}"
            raise ConfigError(what, key="reserve")


DEFAULTS: Final = AssistantSettings()
REPLICA: Final = ReplicaSettings()
